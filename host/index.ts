export { artifactsFolder, projectFolder } from './folders';
export * from './n8n/client';
export * from './n8n/dataTables';
export * from './n8n/executions';
export { hostOf, installHost, type Host, type Major } from './n8n/install';
export { N8nRefused, testOwner, type Owner } from './n8n/rest';
export {
	installCommunityPackage,
	packagesFolder,
	startN8n,
	type N8nServer,
	type StartOptions,
} from './n8n/server';
export * from './n8n/stage';
export * from './n8n/workflows';
export { packPackage } from './process/pack';
export { startProgram, type Program } from './process/program';
export { Progress } from './process/progress';
export { freePort, killGroup, run, runNpm } from './process/run';
export { until } from './process/until';
