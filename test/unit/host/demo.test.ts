import * as fc from 'fast-check';
import { z } from 'zod';
import { exampleNames, readExample } from '../../../examples/read';
import { demoCampaignId, demoCounters, runDemoCampaign } from '../../../host/demoCampaign';
import { demoTables } from '../../../host/demoTables';
import { demoFiles, readExamples } from '../../../host/demoWorkflows';
import { triggerType } from '../../../host/workflows';
import { startSimulator } from '../../../simulator';

const age = fc.integer({ min: 0, max: 90 * 24 * 3_600_000 });

describe('the counters of the demo campaign', () => {
	test('are consistent with each other at any age', () => {
		fc.assert(
			fc.property(age, (ms) => {
				const counters = demoCounters(ms);
				expect(counters.successfully_sent + counters.failed_to_send).toBe(counters.total_attempts);
				expect(counters.delivered).toBeLessThanOrEqual(counters.successfully_sent);
				expect(counters.clicked + counters.closed).toBeLessThanOrEqual(counters.delivered);
			}),
		);
	});

	test('never fall', () => {
		fc.assert(
			fc.property(age, age, (one, other) => {
				const [before, after] = [Math.min(one, other), Math.max(one, other)].map(demoCounters);
				expect(after?.delivered).toBeGreaterThanOrEqual(before?.delivered ?? 0);
				expect(after?.clicked).toBeGreaterThanOrEqual(before?.clicked ?? 0);
				expect(after?.closed).toBeGreaterThanOrEqual(before?.closed ?? 0);
			}),
		);
	});

	test('move every minute of the first day', () => {
		const minute = 60_000;
		for (let ms = 0; ms < 24 * 60 * minute; ms += minute) {
			expect(demoCounters(ms + minute)).not.toEqual(demoCounters(ms));
		}
	});
});

test('the demo campaign is there for a reader of its status', async () => {
	const simulator = await startSimulator();
	const end = runDemoCampaign(simulator, Date.now() - 60_000);
	try {
		expect(simulator.campaign(demoCampaignId)).toMatchObject({
			status: 'Sent',
			counters: { total_attempts: 10_000 },
		});
	} finally {
		end();
		await simulator.close();
	}
});

describe('the example workflows', () => {
	test('an active one watches the demo campaign, the others wait for a click; all of examples/ follow', async () => {
		const examples = await readExamples();
		expect(examples.slice(0, 2).map(({ draft, active }) => [draft.name, active])).toEqual([
			['Send to all, then read its status', false],
			['Report counter changes', true],
		]);
		expect(examples.slice(0, 2).map(({ file }) => file)).toEqual(Object.values(demoFiles));
		expect(examples.slice(2).map(({ file, active }) => [file, active])).toEqual(
			(await exampleNames()).map((name) => [`examples/${name}.json`, false]),
		);
		const trigger = examples[1]?.draft.nodes.find(({ type }) => type === triggerType);
		expect(trigger?.parameters['campaignIds']).toBe(demoCampaignId);
	});

	test('each explains itself in a sticky note and connects nodes that exist', async () => {
		for (const { draft } of await readExamples()) {
			const names = draft.nodes.map(({ name }) => name);
			expect(draft.nodes.some(({ type }) => type.endsWith('.stickyNote'))).toBe(true);
			for (const [from, { main = [] }] of Object.entries(draft.connections)) {
				const targets = main.flatMap((output) => (output ?? []).map(({ node }) => node));
				expect(names).toEqual(expect.arrayContaining([from, ...targets]));
			}
		}
	});

	test('no note is covered by a node', async () => {
		for (const { draft } of await readExamples()) {
			const note = draft.nodes.find(({ type }) => type.endsWith('.stickyNote'));
			const nodes = draft.nodes.filter((node) => node !== note);
			const top = Math.min(...nodes.map(({ position }) => position[1]));
			const bottom = (note?.position[1] ?? 0) + Number(note?.parameters['height']);
			expect([draft.name, bottom <= top]).toEqual([draft.name, true]);
		}
	});
});

describe('the tables', () => {
	const now = Date.UTC(2030, 4, 17, 9, 30);
	const tables = demoTables(now, now - 60_000, 'Europe/Berlin');

	/** The columns of the tables that the examples make by themselves. */
	async function madeByExamples() {
		const made = new Map<unknown, Record<string, unknown>>();
		for (const name of await exampleNames()) {
			for (const { parameters } of (await readExample(name)).nodes) {
				if (parameters['resource'] !== 'table') continue;
				const { column } = z
					.object({ column: z.array(z.object({ name: z.string(), type: z.string() })) })
					.parse(parameters['columns']);
				const typed = column.map((each) => [each.name, each.type] as const);
				made.set(parameters['tableName'], Object.fromEntries(typed));
			}
		}
		return made;
	}

	test('have the names that the examples read and write', async () => {
		const used = new Set<unknown>();
		for (const name of await exampleNames()) {
			for (const { parameters } of (await readExample(name)).nodes) {
				const table = z.object({ value: z.string() }).safeParse(parameters['dataTableId']);
				if (table.success) used.add(table.data.value);
			}
		}
		expect([...used].sort()).toEqual(tables.map(({ name }) => name).sort());
	});

	test('have the columns that the examples would give them', async () => {
		const made = await madeByExamples();
		expect(made.size).toBe(2);
		for (const [name, columns] of made) {
			expect(tables.find((table) => table.name === name)?.columns).toEqual(columns);
		}
	});

	test('hold rows of their columns; the calendar has one of today and one of next week', () => {
		for (const { columns, rows = [] } of tables) {
			for (const row of rows) {
				expect(Object.keys(columns)).toEqual(expect.arrayContaining(Object.keys(row)));
			}
		}
		const calendar = tables.find(({ name }) => name === 'Push campaign calendar');
		expect(calendar?.rows?.map(({ sendAt }) => sendAt)).toEqual([
			'2030-05-17 17:00',
			'2030-05-23 11:00',
		]);
	});
});
