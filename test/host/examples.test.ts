import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { changeNode, chooseCredential, exampleNames, readExample } from '../../examples/read';
import { outputOf, pollEvery, type WorkflowDraft } from '../../host';
import { useStage } from './support';
import { startChat, startFeed, startModel } from './support/loopbackServices';

const stage = useStage({ major: '2' });

/** An example as it is after the import, with the credential chosen in the package's nodes. */
const imported = async (name: string): Promise<WorkflowDraft> =>
	chooseCredential(await readExample(name), 'n8n-nodes-push-campaign.', stage().credential);

const polled = { pollTimes: pollEvery(5) };

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = Date.now() + 60_000;
	while (!(await holds())) {
		if (Date.now() > deadline) throw new Error(`Waited in vain until ${what}`);
		await sleep(50);
	}
}

/** Switches the workflow on as it is in the file, so that its own schedule is tried, and off again. */
async function tryOut(draft: WorkflowDraft): Promise<string> {
	const { client } = stage();
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	await client.deactivate(id);
	return id;
}

const bodies = () => stage().simulator.requests.map(({ json }) => json);

async function createTable(
	name: string,
	columns: string[],
	rows: Array<Record<string, string>> = [],
) {
	const { client } = stage();
	const withId = z.object({ id: z.string() });
	const project = withId.parse(await client.request('GET', 'projects/personal'));
	const path = `projects/${project.id}/data-tables`;
	const typed = columns.map((column) => ({ name: column, type: 'string' }));
	const table = withId.parse(await client.request('POST', path, { name, columns: typed }));
	if (rows.length > 0) await client.request('POST', `${path}/${table.id}/insert`, { data: rows });
	return {
		chosen: { dataTableId: { __rl: true, mode: 'id', value: table.id } },
		rows: async () =>
			z
				.object({ data: z.array(z.record(z.unknown())) })
				.parse(await client.request('GET', `${path}/${table.id}/rows`)).data,
	};
}

