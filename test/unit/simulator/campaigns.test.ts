import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { startSimulator } from '../../../simulator';
import { countersAt } from '../../../simulator/counters';
import { call, send } from './support';

const hour = 3_600_000;
const start = Date.UTC(2030, 0, 10, 12, 0);

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
});

describe('a state file', () => {
	const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
	const stateFile = join(folder, 'deeper', 'state.json');
	const startAgain = () => startSimulator({ stateFile, clock: () => start });
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
});
