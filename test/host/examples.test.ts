import { DateTime } from 'luxon';
import { z } from 'zod';
import { changeNode, chooseCredential, readExample } from '../../examples/read';
import {
	chain,
	DataTables,
	node,
	outputOf,
	pollEvery,
	pushCampaign,
	until,
	type DataTable,
	type WorkflowDraft,
} from '../../host';
import { useStage } from './support';
import { startChat, startFeed, startShop, startTelegram } from './support/loopbackServices';
import { drafting, startModel } from './support/modelServer';
import { untilRequests } from './support/reliabilityWorkflow';

const stage = useStage({ major: '2' });

/** An example as it is after the import, with the credential chosen in the package's nodes. */
const imported = async (name: string): Promise<WorkflowDraft> =>
	chooseCredential(await readExample(name), 'n8n-nodes-push-campaign.', stage().credential);

const polled = { pollTimes: pollEvery(5) };

async function waitUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
	const late = () => `Waited in vain until ${what}`;
	await until(holds, (held) => held, { within: 240_000, every: 50, late });
}

/** Switches the workflow on as it is in the file, so that its own schedule is tried, and off again. */
async function tryOut(draft: WorkflowDraft): Promise<string> {
	const { client } = stage();
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	await client.deactivate(id);
	return id;
}

/** The `status` of each item that a node put out. */
async function statusesOf(executionId = '', nodeName: string): Promise<unknown[]> {
	const execution = await stage().client.execution(executionId);
	return outputOf(execution, nodeName).map(({ json }) => json['status']);
}

const bodies = () => stage().simulator.requests.map(({ json }) => json);

/** What a user does before an example runs: makes a data table. One of an earlier test goes. */
async function makeTable(table: DataTable) {
	const tables = await DataTables.of(stage().client);
	await tables.remove(table.name);
	const id = await tables.create(table);
	return { id, tables, rows: async () => await tables.rows(id) };
}

/** The table that an example made by itself. */
async function tableOf(name: string) {
	const tables = await DataTables.of(stage().client);
	const id = await tables.find(name);
	if (id === undefined) throw new Error(`There is no table ${name}`);
	return { id, tables, rows: async () => await tables.rows(id) };
}

test('announce-rss-posts sends each new post once, shortened to what the service takes', async () => {
	const { client, simulator } = stage();
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
		await waitUntil('the feed was read once more', () => feed.reads() > known);
		expect(simulator.requestCount).toBe(0);

		const published = new Date(Date.now() + 60_000);
		const long = {
			title: 'Word '.repeat(50).trim(),
			text: '🎉'.repeat(400),
			link: 'https://blog.example.com/new',
			published,
		};
		const short = { title: 'Short', text: '', link: 'https://blog.example.com/short', published };
		feed.posts = [long, short, old];
		await waitUntil('both posts were sent', () => simulator.requestCount === 2);

		// The same posts once more, as n8n would get them after a crash or from a feed that is edited.
		const again = new Date(Date.now() + 120_000);
		feed.posts = [{ ...long, published: again }, { ...short, published: again }, old];
		await client.waitForExecutions({ workflowId: id, count: 2 });
		await client.deactivate(id);
		expect(bodies()).toEqual([
			{
				title: `${'Word '.repeat(19)}Word…`,
				message: `${'🎉'.repeat(254)}…`,
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
		const [second, first] = await client.waitForExecutions({ workflowId: id, count: 2 });
		expect([first?.status, second?.status]).toEqual(['success', 'success']);
		expect(await statusesOf(second?.id, 'Send to all')).toEqual(['alreadySent', 'alreadySent']);
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
	await waitUntil('both campaigns were scheduled', () => simulator.campaigns.size === 2);
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
				'B “Five things you should not miss”: 7.5% (75 of 1000), A “This week in our shop”: 5.0% (50 of 1000)',
		},
	]);
});

