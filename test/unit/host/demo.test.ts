import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { exampleNames, readExample } from '../../../examples/read';
import { addDemoCampaign, demoCampaignId } from '../../../host/demo/campaign';
import { demoFiles, demoOwner, readExamples } from '../../../host/demo/prepare';
import { demoTables } from '../../../host/demo/tables';
import { machineTimezone, welcome } from '../../../host/demo/welcome';
import { triggerType } from '../../../host/n8n/workflows';
import { startSimulator } from '../../../simulator';

test('the demo campaign has counters at the first start, and they change for days', async () => {
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

test('the demo creates its own two workflows and all of examples/, and activates only the report', async () => {
	const [first, watching, ...others] = await readExamples();
	expect([first?.active, watching?.active]).toEqual([false, true]);
	expect([first?.file, watching?.file]).toEqual(Object.values(demoFiles));
	expect(others.map(({ file, active }) => [file, active])).toEqual(
		(await exampleNames()).map((name) => [`examples/${name}.json`, false]),
	);
	const trigger = watching?.draft.nodes.find(({ type }) => type === triggerType);
	expect(trigger?.parameters['campaignIds']).toBe(demoCampaignId);
});

test("the examples use the addresses of the running simulator's page and chat", async () => {
	const page = 'http://127.0.0.1:4711';
	const text = JSON.stringify(await readExamples(page));
	expect(text).not.toMatch(/127\.0\.0\.1:8787|chat\.example\.com/);
	expect(text).toContain(`[Its page](${page})`);
	expect(text).toContain(`"url":"${page}/chat"`);
});

test('each example has one note, above its nodes, that names each trigger', async () => {
	for (const { draft } of await readExamples()) {
		const nodes = draft.nodes.filter(({ type }) => !type.endsWith('.stickyNote'));
		const notes = draft.nodes.filter((each) => !nodes.includes(each));
		const [[, top = 0] = [], parameters] = [notes[0]?.position, notes[0]?.parameters];
		expect([draft.name, notes.length]).toEqual([draft.name, 1]);
		expect(top + Number(parameters?.['height'])).toBeLessThanOrEqual(
			Math.min(...nodes.map(({ position }) => position[1])),
		);
		const triggers = nodes.filter(({ type }) => /trigger$|\.webhook$/i.test(type));
		for (const { name } of triggers) {
			expect(name).toMatch(/^(When|Every) /);
			expect(parameters?.['content']).toContain(`**${name}**`);
		}
		if (!triggers.some(({ type }) => type.endsWith('.manualTrigger'))) continue;
		if (triggers.length === 1) continue;
		expect(parameters?.['content']).toMatch(/oint at .* click the button that appears beside it/);
		if (!triggers.some(({ name }) => name === 'Every hour')) continue;
		expect(parameters?.['content']).toMatch(/The big button .* runs \*\*Every hour\*\*/);
	}
});

test('each example fits into a window of 1440 x 900 at a zoom of at least three quarters', async () => {
	// What n8n's side bar, header and margins leave of the window.
	const room = { width: 1160, height: 720 };
	for (const { draft } of await readExamples()) {
		const boxes = draft.nodes.map(({ position: [x, y], parameters, type }) => {
			const isNote = type.endsWith('.stickyNote');
			const width = isNote ? Number(parameters['width']) : 96;
			// A node has its name below it.
			const height = isNote ? Number(parameters['height']) : 96 + 40;
			return { left: x, top: y, right: x + width, bottom: y + height };
		});
		const width =
			Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left));
		const height =
			Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top));
		const zoom = Math.min(room.width / width, room.height / height);
		expect([draft.name, zoom >= 0.75]).toEqual([draft.name, true]);
	}
});

test('an example uses only nodes that come with n8n, has no credential, and has a test', async () => {
	const tests = await readFile(join(__dirname, '../../host/examples.test.ts'), 'utf8');
	for (const name of await exampleNames()) {
		expect(tests).toContain(`'${name}'`);
		for (const { type, credentials } of (await readExample(name)).nodes) {
			expect(type).toMatch(/^(n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-push-campaign)\./);
			expect(credentials).toBeUndefined();
		}
	}
});

test('the welcome shows workflows, login, and the credential for the simulator', () => {
	const workflows = { [demoFiles.first]: 'first-id', [demoFiles.watching]: 'watching-id' };
	const [n8n, service] = ['http://127.0.0.1:5678', 'http://127.0.0.1:8787'];
	const baseUrl = service;
	const timezone = 'Europe/Berlin';
	const running = { n8n, service, baseUrl, timezone, workflows, isLoginChanged: false };
	const text = welcome(running);
	expect(text).toContain(`${n8n}/workflow/first-id\n`);
	expect(text).toContain(`${n8n}/workflow/watching-id/executions\n`);
	expect(text).toContain(`${service}\n`);
	expect(text).toMatch(new RegExp(`${demoOwner.email}\\s+Password +${demoOwner.password}\n`));
	expect(text).toContain('Times are in Europe/Berlin.');
	expect(text).toMatch(/Base URL +http:\S+8787\n +API Key +demo-key\n +Auth Token +demo-token\n/);
	expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
	const changed = welcome({ ...running, workflows: {}, isLoginChanged: true });
	expect(changed).toContain(`${n8n}/home/workflows`);
	expect(changed).not.toContain(demoOwner.password);
});

test.each([
	{ name: 'is what the machine says', timeZone: 'Europe/Berlin', expected: 'Europe/Berlin' },
	{ name: 'is UTC if the machine has an unknown one', timeZone: 'Etc/Unknown', expected: 'UTC' },
	{ name: 'is UTC if the machine has none', timeZone: '', expected: 'UTC' },
])("the demo's timezone $name", ({ timeZone, expected }) => {
	const options = { ...new Intl.DateTimeFormat().resolvedOptions(), timeZone };
	const spy = jest.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions');
	expect(spy.mockReturnValue(options) && machineTimezone()).toBe(expected);
	spy.mockRestore();
});

test('the demo has the tables of the examples, with the columns that the examples create', async () => {
	const tables = demoTables(Date.UTC(2030, 4, 17, 9, 30), Date.UTC(2030, 4, 17), 'Europe/Berlin');
	const examples = await Promise.all((await exampleNames()).map(readExample));
	const parameters = examples.flatMap(({ nodes }) => nodes.map((node) => node.parameters));
	const used = parameters.flatMap(({ dataTableId }) => {
		const table = z.object({ value: z.string() }).safeParse(dataTableId);
		return table.success ? [table.data.value] : [];
	});
	expect([...new Set(used)].sort()).toEqual(tables.map(({ name }) => name).sort());
	const columns = z.object({ column: z.array(z.object({ name: z.string(), type: z.string() })) });
	for (const made of parameters.filter(({ resource }) => resource === 'table')) {
		const typed = columns.parse(made['columns']).column.map(({ name, type }) => [name, type]);
		const table = tables.find(({ name }) => name === made['tableName']);
		expect(Object.entries(table?.columns ?? {})).toEqual(typed);
	}
	const calendar = tables.find(({ name }) => name === 'Push campaign calendar');
	expect(calendar?.rows?.map(({ sendAt }) => sendAt)).toEqual([
		'2030-05-17 17:00',
		'2030-05-23 11:00',
	]);
});
