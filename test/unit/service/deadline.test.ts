import { getEventListeners } from 'node:events';
import { withDeadline } from '../../../nodes/PushCampaign/service/deadline';

const timeoutMs = 30_000;

// Node.js' timers do not simulate `AbortSignal.timeout`, so the tests end its signal themselves.
let timeout = new AbortController();
beforeEach(() => {
	timeout = new AbortController();
	jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout.signal);
});
afterEach(() => jest.restoreAllMocks());

const options = (signal?: AbortSignal) => ({
	timeoutMs,
	signal,
	sleep: async () => await new Promise<void>((resolve) => setImmediate(resolve)),
});

/** An action that hangs, and shows its signal. */
function hanging() {
	const seen: { signal?: AbortSignal } = {};
	const action = async (signal: AbortSignal) => {
		seen.signal = signal;
		return await new Promise<string>(() => undefined);
	};
	return { seen, action };
}

const failed = (isLate: boolean, error?: unknown) => ({ kind: 'failed', error, isLate });
const settled = { kind: 'settled', value: 'answer' };
const error = new TypeError('no request');

test("returns the action's value, and leaves no listener on its signal", async () => {
	let seen: AbortSignal | undefined;
	const action = async (signal: AbortSignal) => {
		seen = signal;
		return await Promise.resolve('answer');
	};
	expect(await withDeadline(action, options())).toEqual(settled);
	expect(seen?.aborted).toBe(false);
	expect(getEventListeners(seen ?? new EventTarget(), 'abort')).toEqual([]);
});

test.each([
	{
		name: 'at once',
		action: () => {
			throw error;
		},
	},
	{ name: 'later', action: async () => await Promise.reject(error) },
])('returns what the action throws $name', async ({ action }) => {
	expect(await withDeadline(action, options())).toEqual(failed(false, error));
});

test("ends the action's signal at the deadline, and not before", async () => {
	const { seen, action } = hanging();
	const ending = withDeadline(action, options());
	expect(AbortSignal.timeout).toHaveBeenCalledWith(timeoutMs);
	await new Promise(setImmediate);
	expect(seen.signal?.aborted).toBe(false);
	timeout.abort();
	expect(await ending).toEqual(failed(true));
	expect(seen.signal?.aborted).toBe(true);
});

interface AtDeadline {
	readonly name: string;
	/** What the action does when its signal ends. */
	readonly when: (resolve: (value: string) => void, reject: (error: Error) => void) => void;
	readonly then: object;
}

test.each<AtDeadline>([
	{
		name: 'counts an answer that comes with the deadline',
		when: (resolve) => resolve('answer'),
		then: settled,
	},
	{
		name: 'returns what the action throws when its signal ends',
		when: (_resolve, reject) => reject(error),
		then: failed(true, error),
	},
	{
		name: 'ignores an answer that comes after the deadline',
		when: (resolve) => void setImmediate(() => setImmediate(() => resolve('late'))),
		then: failed(true),
	},
])('$name', async ({ when, then }) => {
	const action = async (signal: AbortSignal) =>
		await new Promise<string>((resolve, reject) => {
			signal.addEventListener('abort', () => when(resolve, reject));
		});
	const ending = withDeadline(action, options());
	timeout.abort();
	expect(await ending).toEqual(then);
});

describe('a signal that several actions share', () => {
	test('ends all of them when it ends, and none counts as late', async () => {
		const stop = new AbortController();
		const actions = [hanging(), hanging()];
		const endings = actions.map(async ({ action }) => {
			return await withDeadline(action, options(stop.signal));
		});
		expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
		stop.abort();
		expect(await Promise.all(endings)).toEqual([failed(false), failed(false)]);
		expect(actions.map(({ seen }) => seen.signal?.aborted)).toEqual([true, true]);
	});

	test('ends an action at once if it ended before', async () => {
		const ended = options(AbortSignal.abort());
		expect(await withDeadline(hanging().action, ended)).toEqual(failed(false));
	});
});
