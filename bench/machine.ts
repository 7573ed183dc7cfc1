import { cpus, release, totalmem, type } from 'node:os';

/** The machine's shape, in words. */
export function describeMachine(): string {
	const [core] = cpus();
	const memory = (totalmem() / 2 ** 30).toFixed(0);
	const model = core?.model.trim().replace(/\s+/g, ' ') ?? 'unknown processor';
	return `${cpus().length} cores (${model}), ${memory} GB, ${type()} ${release()}`;
}
