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

test('counters are consistent at any moment, never fall, and are 0 before the time and at speed 0', () => {
	const life = fc.record({
		seed: fc.integer(),
		audienceSize: fc.nat({ max: 10_000_000 }),
		expiryMs: fc.nat({ max: 28 * 24 * 60 * minute }),
		speed: fc.double({ min: 0, max: 1000, noNaN: true }),
	});
	const elapsed = fc.integer({ min: -60 * minute, max: 40 * 24 * 60 * minute });
	fc.assert(
		fc.property(life, elapsed, fc.nat({ max: 60 * minute }), (campaign, elapsedMs, more) => {
			const counters = countersAt({ ...campaign, elapsedMs });
			const values = Object.values(counters);
			expect(values.every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
			const { total_attempts: attempts, successfully_sent: sent } = counters;
			expect(attempts).toBe(sent + counters.failed_to_send);
			expect(attempts).toBeLessThanOrEqual(campaign.audienceSize);
			expect(counters.delivered).toBeLessThanOrEqual(sent);
			expect(counters.clicked + counters.closed).toBeLessThanOrEqual(counters.delivered);
			const after = Object.values(countersAt({ ...campaign, elapsedMs: elapsedMs + more }));
			expect(after.every((count, index) => count >= (values[index] ?? Infinity))).toBe(true);
			if (elapsedMs > 0 && campaign.speed > 0) return;
			expect(values).toEqual([0, 0, 0, 0, 0, 0]);
		}),
	);
});

test('a scheduled campaign goes out at its time, read with its offset: Scheduled, Sending, Sent', async () => {
	await send(simulator(), 'all', { send_at: '2030-01-10 17:40 +5:30' });
	const shown = () => {
		const campaign = simulator().campaign('1001');
		return [campaign?.status, campaign?.counters.total_attempts];
	};
	time += 10 * minute - 1;
	expect(shown()).toEqual(['Scheduled', 0]);
	time += 3_001;
	expect(shown()).toEqual(['Sending', 5_000]);
	time += 3_000;
	expect(shown()).toEqual(['Sent', 10_000]);
});

test('campaigns can be put there and taken away, counters set by hand stay', async () => {
	expect(simulator().addCampaign()).toBe('1001');
	expect(simulator().addCampaign({ id: '1002', status: 'Paused', audienceSize: 5 })).toBe('1002');
	expect((await send(simulator(), 'all')).json).toMatchObject({ ID: 1003 });
	simulator().setCounters('1003', { clicked: 7 });
	simulator().setCounters('1003', { closed: -1 });
	time += 10 * minute;
	expect(simulator().campaign('1003')?.counters).toMatchObject({
		...{ clicked: 7, closed: -1, total_attempts: 10_000 },
	});
	expect(simulator().campaign('1002')).toMatchObject({ status: 'Paused', audienceSize: 5 });
	expect(simulator().removeCampaign('1002')).toBe(true);
	expect(simulator().removeCampaign('1002')).toBe(false);
	expect(() => simulator().setCounters('1002', { clicked: 1 })).toThrow('No campaign 1002');
});

const all = (value: unknown) => Object.fromEntries(counterNames.map((name) => [name, value]));

test.each([
	['zero', { count: all('0') }],
	['empty', { count: all('') }],
	['null', { count: all(null) }],
	['absent', { count: {} }],
	['none', {}],
] as const)('while it waits it shows its counters as %s', async (waitingCounters, expected) => {
	const path = '/v1/notification/status/id/1001';
	const status = async () => (await call(simulator().url, { path })).json;
	simulator().configure({ waitingCounters });
	simulator().addCampaign({ dueAt: start + 10 * minute });
	expect(await status()).toEqual({
		...{ notification_status: 'Scheduled', notification_id: '1001' },
		...expected,
	});
	simulator().setCounters('1001', { clicked: 3 });
	expect(await status()).toMatchObject({ count: { clicked: '3' } });
	time += 10 * minute;
	expect(await status()).toMatchObject({ count: { delivered: '0', clicked: '3' } });
});
