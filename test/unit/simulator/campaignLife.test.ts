import * as fc from 'fast-check';
import { counterNames, countersAt } from '../../../simulator/counters';
import { call, send, useSimulator } from './support';

const minute = 60_000;
const start = Date.UTC(2030, 0, 10, 12, 0);
let time = start;
const simulator = useSimulator({ clock: () => time });
beforeEach(() => {
	time = start;
});

describe('counters', () => {
	const life = fc.record({
		seed: fc.integer(),
		audienceSize: fc.nat({ max: 10_000_000 }),
		expiryMs: fc.nat({ max: 28 * 24 * 60 * minute }),
		speed: fc.double({ min: 0, max: 1000, noNaN: true }),
	});
	const elapsed = fc.integer({ min: -60 * minute, max: 40 * 24 * 60 * minute });

	test('are consistent at any moment', () => {
		fc.assert(
			fc.property(life, elapsed, (campaign, elapsedMs) => {
				const counters = countersAt({ ...campaign, elapsedMs });
				expect(Object.values(counters).every((count) => Number.isInteger(count))).toBe(true);
				expect(Math.min(...Object.values(counters))).toBeGreaterThanOrEqual(0);
				const { total_attempts: attempts, successfully_sent: sent } = counters;
				expect(attempts).toBe(sent + counters.failed_to_send);
				expect(attempts).toBeLessThanOrEqual(campaign.audienceSize);
				expect(counters.delivered).toBeLessThanOrEqual(sent);
				expect(counters.clicked + counters.closed).toBeLessThanOrEqual(counters.delivered);
			}),
		);
	});

	test('never fall', () => {
		fc.assert(
			fc.property(life, elapsed, fc.nat({ max: 60 * minute }), (campaign, elapsedMs, more) => {
				const before = Object.values(countersAt({ ...campaign, elapsedMs }));
				const after = Object.values(countersAt({ ...campaign, elapsedMs: elapsedMs + more }));
				after.forEach((count, index) => {
					expect(count).toBeGreaterThanOrEqual(before[index] ?? Infinity);
				});
			}),
		);
	});

	test('stand at zero before the campaign goes out, and at speed 0', () => {
		fc.assert(
			fc.property(life, elapsed, (campaign, elapsedMs) => {
				const before = countersAt({ ...campaign, elapsedMs: -Math.abs(elapsedMs) });
				const frozen = countersAt({ ...campaign, elapsedMs, speed: 0 });
				expect(Object.values(before)).toEqual([0, 0, 0, 0, 0, 0]);
				expect(Object.values(frozen)).toEqual([0, 0, 0, 0, 0, 0]);
			}),
		);
	});

	test('reach the whole audience, and differ from campaign to campaign', () => {
		const at = (seed: number) =>
			countersAt({
				seed,
				audienceSize: 10_000,
				elapsedMs: 60 * minute,
				expiryMs: 24 * 60 * minute,
				speed: 1,
			});
		expect(at(1).total_attempts).toBe(10_000);
		expect(at(1).clicked).toBeGreaterThan(100);
		expect(at(1)).toEqual(at(1));
		expect(at(1)).not.toEqual(at(2));
	});

	test('deliveries end with the expiry', () => {
		const at = (elapsedMs: number) =>
			countersAt({ seed: 1, audienceSize: 10_000, elapsedMs, expiryMs: minute, speed: 1 });
		expect(at(5 * minute).delivered).toBe(at(minute).delivered);
		expect(at(5 * minute).clicked).toBeGreaterThan(at(minute).clicked);
	});
});

test('a campaign goes out at once: Sending, then Sent', async () => {
	await send(simulator(), 'all');
	expect(simulator().campaign('1001')?.status).toBe('Sending');
	time += 3_000;
	expect(simulator().campaign('1001')?.status).toBe('Sending');
	expect(simulator().campaign('1001')?.counters.total_attempts).toBe(5_000);
	time += 3_000;
	expect(simulator().campaign('1001')?.status).toBe('Sent');
	expect(simulator().campaign('1001')?.counters.total_attempts).toBe(10_000);
});

test('a scheduled campaign goes out at its time, read with its offset', async () => {
	await send(simulator(), 'all', { send_at: '2030-01-10 17:40 +5:30' });
	expect(simulator().campaign('1001')).toMatchObject({
		status: 'Scheduled',
		dueAt: start + 10 * minute,
	});
	time += 10 * minute - 1;
	expect(simulator().campaign('1001')).toMatchObject({
		status: 'Scheduled',
		counters: { total_attempts: 0 },
	});
	simulator().advance(1);
	expect(simulator().campaign('1001')?.status).toBe('Sending');
	simulator().advance(minute);
	expect(simulator().campaign('1001')).toMatchObject({
		status: 'Sent',
		counters: { total_attempts: 10_000 },
	});
});

test('counters set by hand stay, the others go on living', async () => {
	await send(simulator(), 'all');
	simulator().setCounters('1001', { clicked: 7 });
	simulator().setCounters('1001', { closed: -1 });
	time += 10 * minute;
	const counters = simulator().campaign('1001')?.counters;
	expect(counters).toMatchObject({ clicked: 7, closed: -1, total_attempts: 10_000 });
	expect(() => {
		simulator().setCounters('1002', { clicked: 1 });
	}).toThrow('No campaign 1002');
});

test('campaigns can be put there and taken away', async () => {
	expect(simulator().addCampaign()).toBe('1001');
	expect(simulator().addCampaign({ id: '1002', status: 'Paused', audienceSize: 5 })).toBe('1002');
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1003 });
	expect(simulator().campaign('1002')).toMatchObject({ status: 'Paused', audienceSize: 5 });
	expect(simulator().removeCampaign('1002')).toBe(true);
	expect(simulator().removeCampaign('1002')).toBe(false);
	expect([...simulator().campaigns.keys()]).toEqual(['1001', '1003']);
});

describe('a campaign that waits for its time', () => {
	const status = async (id: string) =>
		(await call(simulator().url, { method: 'GET', path: `/v1/notification/status/id/${id}` })).json;
	const all = (value: unknown) => Object.fromEntries(counterNames.map((name) => [name, value]));

	test.each([
		['zero', { count: all('0') }],
		['empty', { count: all('') }],
		['null', { count: all(null) }],
		['absent', { count: {} }],
		['none', {}],
	] as const)('shows its counters as %s', async (waitingCounters, expected) => {
		simulator().configure({ waitingCounters });
		const id = simulator().addCampaign({ dueAt: start + 10 * minute });
		expect(await status(id)).toEqual({
			notification_status: 'Scheduled',
			notification_id: id,
			...expected,
		});
		simulator().setCounters(id, { clicked: 3 });
		expect(await status(id)).toMatchObject({ count: { clicked: '3' } });
		time += 10 * minute;
		expect(await status(id)).toMatchObject({ count: { delivered: '0', clicked: '3' } });
	});
});
