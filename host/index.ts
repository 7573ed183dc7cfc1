export * from './client';
export { outputOf, type Execution, type ExecutionSummary, type SavedItem } from './executions';
export { installHost, InstallFailed, type InstallProgress } from './install';
export { installCommunityPackage } from './communityPackage';
export { hostOf, artifactsFolder, projectFolder, type Host, type Major } from './hosts';
export { packPackage, type Packed } from './pack';
export { firstFree, freePort } from './ports';
export { startN8n, type N8nServer, type StartOptions } from './server';
export * from './workflows';
