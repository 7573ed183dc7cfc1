import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** The machine's shape, and how busy it is already (processes that run or could), in words. */
export function describeMachine(): string {
	const [core] = cpus();
	const [busy = 0] = loadavg();
	const memory = (totalmem() / 2 ** 30).toFixed(0);
	const model = core?.model.trim().replace(/\s+/g, ' ') ?? 'unknown processor';
	return `${cpus().length} cores (${model}), ${memory} GB, ${type()} ${release()}, load ${busy.toFixed(1)} before it began`;
}