test('every example is explained by a note and tried below', async () => {
	const names = await exampleNames();
	expect(names).toEqual([
		'ai-agent-with-approval',
		'alert-on-clicks',
		'announce-rss-posts',
		'daily-subscriber-report',
		'personal-notifications',
		'weekly-ab-titles',
	]);
	for (const name of names) {
		const { nodes } = await readExample(name);
		expect(nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote')).toHaveLength(1);
		for (const { type } of nodes) {
			expect(type).toMatch(/^(n8n-nodes-base|@n8n\/n8n-nodes-langchain|n8n-nodes-push-campaign)\./);
		}
		expect(nodes.filter((node) => node.credentials !== undefined)).toEqual([]);
	}
});

test('announce-rss-posts sends new posts, cut to what the service takes', async () => {
	const { client } = stage();
	const old = {
		title: 'Old',
		text: 'Long known',
		link: 'https://blog.example.com/old',
		published: new Date('2020-01-01T00:00:00Z'),
	};
	const feed = await startFeed([old]);
	try {
		const draft = await imported('announce-rss-posts');
		const { id } = await client.createWorkflow(
			changeNode(draft, 'When a post is published', {
				parameters: { ...polled, feedUrl: feed.url },
			}),
		);
		await client.activate(id);
		const known = feed.reads();
		await until('the feed was read once more', () => feed.reads() > known);
		expect(stage().simulator.requestCount).toBe(0);

		const published = new Date(Date.now() + 60_000);
		feed.posts = [
			{
				title: '🎉'.repeat(150),
				text: 'x'.repeat(400),
				link: 'https://blog.example.com/new',
				published,
			},
			{ title: 'Short', text: '', link: 'https://blog.example.com/short', published },
			old,
		];
		await until('both posts were sent', () => stage().simulator.requestCount === 2);
		await client.deactivate(id);
		expect(bodies()).toEqual([
			{
				title: '🎉'.repeat(100),
				message: 'x'.repeat(255),
				target_url: 'https://blog.example.com/new',
				name: 'New post',
			},
			{
				title: 'Short',
				message: 'Short',
				target_url: 'https://blog.example.com/short',
				name: 'New post',
			},
		]);
		const [execution] = await client.waitForExecutions({ workflowId: id });
		expect(execution?.status).toBe('success');
	} finally {
		await feed.close();
	}
});

test('weekly-ab-titles schedules both titles for the same minute and names the better one', async () => {
	const { client, simulator } = stage();
	const draft = await imported('weekly-ab-titles');
	await tryOut(draft);
	const { id } = await client.createWorkflow(
		changeNode(draft, 'Wait a day', { parameters: { amount: 8, unit: 'seconds' } }),
	);
	const run = client.runManually(id, 'Every Monday at 9:00');
	await until('both campaigns were scheduled', () => simulator.campaigns.size === 2);
	const [a, b] = [...simulator.campaigns.values()];
	for (const [{ id: campaign } = { id: '' }, clicked] of [[a, 50] as const, [b, 75] as const]) {
		simulator.setCounters(campaign, { successfully_sent: 1100, delivered: 1000, clicked });
	}
	const execution = await run;

	expect(execution.status).toBe('success');
	expect(a?.body).toMatchObject({
		title: 'This week in our shop',
		segment: ['101'],
		name: 'Weekly, title A',
	});
	expect(b?.body).toMatchObject({
		title: 'Five things you should not miss',
		segment: ['102'],
		name: 'Weekly, title B',
	});
	expect(a?.body['send_at']).toEqual(expect.any(String));
	expect(a?.body['send_at']).toBe(b?.body['send_at']);
	expect(outputOf(execution, 'The winner').map(({ json }) => json)).toEqual([
		{
			winner: 'B',
			title: 'Five things you should not miss',
			clickRate: 0.075,
			report:
				'B “Five things you should not miss”: 7.5 % (75 of 1000), A “This week in our shop”: 5.0 % (50 of 1000)',
		},
	]);
});

test('personal-notifications keeps what was not sent in a second table', async () => {
	const { client, simulator } = stage();
	const subscribers = await createTable(
		'Subscribers',
		['subscriberId', 'firstName'],
		[
			{ subscriberId: '5001', firstName: 'Ada' },
			{ subscriberId: '4999', firstName: 'Gone' },
			{ subscriberId: 'none', firstName: 'Typo' },
			{ subscriberId: '5002', firstName: 'Grace' },
		],
	);
	const failed = await createTable('Not notified', ['subscriberId', 'outcome', 'reason']);
	const draft = changeNode(
		changeNode(await imported('personal-notifications'), 'Subscribers', {
			parameters: subscribers.chosen,
		}),
		'Keep for later',
		{ parameters: failed.chosen },
	);
	const { id } = await client.createWorkflow(draft);
	const execution = await client.runManually(id, 'When clicking ‘Execute workflow’');

	expect(execution.status).toBe('success');
	expect([...simulator.campaigns.values()].map(({ body }) => body)).toMatchObject([
		{ sid: '5001', title: 'Hello Ada, your order is on its way' },
		{ sid: '5002', title: 'Hello Grace, your order is on its way' },
	]);
	expect(outputOf(execution, 'Sent').map(({ json }) => json['subscriberId'])).toEqual([
		'5001',
		'5002',
	]);
	const kept = await failed.rows();
	expect(kept.map(({ subscriberId, outcome }) => [subscriberId, outcome])).toEqual([
		['4999', 'notSent'],
		['none', 'notSent'],
	]);
	expect(kept[0]?.['reason']).toMatch(/no subscriber/);
	expect(kept[1]?.['reason']).toMatch(/Subscriber ID/);
});

test('daily-subscriber-report posts the numbers to a chat', async () => {
	const { client } = stage();
	const chat = await startChat();
	try {
		const draft = changeNode(await imported('daily-subscriber-report'), 'Post to the chat', {
			parameters: { url: chat.url },
		});
		const execution = await client.runManually(await tryOut(draft), 'Every day at 8:00');
		expect(execution.status).toBe('success');
		expect(chat.texts).toEqual(['Push subscribers today: 10000 active of 12500 in total.']);
	} finally {
		await chat.close();
	}
});

test('alert-on-clicks posts once, when the clicks reach the threshold', async () => {
	const { client, simulator } = stage();
	const chat = await startChat();
	try {
		const counters = { successfully_sent: 1100, delivered: 1000, clicked: 99 };
		simulator.addCampaign({ id: '1001', counters });
		const draft = changeNode(
			changeNode(await imported('alert-on-clicks'), 'Post to the chat', {
				parameters: { url: chat.url },
			}),
			'When clicks change',
			{ parameters: polled },
		);
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);
		await client.waitForExecutions({ workflowId: id, count: 1 });
		for (const [index, clicked] of [100, 130].entries()) {
			simulator.setCounters('1001', { clicked });
			await client.waitForExecutions({ workflowId: id, count: index + 2 });
		}
		await client.deactivate(id);
		expect(chat.texts).toEqual([
			'Campaign 1001 was clicked 100 times: 1000 notifications were delivered.',
		]);
	} finally {
		await chat.close();
	}
});

