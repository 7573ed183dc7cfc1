import { startSimulator, type Fault } from '../../../simulator';
import { send, useSimulator } from './support';

const simulator = useSimulator({ lifeSpeed: 0 });
const failing = (status: number): Fault['action'] => ({
	kind: 'failure',
	description: 'x',
	status,
});

/** Every fault's action, whether the request is carried out, and what the client sees of it. */
test.each<[Fault['action'], 'processed' | 'ignored', sees: unknown]>([
	[{ kind: 'reset-before' }, 'ignored', 'ECONNRESET'],
	[{ kind: 'reset-after' }, 'processed', 'ECONNRESET'],
	[{ kind: 'truncate' }, 'processed', 'ECONNRESET'],
	[{ kind: 'delay', ms: 40 }, 'processed', 200],
	[{ kind: 'respond', body: '<html>', status: 502 }, 'ignored', 502],
	[{ kind: 'respond', body: '', process: true }, 'processed', 200],
	[{ kind: 'failure', description: 'Closed' }, 'ignored', 200],
	[failing(500), 'ignored', 500],
	[{ kind: 'redirect', location: 'http://x.example/' }, 'ignored', 302],
	[{ kind: 'big', megabytes: 0.5, process: true }, 'processed', 200],
])('%j is %s', async (action, processed, sees) => {
	const fault = simulator().addFault({ action });
	const before = performance.now();
	const seen = await send(simulator(), 'all').then(
		({ status }) => status,
		(error: NodeJS.ErrnoException) => error.code,
	);
	expect(seen).toBe(sees);
	if (action.kind === 'delay') expect(performance.now() - before).toBeGreaterThanOrEqual(38);
	const accepted = processed === 'processed' ? ['1001'] : [];
	expect([...simulator().campaigns.keys()]).toEqual(accepted);
	const [recorded] = simulator().requests;
	expect(recorded).toMatchObject({ fault, campaignId: accepted[0] ?? null });
	expect(recorded?.answered?.status).toBe(typeof sees === 'number' ? sees : undefined);
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test.each([true, false])('hang with process %s: no answer until it is closed', async (process) => {
	const other = await startSimulator();
	other.addFault({ action: { kind: 'hang', process } });
	const hanging = send(other, 'all').catch(() => 'cut off');
	while (other.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
	expect((await send(other, 'all')).status).toBe(200);
	expect(other.campaigns.size).toBe(process ? 2 : 1);
	expect(other.requests[0]?.answered).toBeNull();
	await other.close();
	expect(await hanging).toBe('cut off');
});

test('skip, times and the order of adding choose the requests; clearing ends all', async () => {
	simulator().addFault({ skip: 1, times: 2, action: failing(500) });
	simulator().addFault({ skip: 2, times: 0, action: failing(501) });
	const statuses: number[] = [];
	while (statuses.length < 6) statuses.push((await send(simulator(), 'all')).status);
	expect(statuses).toEqual([200, 500, 500, 200, 501, 501]);
	simulator().clearFaults();
	expect((await send(simulator(), 'all')).status).toBe(200);
});

test.each<[NonNullable<Fault['match']>, struck: boolean]>([
	[{ method: 'post' }, true],
	[{ method: 'GET' }, false],
	[{ path: 'send/all' }, true],
	[{ path: 'status' }, false],
	[{ bodyIncludes: 'Spring' }, true],
	[{ bodyIncludes: 'Autumn' }, false],
	[{ header: { name: 'serviceKey' } }, true],
	[{ header: { name: 'x-absent' } }, false],
	[{ path: 'send/all', bodyIncludes: 'Autumn' }, false],
])('match %j: %s', async (match, struck) => {
	simulator().addFault({ match, action: failing(500) });
	expect((await send(simulator(), 'all')).status).toBe(struck ? 500 : 200);
});
