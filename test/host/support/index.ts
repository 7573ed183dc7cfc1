export { findProgram, requireProgram } from './requirements';
export {
	runNodes,
	secrets,
	startStage,
	useStage,
	type Run,
	type Stage,
	type StageOptions,
} from './stage';
export { tarball } from './tarball';
