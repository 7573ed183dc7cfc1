import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { exampleNames, readExample } from '../../../examples/read';
import { addDemoCampaign, demoCampaignId } from '../../../host/demo/campaign';
import { demoFiles, readExamples } from '../../../host/demo/prepare';
import { demoTables } from '../../../host/demo/tables';
import { triggerType } from '../../../host/n8n/workflows';
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

test('an active workflow watches the demo campaign, the others wait; all of examples/ follow', async () => {
	const [first, watching, ...others] = await readExamples();
	expect([first?.active, watching?.active]).toEqual([false, true]);
	expect([first?.file, watching?.file]).toEqual(Object.values(demoFiles));
	expect(others.map(({ file, active }) => [file, active])).toEqual(
		(await exampleNames()).map((name) => [`examples/${name}.json`, false]),
	);
	const trigger = watching?.draft.nodes.find(({ type }) => type === triggerType);
	expect(trigger?.parameters['campaignIds']).toBe(demoCampaignId);
});

test('the addresses of the page and of the chat are those of the running simulator', async () => {
	const page = 'http://127.0.0.1:4711';
	const text = JSON.stringify(await readExamples(page));
	expect(text).not.toMatch(/127\.0\.0\.1:8787|chat\.example\.com/);
	expect(text).toContain(`[Its page](${page})`);
	expect(text).toContain(`"url":"${page}/chat"`);
});

test('each has one note, above its nodes, that says which button runs what the big one does not', async () => {
	for (const { draft } of await readExamples()) {
		const nodes = draft.nodes.filter(({ type }) => !type.endsWith('.stickyNote'));
		const notes = draft.nodes.filter((each) => !nodes.includes(each));
		const [[, top = 0] = [], parameters] = [notes[0]?.position, notes[0]?.parameters];
		expect([draft.name, notes.length]).toEqual([draft.name, 1]);
		expect(top + Number(parameters?.['height'])).toBeLessThanOrEqual(
			Math.min(...nodes.map(({ position }) => position[1])),
		);
		const types = nodes.map(({ type }) => type.split('.').at(-1));
		if (!types.includes('manualTrigger') || !types.includes('scheduleTrigger')) continue;
		expect(parameters?.['content']).toMatch(
			/Point at \*\*When clicking .* click the button .* The big button .* runs \*\*Every hour\*\*/,
		);
	}
});

test('an example needs only nodes that come with n8n, brings no credential, and is tried', async () => {
	const tests = await readFile(join(__dirname, '../../host/examples.test.ts'), 'utf8');
	for (const name of await exampleNames()) {
		expect(tests).toContain(`imported('${name}')`);
		for (const { type, credentials } of (await readExample(name)).nodes) {
			expect(type).toMatch(/^(n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-push-campaign)\./);
			expect(credentials).toBeUndefined();
		}
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

	const parametersOf = async () => {
		const examples = await Promise.all((await exampleNames()).map(readExample));
		return examples.flatMap(({ nodes }) => nodes.map(({ parameters }) => parameters));
	};

	test('have the names that the examples read and write', async () => {
		const used = (await parametersOf()).flatMap(({ dataTableId }) => {
			const table = z.object({ value: z.string() }).safeParse(dataTableId);
			return table.success ? [table.data.value] : [];
		});
		expect([...new Set(used)].sort()).toEqual(tables.map(({ name }) => name).sort());
	});

	test('have the columns that the examples would give them', async () => {
		const columns = z.object({ column: z.array(z.object({ name: z.string(), type: z.string() })) });
		const made = (await parametersOf()).filter(({ resource }) => resource === 'table');
		expect(made).toHaveLength(2);
		for (const parameters of made) {
			const typed = columns
				.parse(parameters['columns'])
				.column.map(({ name, type }) => [name, type]);
			const table = tables.find(({ name }) => name === parameters['tableName']);
			expect(Object.entries(table?.columns ?? {})).toEqual(typed);
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
