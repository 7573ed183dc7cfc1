import type { SimulatorState } from '../options';

/** What the page needs from an answer; the simulator's types say the rest. */
function isState(value: unknown): value is SimulatorState {
	return (
		typeof value === 'object' &&
		value !== null &&
		'campaigns' in value &&
		Array.isArray(value.campaigns) &&
		'settings' in value
	);
}

async function call(method: string, args: readonly unknown[]): Promise<Response> {
	return await fetch(`/_simulator/${method}`, { method: 'POST', body: JSON.stringify(args) });
}

/**
 * The simulator's state.
 *
 * @param last at most that many campaigns, the latest
 * @param search only those that hold all of these words; empty: all
 * @throws an Error with the reason if the simulator refuses or does not answer
 */
export async function readState(last: number, search: string): Promise<SimulatorState> {
	const response = await call('state', [last, search]);
	const answer: unknown = await response.json();
	if (typeof answer === 'object' && answer !== null) {
		if ('result' in answer && isState(answer.result)) return answer.result;
		if ('message' in answer) throw new Error(String(answer.message));
	}
	throw new Error('The simulator gave an answer that this page does not understand.');
}

/** Changes something in the simulator. If it is not there, the next state says so. */
export async function change(method: string, ...args: readonly unknown[]): Promise<void> {
	await call(method, args).catch(() => undefined);
}
