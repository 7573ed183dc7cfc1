import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The share of the processors' time above which something else is running: an n8n that waits takes a few percent. */
const mostBusy = 0.15;

/** The time of all processors since the machine's start, in milliseconds. */
function processorTime(): { all: number; idle: number } {
	const times = cpus().map((cpu) => cpu.times);
	const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
	return {
		all: sum(times.flatMap((time) => Object.values(time))),
		idle: sum(times.map(({ idle }) => idle)),
	};
}

/** Throws if the machine does other work: what is measured beside it says nothing. */
export async function expectQuiet(): Promise<void> {
	const before = processorTime();
	await sleep(3_000);
	const after = processorTime();
	const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
	if (busy <= mostBusy) return;
	const percent = Math.round(100 * busy);
	throw new Error(`Other work takes ${percent} % of the processors, so nothing was written.`);
}
