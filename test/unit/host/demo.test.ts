import { z } from 'zod';
import { exampleNames, readExample } from '../../../examples/read';
import { addDemoCampaign, demoCampaignId } from '../../../host/demoCampaign';
import { demoTables } from '../../../host/demoTables';
import { demoFiles, readExamples } from '../../../host/demoWorkflows';
import { triggerType } from '../../../host/workflows';
import { startSimulator } from '../../../simulator';

test('the demo campaign has numbers at once, and they move for days', async () => {
	const since = Date.UTC(2030, 4, 17);
	let now = since;
	const simulator = await startSimulator({ clock: () => now });
	addDemoCampaign(simulator, since);
	const counters = () => simulator.campaign(demoCampaignId)?.counters;
	expect(counters()).toMatchObject({ total_attempts: 10_000 });
	expect(counters()?.clicked).toBeGreaterThan(0);
	for (let minute = 0; minute < 3 * 24 * 60; minute += 10) {
		const before = counters();
		now = since + (minute + 10) * 60_000;
		expect(counters()).not.toEqual(before);
	}
	simulator.click(demoCampaignId, 50);
	const clicked = counters()?.clicked;
	addDemoCampaign(simulator, since);
	expect(counters()?.clicked).toBe(clicked);
	await simulator.close();
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

test('the addresses of the page and of the chat are those of the running simulator', async () => {
	const page = 'http://127.0.0.1:4711';
	const text = JSON.stringify(await readExamples(page));
	expect(text).not.toMatch(/127\.0\.0\.1:8787|chat\.example\.com/);
	expect(text).toContain(`[Its page](${page})`);
	expect(text).toContain(`"url":"${page}/chat"`);
});

test('what is not run by the big button says by which one it is', async () => {
	for (const { draft } of await readExamples()) {
		const types = draft.nodes.map(({ type }) => type.split('.').at(-1));
		if (!types.includes('manualTrigger') || !types.includes('scheduleTrigger')) continue;
		const note = draft.nodes.find(({ type }) => type.endsWith('.stickyNote'));
		expect(note?.parameters['content']).toMatch(
			/Point at \*\*When clicking .* click the button .* The big button .* runs \*\*Every hour\*\*/,
		);
	}
});

test('no connection runs through the name below a node', async () => {
	for (const { draft } of await readExamples()) {
		const nodes = draft.nodes.filter(({ type }) => !type.endsWith('.stickyNote'));
		const at = (name: string) => nodes.find((node) => node.name === name)?.position ?? [0, 0];
		for (const [from, { main = [] }] of Object.entries(draft.connections)) {
			for (const { node: to } of main.flatMap((output) => output ?? [])) {
				const [[x, y], [toX, toY]] = [at(from), at(to)];
				// A curve from the middle of a node's right side to the left side of the other: half of it.
				for (let part = 0; part <= 1; part += 0.02) {
					const curveX = x + 96 + (toX - x - 96) * (1.5 * part * (1 - part) + part ** 3);
					const curveY = y + 48 + (toY - y) * (3 * part ** 2 - 2 * part ** 3);
					const crossed = nodes.find(({ position: [left, top] }) => {
						const [right, down] = [curveX - left - 48, curveY - top];
						return Math.abs(right) < 75 && down > 102 && down < 145;
					});
					expect([draft.name, from, to, crossed?.name]).toEqual([draft.name, from, to, undefined]);
				}
			}
		}
	}
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
