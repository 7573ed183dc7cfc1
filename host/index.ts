export { artifactsFolder, projectFolder } from './folders';
export * from './n8n/client';
export { installCommunityPackage, packagesFolder } from './n8n/communityPackage';
export { DataTables, type ColumnType, type DataTable, type Row } from './n8n/dataTables';
export {
	executionSummarySchema,
	outputOf,
	type Execution,
	type ExecutionSummary,
	type SavedItem,
} from './n8n/executions';
export { hostOf, type Host, type Major } from './n8n/hosts';
export { installHost } from './n8n/install';
export { bytesInUse, collectorVariables } from './n8n/memory';
export { N8nRefused, testOwner, type Owner } from './n8n/rest';
export { startN8n, type N8nServer, type StartOptions } from './n8n/server';
export * from './n8n/stage';
export * from './n8n/workflows';
export { packPackage } from './process/pack';
export { freePort } from './process/ports';
export { killGroup, startProgram, type Program } from './process/program';
export { Progress } from './process/progress';
export { until } from './process/until';