test('personal-notifications keeps what was not sent in a second table, and sends nothing twice', async () => {
	const { client, simulator } = stage();
	const subscribers = await makeTable({
		name: 'Push subscribers',
		columns: { subscriberId: 'string', firstName: 'string', orderId: 'string' },
		rows: [
			{ subscriberId: '5001', firstName: 'Ada', orderId: 'A-1' },
			{ subscriberId: '4999', firstName: 'Gone', orderId: 'A-2' },
			{ subscriberId: 'none', firstName: 'Typo', orderId: 'A-3' },
			{ subscriberId: '5002', firstName: 'Grace', orderId: 'A-4' },
		],
	});
	const failed = await makeTable({
		name: 'Push not sent',
		columns: { subscriberId: 'string', outcome: 'string', reason: 'string' },
	});
	const { id } = await client.createWorkflow(await imported('personal-notifications'));
	const run = async () => await client.runManually(id, 'When clicking ‘Execute workflow’');
	const execution = await run();

	expect(execution.status).toBe('success');
	const sent = () => [...simulator.campaigns.values()].map(({ body }) => body);
	expect(sent()).toMatchObject([
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

	// The typing error is corrected, and all of it is run again.
	await subscribers.tables.update(subscribers.id, 'orderId', 'A-3', { subscriberId: '5003' });
	await run();
	expect(sent().map(({ sid }) => sid)).toEqual(['5001', '5002', '5003']);
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
			'When clicks reach a number',
			{ parameters: polled },
		);
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);
		await untilRequests(stage(), 2);
		expect(await client.executions({ workflowId: id })).toEqual([]);
		simulator.setCounters('1001', { clicked: 100 });
		await client.waitForExecutions({ workflowId: id, count: 1 });
		simulator.setCounters('1001', { clicked: 130 });
		await untilRequests(stage(), 3);
		await client.deactivate(id);
		expect(chat.texts).toEqual([
			'Campaign 1001 was clicked 100 times: 1000 notifications were delivered.',
		]);
	} finally {
		await chat.close();
	}
});

test('log-and-watch-campaigns keeps the log, tells of few clicks once, and reports the week', async () => {
	const { client, simulator } = stage();
	const chat = await startChat();
	try {
		let draft = await imported('log-and-watch-campaigns');
		for (const name of ['Post the alert', 'Post the week']) {
			draft = changeNode(draft, name, { parameters: { url: chat.url } });
		}
		// The clock starts none of its own while the test counts.
		const triggerAtMinute = (new Date().getMinutes() + 30) % 60;
		draft = changeNode(draft, 'Every hour', {
			parameters: { rule: { interval: [{ field: 'hours', triggerAtMinute }] } },
		});
		const { id } = await client.createWorkflow(draft);
		const click = async () => await client.runManually(id, 'When clicking ‘Execute workflow’');
		expect((await click()).status).toBe('success');
		const log = await tableOf('Push campaign log');
		const rows = async () =>
			(await log.rows()).map(({ campaignId, title, status, clicked, clickRate, alerted }) => ({
				...{ campaignId, title, status, clicked, clickRate, alerted },
			}));
		const none = { clicked: null, clickRate: null, alerted: false };
		const sent = { campaignId: '1001', title: 'This week in our shop', status: 'sent', ...none };
		expect(await rows()).toEqual([sent]);

		// The same campaign on the same day is sent and logged once.
		expect((await click()).status).toBe('success');
		expect(simulator.campaigns.size).toBe(1);
		expect(await rows()).toEqual([sent]);

		// Another workflow sends, and has it logged here.
		await tryOut(draft);
		await client.activate(id);
		const scheduled = DateTime.utc().plus({ days: 2 }).startOf('minute');
		await logFromAnotherWorkflow(id, scheduled);
		expect((await rows())[1]).toEqual({
			...{ campaignId: '1002', title: 'Autumn sale', status: 'scheduled', ...none },
		});
		const goesOutAt = z.coerce.date().parse((await log.rows())[1]?.['goesOutAt']);
		expect(goesOutAt.toISOString()).toBe(scheduled.toISO());

		const daysAgo = (days: number) => DateTime.utc().minus({ days }).toISO();
		const older = (campaignId: string, title: string, days: number) => ({
			...{ campaignId, title, name: '', audience: 'all', status: 'sent', alerted: false },
			goesOutAt: daysAgo(days),
		});
		const few = { successfully_sent: 1100, delivered: 1000, clicked: 12 };
		for (const campaign of ['2001', '2003']) simulator.addCampaign({ id: campaign, counters: few });
		simulator.addCampaign({ id: '2002', counters: { ...few, clicked: 61 } });
		await log.tables.insert(log.id, [
			older('2001', 'Few', 2),
			older('2002', 'Many', 3),
			older('2003', 'Last month', 20),
			older('2004', 'Unknown', 2),
		]);
		simulator.setCounters('1001', few);
		const asked = simulator.requestCount;
		const hour = async () => await client.runManually(id, 'Every hour');
		expect((await hour()).status).toBe('success');
		expect(simulator.requestCount - asked).toBe(4);
		expect(
			(await rows()).map(({ status, clicked, alerted }) => [status, clicked, alerted]),
		).toEqual([
			['Sent', 12, false],
			['scheduled', null, false],
			['Sent', 12, true],
			['Sent', 61, false],
			['sent', null, false],
			[expect.stringMatching(/^not read: ./), null, false],
		]);
		const alert = '“Few” (campaign 2001) was clicked by 1.2% only: 12 of 1000.';
		expect(chat.texts).toEqual([alert]);
		await hour();
		expect(chat.texts).toEqual([alert]);

		expect((await client.runManually(id, 'Every Monday at 9:00')).status).toBe('success');
		expect(chat.texts[1]?.split('\n')).toEqual([
			'Push campaigns of the last seven days: 4',
			'“Many”: 6.1% clicked (61 of 1000)',
			'“This week in our shop”: 1.2% clicked (12 of 1000)',
			'“Few”: 1.2% clicked (12 of 1000)',
			'“Unknown”: no numbers yet',
		]);
		await client.deactivate(id);
	} finally {
		await chat.close();
	}
});

