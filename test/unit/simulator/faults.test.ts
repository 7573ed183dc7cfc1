import { request } from 'node:http';
import { startSimulator, type Fault } from '../../../simulator';
import { call, requiredHeaders, send, sends, smallest, useSimulator } from './support';

const simulator = useSimulator({ lifeSpeed: 0 });
const sendToAll = () => send(simulator(), 'all');
const accepted = () => [...simulator().campaigns.keys()];

/** Every fault's action, whether the request is carried out, and what the client sees of it. */
const actions: { action: Fault['action']; processed: boolean; sees: unknown }[] = [
	{ action: { kind: 'reset-before' }, processed: false, sees: 'ECONNRESET' },
	{ action: { kind: 'reset-after' }, processed: true, sees: 'ECONNRESET' },
	{ action: { kind: 'truncate' }, processed: true, sees: 'ECONNRESET' },
	{ action: { kind: 'delay', ms: 30 }, processed: true, sees: 200 },
	{ action: { kind: 'respond', body: '<html>', status: 502 }, processed: false, sees: 502 },
	{ action: { kind: 'respond', body: '', process: true }, processed: true, sees: 200 },
	{ action: { kind: 'failure', description: 'Closed' }, processed: false, sees: 200 },
	{ action: { kind: 'failure', description: 'x', status: 500 }, processed: false, sees: 500 },
	{ action: { kind: 'redirect', location: 'http://x.example/' }, processed: false, sees: 302 },
	{ action: { kind: 'redirect', location: '/', status: 307 }, processed: false, sees: 307 },
	{ action: { kind: 'big', megabytes: 0.5 }, processed: false, sees: 200 },
	{ action: { kind: 'big', megabytes: 0.5, process: true }, processed: true, sees: 200 },
];

test.each(actions)('$action', async ({ action, processed, sees }) => {
	const fault = simulator().addFault({ action });
	const seen = await sendToAll().then(
		({ status }) => status,
		(error: NodeJS.ErrnoException) => error.code,
	);
	expect(seen).toBe(sees);
	expect(accepted()).toEqual(processed ? ['1001'] : []);
	const [recorded] = simulator().requests;
	expect(recorded).toMatchObject({ fault, campaignId: processed ? '1001' : null });
	expect(recorded?.answered?.status).toBe(typeof sees === 'number' ? sees : undefined);
	expect((await sendToAll()).status).toBe(200);
});

test.each([true, false])('hang with process %s: no answer ever comes', async (process) => {
	simulator().addFault({ action: { kind: 'hang', process } });
	const outgoing = request(simulator().url + sends.all.path, {
		method: 'POST',
		headers: requiredHeaders,
	});
	const answers = jest.fn();
	outgoing.on('response', answers).on('error', () => undefined);
	outgoing.end(JSON.stringify(smallest));
	for (let tries = 0; tries < 500 && simulator().requests.length === 0; tries += 1) {
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	// Another exchange on another connection gives the first one time to be answered.
	await sendToAll();
	expect(accepted()).toHaveLength(process ? 2 : 1);
	expect(simulator().requests[0]?.answered).toBeNull();
	expect(answers).not.toHaveBeenCalled();
	outgoing.destroy();
});

test('closing ends hanging connections', async () => {
	const other = await startSimulator();
	other.addFault({ times: 0, action: { kind: 'hang', process: false } });
	const hanging = Promise.allSettled([send(other, 'all'), send(other, 'all')]);
	for (let tries = 0; tries < 500 && other.requests.length < 2; tries += 1) {
		await new Promise((resolve) => setTimeout(resolve, 10));
	}
	await other.close();
	await other.close();
	expect((await hanging).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('a refused send is not processed by a fault either', async () => {
	simulator().addFault({ action: { kind: 'reset-after' } });
	await expect(send(simulator(), 'all', { title: '' })).rejects.toThrow();
	expect(accepted()).toEqual([]);
});

test('skip and times choose the requests', async () => {
	const fault: Fault = {
		skip: 1,
		times: 2,
		action: { kind: 'failure', description: 'x', status: 500 },
	};
	simulator().addFault(fault);
	const statuses: number[] = [];
	for (let count = 0; count < 5; count += 1) statuses.push((await sendToAll()).status);
	expect(statuses).toEqual([200, 500, 500, 200, 200]);
});

test('times 0 is forever, until the faults are cleared', async () => {
	simulator().addFault({ times: 0, action: { kind: 'failure', description: 'x', status: 500 } });
	for (let count = 0; count < 4; count += 1) expect((await sendToAll()).status).toBe(500);
	simulator().clearFaults();
	expect((await sendToAll()).status).toBe(200);
});

test('faults strike in the order in which they were added', async () => {
	for (const status of [501, 502]) {
		simulator().addFault({ action: { kind: 'failure', description: 'x', status } });
	}
	const statuses = [await sendToAll(), await sendToAll(), await sendToAll()];
	expect(statuses.map(({ status }) => status)).toEqual([501, 502, 200]);
});

test.each<{ match: NonNullable<Fault['match']>; struck: boolean }>([
	{ match: {}, struck: true },
	{ match: { method: 'post' }, struck: true },
	{ match: { method: 'GET' }, struck: false },
	{ match: { path: 'send/all' }, struck: true },
	{ match: { path: 'status' }, struck: false },
	{ match: { bodyIncludes: 'Spring' }, struck: true },
	{ match: { bodyIncludes: 'Autumn' }, struck: false },
	{ match: { header: { name: 'serviceKey' } }, struck: true },
	{ match: { header: { name: 'serviceKey', value: 'demo-key' } }, struck: true },
	{ match: { header: { name: 'serviceKey', value: 'other' } }, struck: false },
	{ match: { header: { name: 'x-absent' } }, struck: false },
	{ match: { path: 'send/all', bodyIncludes: 'Autumn' }, struck: false },
])('match $match', async ({ match, struck }) => {
	simulator().addFault({ match, action: { kind: 'failure', description: 'x', status: 500 } });
	expect((await sendToAll()).status).toBe(struck ? 500 : 200);
});

test('answers carry what the fault gives them', async () => {
	simulator().addFault({
		action: { kind: 'respond', status: 503, headers: { 'Retry-After': '7' }, body: 'busy' },
	});
	const busy = await sendToAll();
	expect([busy.status, busy.headers['retry-after'], busy.text]).toEqual([503, '7', 'busy']);

	simulator().addFault({
		action: { kind: 'failure', type: 'odd', description: 'Odd', headers: { 'x-a': 'b' } },
	});
	const odd = await sendToAll();
	expect(odd.json).toEqual({ status: 'failure', type: 'odd', description: 'Odd' });
	expect(odd.headers['x-a']).toBe('b');

	simulator().addFault({ action: { kind: 'redirect', location: 'https://other.example/' } });
	expect((await sendToAll()).headers['location']).toBe('https://other.example/');

	simulator().addFault({ action: { kind: 'big', megabytes: 3 } });
	expect((await sendToAll()).text).toHaveLength(3_000_000);
});

test('a malformed fault is refused', () => {
	expect(() => simulator().addFault({ times: -1, action: { kind: 'truncate' } })).toThrow();
	expect(() => simulator().addFault({ action: { kind: 'big', megabytes: 1e6 } })).toThrow();
});

test('latency delays the answer, not the request', async () => {
	simulator().setLatency(40);
	const before = performance.now();
	const answer = call(simulator().url, { path: sends.all.path, body: smallest });
	expect((await answer).status).toBe(200);
	expect(performance.now() - before).toBeGreaterThanOrEqual(38);
});
