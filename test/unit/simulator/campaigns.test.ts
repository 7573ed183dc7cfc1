import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { startSimulator } from '../../../simulator';
import { counterNames, countersAt } from '../../../simulator/counters';
import { call, send, statusPath, useSimulator } from './support';

const minute = 60_000;
const hour = 60 * minute;
const start = Date.UTC(2030, 0, 10, 12, 0);
let time = start;
const clock = () => time;
const simulator = useSimulator({ clock });
beforeEach(() => {
	time = start;
});

describe('counters', () => {
	test('add up at any moment, never fall, and are 0 before the send time and at speed 0', () => {
		const life = fc.record({
			seed: fc.integer(),
			audienceSize: fc.nat({ max: 10_000_000 }),
			expiryMs: fc.nat({ max: 28 * 24 * hour }),
			speed: fc.double({ min: 0, max: 1000, noNaN: true }),
		});
		const elapsed = fc.integer({ min: -hour, max: 40 * 24 * hour });
		fc.assert(
			fc.property(life, elapsed, fc.nat({ max: hour }), (campaign, elapsedMs, more) => {
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

	const all = (value: unknown) => Object.fromEntries(counterNames.map((name) => [name, value]));

	test.each([
		{ waitingCounters: 'zero', count: all('0') },
		{ waitingCounters: 'empty', count: all('') },
		{ waitingCounters: 'null', count: all(null) },
		{ waitingCounters: 'absent', count: {} },
	] as const)('can be $waitingCounters until the campaign goes out', async (row) => {
		const { waitingCounters, count } = row;
		const id = simulator().addCampaign({ id: 'spring/2030 ü?', dueAt: start + 10 * minute });
		const path = statusPath + encodeURIComponent(id);
		const status = async () => (await call(simulator().url, { path })).json;
		simulator().configure({ waitingCounters });
		const shown = { notification_status: 'Scheduled', notification_id: id };
		expect(await status()).toEqual({ ...shown, count });
		simulator().setCounters(id, { clicked: 3 });
		expect(await status()).toMatchObject({ count: { clicked: '3' } });
		time += 10 * minute;
		expect(await status()).toMatchObject({ count: { delivered: '0', clicked: '3' } });
	});
});

describe('changes by hand', () => {
	test('make the campaigns an hour older, but not those that are sent afterwards', async () => {
		simulator().addCampaign({ id: 'due', dueAt: start + 0.5 * hour });
		simulator().addCampaign({ id: 'slow', speed: 1 / 100, audienceSize: 10_000 });
		simulator().age(hour);
		await send(simulator(), 'all', { send_at: '2030-01-10 12:05 +00:00' });
		expect(simulator().campaign('due')).toMatchObject({ status: 'Sent', elapsedMs: hour / 2 });
		expect(simulator().campaign('slow')).toMatchObject({ status: 'Sent', elapsedMs: hour });
		expect(simulator().campaign('slow')?.counters.delivered).toBeLessThan(8_000);
		expect(simulator().campaign('1001')?.status).toBe('Scheduled');
	});

	test('let no more people click than have the notification open, so that counters still add up', () => {
		const id = simulator().addCampaign({ audienceSize: 300 });
		const clicked = [0, 30_000, hour, 24 * hour].map((ms) => {
			simulator().age(ms);
			return simulator().click(id, 50);
		});
		expect(clicked[0]).toBe(0);
		expect(clicked[1]).toBeGreaterThan(10);
		const { clickable, counters } = simulator().campaign(id) ?? {};
		expect(clickable).toBe(0);
		const { delivered = 0, clicked: all = 0, closed = 0 } = counters ?? {};
		expect(all + closed).toBeLessThanOrEqual(delivered);
	});
});

describe('a state file', () => {
	const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
	const stateFile = join(folder, 'deeper', 'state.json');
	const startAgain = () => startSimulator({ stateFile, clock });
	afterAll(() => rmSync(folder, { recursive: true }));

	test('restores campaigns, their counters and IDs, and the chat at the next start', async () => {
		const first = await startAgain();
		await send(first, 'all');
		await send(first, 'sid');
		first.age(hour);
		first.click('1001', 50);
		first.setCounters('1001', { closed: 7 });
		await call(first.origin, { path: '/chat', body: { text: 'Hello' } });
		const { campaigns, messages } = first.state();
		await first.close();

		const second = await startAgain();
		expect(second.state()).toMatchObject({ campaigns, messages, requestCount: 0 });
		expect(messages).toEqual([{ at: start, text: 'Hello' }]);
		await send(second, 'all');
		await send(second, 'sid');
		expect([...second.campaigns.keys()]).toEqual(['1001', 'sid-1', '1002', 'sid-2']);
		second.reset();
		await second.close();
		const third = await startAgain();
		expect(third.state()).toMatchObject({ campaigns: [], messages: [] });
		await third.close();
	});

	test('holds an accepted send soon afterwards, so that a kill loses nothing', async () => {
		const killed = await startAgain();
		await send(killed, 'all');
		// The file is read, not timed: however slow the machine is, the send is in it at some point.
		while (!readFileSync(stateFile, 'utf8').includes('"1001"')) await sleep(20);
		const other = await startAgain();
		expect(other.campaigns.has('1001')).toBe(true);
		await Promise.all([killed.close(), other.close()]);
	});

	test('is not overwritten if it is unreadable: the start fails', async () => {
		writeFileSync(stateFile, '{"campaigns":[{"id"');
		await expect(startAgain()).rejects.toThrow(/state\.json can't be read/);
	});
});