describe('ai-agent-with-approval', () => {
	const model = { title: 'Summer sale', message: 'All of it is 20% off until Sunday.' };

	/** Fills in the first page of the form, and gives the address of the second when it is there. */
	async function draftByForm(draft: WorkflowDraft): Promise<URL> {
		const { server } = stage();
		const form = draft.nodes.find(({ name }) => name === 'What is it about?');
		const answer = await submit(new URL(`${server.url}/form/${form?.webhookId ?? ''}`), [
			'Summer sale, 20% off',
			'https://example.com/sale',
		]);
		const { formWaitingUrl } = z.object({ formWaitingUrl: z.string() }).parse(await answer.json());
		const next = new URL(formWaitingUrl);
		await untilNextPage(next);
		return next;
	}

	/** Waits as the form in the browser does: a page that is asked for too early never answers. */
	async function untilNextPage(page: URL): Promise<void> {
		const status = new URL(page);
		status.pathname += '/n8n-execution-status';
		await until('the next page is there', async () => {
			const text = (await read(status)).trim();
			if (!['running', 'new', 'waiting', 'form-waiting'].includes(text)) {
				throw new Error(`The execution is ${text}`);
			}
			return text === 'form-waiting';
		});
	}

	async function read(address: URL): Promise<string> {
		const answer = await fetch(address, { signal: AbortSignal.timeout(30_000) });
		return await answer.text();
	}

	async function submit(address: URL, values: string[]): Promise<Response> {
		const body = new FormData();
		values.forEach((value, index) => {
			body.set(`field-${index}`, value);
		});
		const signal = AbortSignal.timeout(30_000);
		const answer = await fetch(address, { method: 'POST', body, signal });
		expect(answer.status).toBe(200);
		return answer;
	}

	test.each([
		{ decision: 'Send it', sent: [{ title: 'Summer sale!', message: model.message }] },
		{ decision: 'Discard it', sent: [] },
	])('$decision', async ({ decision, sent }) => {
		const { client, simulator } = stage();
		const service = await startModel(model);
		try {
			const openAi = await client.createCredential('Model', 'openAiApi', {
				apiKey: 'model-key',
				url: `${service.url}/v1`,
			});
			const draft = chooseCredential(
				await imported('ai-agent-with-approval'),
				'@n8n/n8n-nodes-langchain.lmChatOpenAi',
				openAi,
			);
			const { id } = await client.createWorkflow(draft);
			await client.activate(id);
			const page = await draftByForm(draft);

			expect(service.requests).toHaveLength(1);
			expect(service.requests[0]?.said).toContain('Summer sale, 20% off');
			expect(JSON.stringify(service.requests[0]?.tools)).not.toMatch(/push/i);
			const shown = await read(page);
			expect(shown).toContain(model.title);
			expect(shown).toContain(model.message);
			expect(simulator.requestCount).toBe(0);

			await submit(page, ['Summer sale!', model.message, decision]);
			await untilNextPage(page);
			const last = decision === 'Send it' ? 'The campaign has the ID 1001.' : 'Nothing was sent.';
			expect(await read(page)).toContain(last);
			await client.deactivate(id);
			expect(bodies()).toEqual(
				sent.map((content) => ({ ...content, target_url: 'https://example.com/sale' })),
			);
		} finally {
			await service.close();
		}
	});
});
