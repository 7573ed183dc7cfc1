import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type SimulatorOptions } from '../../../simulator';
import { call, send } from './support';

const hour = 3_600_000;
const now = Date.UTC(2030, 0, 10, 12, 0);
const folder = mkdtempSync(join(tmpdir(), 'simulator-'));
const stateFile = join(folder, 'deeper', 'state.json');
const start = (options: SimulatorOptions = {}) =>
	startSimulator({ stateFile, clock: () => now, ...options });

afterAll(() => rmSync(folder, { recursive: true }));

test('the next start has the campaigns, their numbers and IDs, and the chat', async () => {
	const first = await start();
	await send(first, 'all');
	await send(first, 'sid');
	first.age(hour);
	expect(first.click('1001', 50)).toBe(50);
	first.setCounters('1001', { closed: 7 });
	await call(first.origin, { path: '/chat', body: { text: 'Hello' } });
	const { campaigns, messages } = first.state();
	await first.close();

	const second = await start();
	expect(second.state()).toMatchObject({ campaigns, messages, requestCount: 0 });
	expect(messages).toEqual([{ at: now, text: 'Hello' }]);
	expect((await send(second, 'all')).json).toMatchObject({ ID: 1002 });
	await send(second, 'sid');
	expect([...second.campaigns.keys()]).toEqual(['1001', 'sid-1', '1002', 'sid-2']);
	second.reset();
	await second.close();
	const third = await start();
	expect(third.state()).toMatchObject({ campaigns: [], messages: [] });
	await third.close();
});

test('what it accepted is in the file a moment later, also where it is killed', async () => {
	const simulator = await start();
	await send(simulator, 'all');
	await new Promise((resolve) => setTimeout(resolve, 300));
	const other = await start();
	expect(other.campaigns.has('1001')).toBe(true);
	simulator.reset();
	await other.close();
	await simulator.close();
});

test('a file that was written by half changes nothing; one that can not be read is put aside', async () => {
	const simulator = await start();
	await send(simulator, 'all');
	await simulator.close();
	writeFileSync(`${stateFile}.new`, '{"campaigns":[{"id"');
	const whole = await start();
	expect(whole.campaigns.size).toBe(1);
	await whole.close();

	writeFileSync(stateFile, '{"campaigns":[{"id"');
	const putAside = jest.fn();
	const anew = await start({ onUnreadableState: putAside });
	expect(putAside).toHaveBeenCalledWith(`${stateFile}.unreadable`);
	expect(existsSync(`${stateFile}.unreadable`)).toBe(true);
	expect((await send(anew, 'all')).json).toMatchObject({ ID: 1001 });
	await anew.close();
});

describe('moving numbers by hand', () => {
	test('an hour later the campaigns are an hour older; what is sent then is new', async () => {
		const simulator = await startSimulator({ clock: () => now });
		const dueAt = now + 0.5 * hour;
		simulator.addCampaign({ id: 'due', dueAt });
		simulator.addCampaign({ id: 'slow', speed: 1 / 100, audienceSize: 10_000 });
		simulator.age(hour);
		await send(simulator, 'all', { send_at: '2030-01-10 12:05 +00:00' });
		expect(simulator.campaign('due')).toMatchObject({ status: 'Sent', elapsedMs: hour / 2, dueAt });
		expect(simulator.campaign('slow')).toMatchObject({ status: 'Sent', elapsedMs: hour });
		expect(simulator.campaign('slow')?.counters.delivered).toBeLessThan(8_000);
		expect(simulator.campaign('1001')?.status).toBe('Scheduled');
		expect(simulator.now()).toBe(now);
		await simulator.close();
	});

	test('people click as far as they have it, and all counters stay consistent for good', async () => {
		const simulator = await startSimulator({ clock: () => now });
		const id = simulator.addCampaign({ audienceSize: 300 });
		expect(simulator.click(id, 50)).toBe(0);
		simulator.age(30_000);
		const clickable = simulator.campaign(id)?.clickable ?? 0;
		expect(clickable).toBeGreaterThan(10);
		expect(clickable).toBeLessThan(50);
		expect(simulator.click(id, 50)).toBe(clickable);
		for (let hours = 0; hours < 5; hours += 1) {
			simulator.click(id, 50);
			simulator.age(hour);
			const { delivered = 0, clicked = 0, closed = 0 } = simulator.campaign(id)?.counters ?? {};
			expect(clicked + closed).toBeLessThanOrEqual(delivered);
		}
		expect(simulator.campaign(id)?.clickable).toBe(0);
		expect(() => simulator.click('none', 1)).toThrow('No campaign none');
		await simulator.close();
	});
});

test.each([
	[{ text: 'New' }, 200],
	[{ text: 7 }, 400],
	['no JSON', 400],
])('the chat answers to %j with %d', async (body, status) => {
	const simulator = await startSimulator();
	expect((await call(simulator.chatUrl, { path: '', body })).status).toBe(status);
	for (let more = 0; more < 60; more += 1) simulator.post(String(more));
	expect(simulator.state().messages).toHaveLength(50);
	expect(simulator.requests).toEqual([]);
	await simulator.close();
});
