import type { Fault } from '../../../simulator';
import { call, countPath, send, useSimulator } from './support';

// The host tests count on these: what a fault does to a request, and that a reset takes it away.

const now = Date.UTC(2030, 0, 10, 12, 0);
const simulator = useSimulator({ clock: () => now, lifeSpeed: 0 });

/** What the client sees of a send: the HTTP status, or the error code if there is no answer. */
const sendOnce = async () =>
	await send(simulator(), 'all').then(
		({ status }) => status,
		(error: NodeJS.ErrnoException) => error.code,
	);

test('faults, rate limit and key apply until reset restores the first settings', async () => {
	simulator().addFault({ action: { kind: 'failure', description: 'x', status: 500 } });
	expect(await sendOnce()).toBe(500);
	simulator().configure({ rateLimit: { perSecond: 0, burst: 1 }, latencyMs: 5 });
	expect([await sendOnce(), await sendOnce()]).toEqual([200, 429]);
	simulator().configure({ rateLimit: null, serviceKey: 'rotated' });
	expect(await sendOnce()).toBe(401);
	simulator().addFault({ action: { kind: 'truncate' } });
	simulator().reset();
	expect(simulator().state()).toMatchObject({
		...{ requestCount: 0, campaignCount: 0, faults: [], campaigns: [] },
		settings: { latencyMs: 0, rateLimit: null },
	});
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1001 });
});

type Row = [name: string, action: Fault['action'], isProcessed: boolean, seen: number | string];

const rows: Row[] = [
	['a reset before the request is processed', { kind: 'reset-before' }, false, 'ECONNRESET'],
	['a reset after the request was processed', { kind: 'reset-after' }, true, 'ECONNRESET'],
	['a truncated answer', { kind: 'truncate' }, true, 'ECONNRESET'],
	['a delayed answer', { kind: 'delay', ms: 40 }, true, 200],
	["a gateway's page", { kind: 'respond', body: '<html>', status: 502 }, false, 502],
	['an empty answer', { kind: 'respond', body: '', process: true }, true, 200],
	['a failure with HTTP 200', { kind: 'failure', description: 'Closed' }, false, 200],
	['a redirect', { kind: 'redirect', location: 'http://x.example/' }, false, 302],
	['a huge answer', { kind: 'big', megabytes: 0.5, process: true }, true, 200],
];

test.each(rows)('a fault applies to one request: %s', async (_name, action, isProcessed, seen) => {
	const fault = simulator().addFault({ action });
	expect(await sendOnce()).toBe(seen);
	const accepted = isProcessed ? ['1001'] : [];
	expect([...simulator().campaigns.keys()]).toEqual(accepted);
	const [recorded] = simulator().requests;
	expect(recorded).toMatchObject({ fault, campaignId: accepted[0] ?? null });
	expect(recorded?.answered?.status).toBe(typeof seen === 'number' ? seen : undefined);
	expect(await sendOnce()).toBe(200);
});

test.each([
	{ button: 'serviceDown', seen: [503, 200], campaigns: 1 },
	{ button: 'tooManyRequests', seen: [429, 429, 429, 200], campaigns: 1 },
	{ button: 'lostAnswer', seen: ['ECONNRESET', 200], campaigns: 2 },
] as const)('$button of the page changes sends, not reads, and ends by itself', async (row) => {
	simulator().toggleFault(row.button);
	expect((await call(simulator().url, { path: countPath })).status).toBe(200);
	for (const seen of row.seen) expect(await sendOnce()).toBe(seen);
	expect(simulator().campaigns.size).toBe(row.campaigns);
	expect(simulator().state()).toMatchObject({ faults: [] });
});