/** Schedules a campaign in a workflow of its own, and has it logged by the workflow `id`. */
async function logFromAnotherWorkflow(id: string, sendAt: DateTime): Promise<void> {
	const { client, credential } = stage();
	const start = 'Start';
	const { id: other } = await client.createWorkflow(
		chain('Another workflow', [
			node(start, 'n8n-nodes-base.manualTrigger'),
			pushCampaign(
				{
					operation: 'sendToSegments',
					segmentIds: '12, 34',
					title: 'Autumn sale',
					message: 'Only this week',
					targetUrl: 'https://shop.example.com/sale',
					additionalFields: { sendAt: sendAt.toISO() },
				},
				{ credential },
			),
			node(
				'Log it',
				'n8n-nodes-base.executeWorkflow',
				{ workflowId: { __rl: true, mode: 'id', value: id }, options: {} },
				{ typeVersion: 1.2 },
			),
		]),
	);
	expect((await client.runManually(other, start)).status).toBe('success');
}

test('campaign-calendar hands over what is due, says why not, and sends no row twice', async () => {
	const { client, simulator } = stage();
	const draft = await imported('campaign-calendar');
	await tryOut(draft);
	const { id } = await client.createWorkflow(draft);
	await client.runManually(id, 'When clicking ‘Execute workflow’');
	const calendar = await tableOf('Push campaign calendar');
	const zone = 'Asia/Kolkata';
	const at = (hours: number) => DateTime.now().setZone(zone).plus({ hours }).startOf('minute');
	const row = (title: string, sendAt: string) => ({
		...{ title, message: 'Have a look', url: 'https://shop.example.com/sale', sendAt },
		timezone: zone,
	});
	const written = (time: DateTime) => time.toFormat('yyyy-MM-dd HH:mm');
	const [soon, corrected] = [at(3), at(5)];
	await calendar.tables.insert(calendar.id, [
		row('Soon', written(soon)),
		row('Next week', written(at(7 * 24))),
		row('Late', written(at(-2))),
		row('Typo', 'tomorrow'),
	]);
	const hour = async () => await client.runManually(id, 'Every hour');
	const states = async () => (await calendar.rows()).map(({ state }) => state);
	const schedules = () =>
		[...simulator.campaigns.values()].map(({ body }) => [body['title'], body['send_at']]);

	expect((await hour()).status).toBe('success');
	expect(schedules()).toEqual([['Soon', `${written(soon)} +05:30`]]);
	expect(await states()).toEqual([
		'scheduled',
		null,
		expect.stringMatching(/^notSent: Send At is .* in the past/),
		expect.stringMatching(/^notSent: Send At can't be read/),
	]);
	expect((await calendar.rows())[0]?.['campaignId']).toBe('1001');

	await calendar.tables.update(calendar.id, 'title', 'Late', { sendAt: written(corrected) });
	await calendar.tables.update(calendar.id, 'title', 'Soon', { state: '' });
	expect((await hour()).status).toBe('success');
	expect(schedules().slice(1)).toEqual([['Late', `${written(corrected)} +05:30`]]);
	expect((await states()).slice(0, 3)).toEqual(['scheduled earlier', null, 'scheduled']);
});

test('abandoned-cart reminds of a cart that is still open, once', async () => {
	const { client, simulator } = stage();
	const shop = await startShop();
	try {
		let draft = await imported('abandoned-cart');
		draft = changeNode(draft, 'Wait an hour', { parameters: { amount: 1, unit: 'seconds' } });
		draft = changeNode(draft, 'Check the cart', {
			parameters: { url: `=${shop.url}/api/carts/{{ encodeURIComponent($json.body.cartId) }}` },
		});
		const { id } = await client.createWorkflow(draft);
		await client.activate(id);
		shop.carts.set('c/1', 'open').set('c/2', 'ordered');
		const left = { subscriberId: '5001', product: 'the blue coat' };
		for (const cartId of ['c/1', 'c/2', 'c/1']) {
			const answer = await client.runWebhook('abandoned-cart', { cartId, ...left });
			expect(answer.status).toBe(200);
		}
		const executions = await client.waitForExecutions({ workflowId: id, count: 3 });
		await client.deactivate(id);
		expect(executions.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
		expect(simulator.campaigns.size).toBe(1);
		expect([...simulator.campaigns.values()][0]?.body).toEqual({
			sid: '5001',
			title: 'Still thinking about the blue coat?',
			message: 'We saved your cart for you. One click and you are back.',
			target_url:
				'https://shop.example.com/cart/c%2F1?utm_source=push&utm_medium=web-push&utm_campaign=abandoned-cart',
			expire_push: '1d',
		});
	} finally {
		await shop.close();
	}
});

describe('approval-in-chat', () => {
	const written = {
		title: 'Summer *sale*',
		message: 'All of new_arrivals & more',
		url: 'https://shop.example.com/sale',
	};

	test.each([
		{ button: '✅ Send it', told: ['It is on its way: campaign 1001.'] },
		{ button: '❌ Discard it', told: [] },
	])('$button', async ({ button, told }) => {
		const { client, server, simulator } = stage();
		const telegram = await startTelegram();
		try {
			const bot = await client.createCredential('Bot', 'telegramApi', {
				accessToken: '1:bot-token',
				baseUrl: telegram.url,
			});
			const draft = chooseCredential(
				await imported('approval-in-chat'),
				'n8n-nodes-base.telegram',
				bot,
			);
			const { id } = await client.createWorkflow(draft);
			await client.activate(id);
			const form = draft.nodes.find(({ name }) => name === 'Write a notification');
			await submitForm(new URL(`${server.url}/form/${form?.webhookId ?? ''}`), [
				written.title,
				written.message,
				written.url,
			]);
			await waitUntil('the chat was asked', () => telegram.messages.length === 1);
			const [question] = telegram.messages;
			expect(question?.text).toBe(
				'To all subscribers?\n\n*Summer \\*sale\\**\nAll of new\\_arrivals & more\nhttps://shop.example.com/sale',
			);
			expect(Object.keys(question?.buttons ?? {})).toEqual(['❌ Discard it', '✅ Send it']);
			await client.waitForExecutions({ workflowId: id, status: ['waiting'], ended: false });
			expect(simulator.requestCount).toBe(0);

			const clicked = await fetch(question?.buttons[button] ?? '', {
				headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' },
			});
			expect(clicked.status).toBe(200);
			const [execution] = await client.waitForExecutions({ workflowId: id });
			await client.deactivate(id);
			expect(execution?.status).toBe('success');
			expect(telegram.messages.slice(1).map(({ text }) => text)).toEqual(told);
			const { title, message, url } = written;
			expect(bodies()).toEqual(told.map(() => ({ title, message, target_url: url })));
		} finally {
			await telegram.close();
		}
	});
});

/** Fills in the page of a form that is open at an address. */
async function submitForm(address: URL, values: string[]): Promise<Response> {
	const body = new FormData();
	values.forEach((value, index) => {
		body.set(`field-${index}`, value);
	});
	const signal = AbortSignal.timeout(30_000);
	const answer = await fetch(address, { method: 'POST', body, signal });
	expect(answer.status).toBe(200);
	return answer;
}

describe('ai-agent-with-approval', () => {
	const model = { title: 'Summer sale', message: 'All of it is 20% off until Sunday.' };

	/** Fills in the first page of the form, and gives the address of the second when it is there. */
	async function draftByForm(draft: WorkflowDraft): Promise<URL> {
		const { server } = stage();
		const form = draft.nodes.find(({ name }) => name === 'What is it about?');
		const answer = await submitForm(new URL(`${server.url}/form/${form?.webhookId ?? ''}`), [
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
		await waitUntil('the next page is there', async () => {
			const text = (await read(status)).trim();
			if (!['running', 'new', 'waiting', 'form-waiting'].includes(text)) {
				throw new Error(`The execution is ${text}`);
			}
			return text === 'form-waiting';
		});
	}

	async function read(address: URL): Promise<string> {
		const get = async () => await fetch(address, { signal: AbortSignal.timeout(30_000) });
		// A kept connection that n8n ends in the moment in which it is used again says nothing of the page.
		const answer = await get().catch(get);
		return await answer.text();
	}

	test.each([
		{ decision: 'Send it', sent: [{ title: 'Summer sale!', message: model.message }] },
		{ decision: 'Discard it', sent: [] },
	])('$decision', async ({ decision, sent }) => {
		const { client, simulator } = stage();
		const service = await startModel(drafting(model));
		try {
			const openAi = await client.createCredential('Model', 'openAiApi', {
				apiKey: 'model-key',
				url: service.url,
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
			expect(JSON.stringify(service.requests[0]?.messages)).toContain('Summer sale, 20% off');
			expect(JSON.stringify(service.requests[0]?.tools)).not.toMatch(/push/i);
			const shown = await read(page);
			expect(shown).toContain(model.title);
			expect(shown).toContain(model.message);
			expect(simulator.requestCount).toBe(0);

			await submitForm(page, ['Summer sale!', model.message, decision]);
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
