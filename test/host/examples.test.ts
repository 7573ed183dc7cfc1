import { DateTime } from 'luxon';
import { z } from 'zod';
import { changeField, changeNode, chooseCredential, readExample } from '../../examples/read';
import {
	chain,
	DataTables,
	node,
	outputOf,
	pollEvery,
	pushCampaign,
	until,
	type Row,
	type WorkflowDraft,
} from '../../host';
import { useStage } from './support';
import { noonTimezone } from './support/clock';
import { answerJson, serve, type LoopbackService } from './support/loopback';
import { textLike } from './support/matchers';
import { drafting, startModel } from './support/modelServer';
import { untilRequests } from './support/reliabilityWorkflow';

const stage = useStage({ major: '2', env: { GENERIC_TIMEZONE: noonTimezone } });

/** The services of a test, besides the push service. */
const services: LoopbackService[] = [];
const during = <S extends LoopbackService>(service: S): S => {
	services.push(service);
	return service;
};
afterEach(async () => {
	for (const service of services.splice(0)) await service.close();
});

/** An example after the import, with its credential chosen, that posts to the simulator's chat. */
async function imported(name: string): Promise<WorkflowDraft> {
	const { credential, simulator } = stage();
	const draft = chooseCredential(await readExample(name), 'n8n-nodes-push-campaign.', credential);
	const parameters = { url: simulator.chatUrl };
	return draft.nodes
		.filter((each) => each.name.startsWith('Post '))
		.reduce((changed, each) => changeNode(changed, each.name, { parameters }), draft);
}

const chatTexts = () =>
	stage()
		.simulator.state()
		.messages.map(({ text }) => text);

const polled = { pollTimes: pollEvery(2) };
const byHand = 'When clicking ‘Execute workflow’';

async function waitUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
	const late = () => `Waited in vain until ${what}`;
	await until(holds, (held) => held, { within: 240_000, every: 50, late });
}

async function start(draft: WorkflowDraft): Promise<string> {
	const { client } = stage();
	const { id } = await client.createWorkflow(draft);
	await client.activate(id);
	return id;
}

/** Runs a workflow by hand. */
async function run(id: string, trigger = byHand) {
	const execution = await stage().client.runManually(id, trigger);
	expect(execution.status).toBe('success');
	return execution;
}

const bodies = () => stage().simulator.requests.map(({ json }) => json);
const sent = () => [...stage().simulator.campaigns.values()].map(({ body }) => body);

/** A data table that is there. */
async function tableOf(name: string) {
	const tables = await DataTables.of(stage().client);
	const id = await tables.find(name);
	if (id === undefined) throw new Error(`There is no table ${name}`);
	return {
		rows: async () => await tables.rows(id),
		insert: async (rows: Row[]) => await tables.insert(id, rows),
		update: async (columnName: string, value: string, data: Row) => {
			const filter = { type: 'and', filters: [{ columnName, condition: 'eq', value }] };
			await stage().client.request('PATCH', `${tables.path}/${id}/rows`, { filter, data });
		},
	};
}

test('announce-rss-posts sends the newest of several new posts, once, with texts cut to the allowed length', async () => {
	const { client, simulator } = stage();
	const post = (title: string, text: string, published: number) =>
		`<item><title>${title}</title><description>${text}</description>` +
		`<link>https://blog.example.com/${title.slice(0, 4)}</link>` +
		`<pubDate>${new Date(published).toUTCString()}</pubDate></item>`;
	const old = post('Known', 'Long known', Date.UTC(2020));
	let posts = [old];
	let reads = 0;
	const feed = during(
		await serve((_request, _body, response) => {
			reads += 1;
			response.setHeader('content-type', 'application/rss+xml');
			const items = posts.join('');
			response.end(`<rss version="2.0"><channel><title>Blog</title>${items}</channel></rss>`);
		}),
	);
	const draft = await imported('announce-rss-posts');
	const parameters = { ...polled, feedUrl: feed.url };
	const id = await start(changeNode(draft, 'When a post is published', { parameters }));
	const known = reads;
	await waitUntil('the feed was read once more', () => reads > known);
	expect(simulator.requestCount).toBe(0);

	const publish = (published: number) => {
		const long = post('Word '.repeat(50).trim(), '🎉'.repeat(400), published);
		posts = [old, post('Short', '', published - 30_000), long];
	};
	publish(Date.now() + 60_000);
	await waitUntil('a post was sent', () => simulator.requestCount === 1);
	// The same posts once more, as n8n would get them after a crash or from a feed that is edited.
	publish(Date.now() + 120_000);
	await client.waitForExecutions({ workflowId: id, count: 2 });
	posts = [post('', '', Date.now() + 180_000), ...posts];
	await waitUntil('the post without a title was sent', () => simulator.requestCount === 2);
	const executions = await client.waitForExecutions({ workflowId: id, count: 3 });
	await client.deactivate(id);
	expect(bodies()).toEqual([
		{
			title: `${'Word '.repeat(19)}Word…`,
			message: `${'🎉'.repeat(254)}…`,
			target_url: 'https://blog.example.com/Word',
			name: 'New post',
		},
		{
			title: 'New on our blog',
			message: 'Read it now.',
			target_url: 'https://blog.example.com/',
			name: 'New post',
		},
	]);
	const outcomes = await Promise.all(
		executions.map(async (each) => outputOf(await client.execution(each.id), 'Send to all')),
	);
	expect(
		outcomes
			.map((items) => items.map(({ json }) => json['status']))
			.flat()
			.sort(),
	).toEqual(['alreadySent', 'success', 'success']);
});

test('weekly-ab-titles sends the title that more subscribers clicked to the rest, once a week', async () => {
	const { client, simulator } = stage();
	const draft = await imported('weekly-ab-titles');
	// As it is in the file, to test its own schedule.
	await client.deactivate(await start(draft));
	const { id } = await client.createWorkflow(changeField(draft, 'waitMinutes', 0.15));
	const running = run(id, 'Every Monday at 9:00');
	await waitUntil('both titles were sent', () => simulator.campaigns.size === 2);
	for (const { id: campaign, body } of simulator.campaigns.values()) {
		const clicked = body['title'] === 'Five things you should not miss' ? 75 : 50;
		simulator.setCounters(campaign, { successfully_sent: 1100, delivered: 1000, clicked });
	}
	const execution = await running;

	const [first, second, rest, ...more] = sent();
	expect(more).toEqual([]);
	expect([first, second].map((body) => body?.['segment']).sort()).toEqual([['102'], ['105']]);
	expect(rest).toMatchObject({
		...{ title: 'Five things you should not miss', segment: ['110'] },
		...{ message: first?.['message'], target_url: first?.['target_url'] },
	});
	expect(outputOf(execution, 'The better title').map(({ json }) => json['report'])).toEqual([
		'A: 50 of 1000 clicked, B: 75 of 1000',
	]);
	// In the same week, it sends nothing and waits for nothing.
	const again = await run(id, 'Every Monday at 9:00');
	expect(simulator.campaigns.size).toBe(3);
	expect(again.data.resultData.runData).not.toHaveProperty('Wait for clicks');
	expect(await (await tableOf('Push title tests')).rows()).toMatchObject([
		{ title: 'A', campaignId: '1001' },
		{ title: 'B', campaignId: '1002' },
	]);
});

test('the test groups of weekly-ab-titles have about the same size in the simulator', () => {
	const [a, b, rest] = ['102', '105', '110'].map(
		(segment) =>
			stage().simulator.campaign(
				stage().simulator.addCampaign({ audience: 'segment', body: { segment: [segment] } }),
			)?.audienceSize ?? 0,
	);
	expect(Number(a) / Number(b)).toBeCloseTo(1, 1);
	expect(rest).toBeGreaterThan(4 * Number(a));
});

test('personal-notifications saves what was not sent in a second table, and sends nothing twice', async () => {
	const { client } = stage();
	const tables = await DataTables.of(client);
	await tables.create({
		name: 'Push shipped orders',
		columns: { orderId: 'string', subscriberId: 'string', firstName: 'string' },
		rows: [
			{ subscriberId: '5001', firstName: 'Ada', orderId: 'A-1' },
			{ subscriberId: '4999', firstName: 'Gone', orderId: 'A-2' },
			{ subscriberId: 'none', firstName: 'Typo', orderId: 'A-3' },
			{ subscriberId: '5002', firstName: 'Grace', orderId: 'A-4' },
			{ subscriberId: '5004', firstName: 'Nothing', orderId: '' },
		],
	});
	await tables.create({
		name: 'Push not sent',
		columns: {
			...{ orderId: 'string', subscriberId: 'string', firstName: 'string' },
			...{ outcome: 'string', reason: 'string' },
		},
	});
	const { id } = await client.createWorkflow(await imported('personal-notifications'));
	const execution = await run(id);

	// Ordered here: both leave at once.
	const received = () =>
		sent()
			.map(({ sid, title }) => [sid, title])
			.sort();
	const both = [
		['5001', 'Hello Ada, your order is on its way'],
		['5002', 'Hello Grace, your order is on its way'],
	];
	expect(received()).toEqual(both);
	expect(outputOf(execution, 'Sent').map(({ json }) => json['subscriberId'])).toEqual([
		'5001',
		'5002',
	]);
	expect(await (await tableOf('Push not sent')).rows()).toMatchObject([
		{ orderId: 'A-2', firstName: 'Gone', outcome: 'notSent', reason: textLike(/no subscriber/) },
		{ orderId: 'A-3', firstName: 'Typo', outcome: 'notSent', reason: textLike(/Subscriber ID/) },
		{ orderId: '', firstName: 'Nothing', reason: textLike(/Idempotency Key/) },
	]);

	// The typing error is corrected, and all of it is run again.
	const orders = await tableOf('Push shipped orders');
	await orders.update('orderId', 'A-3', { subscriberId: '5003' });
	await run(id);
	expect(received()).toEqual([...both, ['5003', 'Hello Typo, your order is on its way']]);
});

test('daily-subscriber-report posts the numbers of today, yesterday and a week ago', async () => {
	const id = await start(await imported('daily-subscriber-report'));
	await stage().client.deactivate(id);
	const report = 'Every day at 8:00';
	const today = 'Active push subscribers today: 10,000 (of 12,500 in total).';
	await run(id, report);
	const counts = await tableOf('Push subscriber counts');
	const day = (days: number) => DateTime.now().setZone(noonTimezone).minus({ days }).toISODate();
	await counts.insert([
		{ day: day(1), active: null, total: null },
		{ day: day(7), active: 9810, total: 12_230 },
	]);
	await run(id, report);
	expect(chatTexts()).toEqual([
		`${today}\nYesterday: not known. A week ago: not known.`,
		`${today}\nYesterday: not known. A week ago: 9,810.`,
	]);
	// The second run of the day replaced the row of the first.
	expect(await counts.rows()).toHaveLength(3);
});

test("nine-in-each-timezone schedules each subscriber for tomorrow at 9:00 on the subscriber's clock", async () => {
	const { client } = stage();
	const zones = { 5001: 'Pacific/Auckland', 5002: 'America/Los_Angeles', 5003: 'Asia/Kolkata' };
	const rows = Object.entries({ ...zones, 5004: 'Mars/Olympus' });
	const tables = await DataTables.of(client);
	await tables.create({
		name: 'Push morning subscribers',
		columns: { subscriberId: 'string', firstName: 'string', timezone: 'string' },
		rows: rows.map(([subscriberId, timezone]) => ({ subscriberId, firstName: 'Ada', timezone })),
	});
	const id = await start(await imported('nine-in-each-timezone'));
	await client.deactivate(id);
	const tomorrow = (zone: string) =>
		DateTime.now()
			.setZone(zone)
			.plus({ days: 1 })
			.set({ hour: 9, minute: 0 })
			.toFormat('yyyy-MM-dd HH:mm ZZ');
	const inZones = () => Object.entries(zones).map(([sid, zone]) => `${sid} ${tomorrow(zone)}`);
	const before = inZones();
	const execution = await run(id, 'Every day at 18:00');
	const after = inZones();
	// A day may end meanwhile in one of the zones.
	const scheduled = sent()
		.map((body) => `${String(body['sid'])} ${String(body['send_at'])}`)
		.sort();
	expect(scheduled).toHaveLength(before.length);
	scheduled.forEach((each, index) => expect([before[index], after[index]]).toContain(each));
	const listed = outputOf(execution, 'Scheduled for whom').map(({ json }) => json);
	expect(listed).toMatchObject([
		{ subscriberId: '5001', firstName: 'Ada', sendAt: textLike(/ 09:00 /) },
		{ subscriberId: '5002' },
		{ subscriberId: '5003' },
	]);
	expect(outputOf(execution, 'Not scheduled: who and why').map(({ json }) => json)).toMatchObject([
		{ subscriberId: '5004', timezone: 'Mars/Olympus', reason: textLike(/./) },
	]);
	// Running it again on the same day schedules nothing twice.
	await run(id, 'Every day at 18:00');
	const renewed = inZones().filter((each, index) => each !== before[index]);
	expect(sent().length).toBeGreaterThanOrEqual(3);
	expect(sent().length).toBeLessThanOrEqual(3 + renewed.length);
});

test('alert-on-clicks posts one message when the clicks reach 100', async () => {
	const { client, simulator } = stage();
	const counters = { successfully_sent: 1300, delivered: 1200, clicked: 99 };
	simulator.addCampaign({ id: '1001', counters });
	const draft = await imported('alert-on-clicks');
	const id = await start(changeNode(draft, 'When clicks reach 100', { parameters: polled }));
	await untilRequests(stage(), 2);
	expect(await client.executions({ workflowId: id })).toEqual([]);
	simulator.setCounters('1001', { clicked: 100 });
	await client.waitForExecutions({ workflowId: id });
	simulator.setCounters('1001', { clicked: 130 });
	await untilRequests(stage(), 3);
	await client.deactivate(id);
	const reached = 'Campaign 1001 was clicked 100 times: 1,200 notifications were delivered.';
	expect(chatTexts()).toEqual([reached]);

	// Executed by hand, it shows a campaign whose numbers are not there yet.
	simulator.configure({ waitingCounters: 'null' });
	simulator.addCampaign({ id: '1002', dueAt: Date.now() + 3_600_000 });
	const parameters = { campaignIds: '1002' };
	const waiting = await client.createWorkflow(
		changeNode(draft, 'When clicks reach 100', { parameters }),
	);
	await run(waiting.id, 'When clicks reach 100');
	expect(chatTexts()).toEqual([reached, textLike(/^Campaign 1002 .* an unknown number of times/)]);
});

test('log-campaigns keeps a log, and watch-campaigns reports few clicks once and posts the week', async () => {
	const { client, simulator } = stage();
	// The clock starts none of its own while the test counts.
	const triggerAtMinute = (new Date().getMinutes() + 30) % 60;
	const draft = changeNode(await imported('watch-campaigns'), 'Every hour', {
		parameters: { rule: { interval: [{ field: 'hours', triggerAtMinute }] } },
	});
	const id = await start(await imported('log-campaigns'));
	await run(id);
	const log = await tableOf('Push campaign log');
	const first = { campaignId: '1001', title: 'This week in our shop', status: 'sent' };
	expect(await log.rows()).toMatchObject([first]);
	// The same campaign on the same day is sent and logged once.
	await run(id);
	expect(simulator.campaigns.size).toBe(1);
	expect(await log.rows()).toMatchObject([first]);

	// Another workflow sends, and has it logged here.
	const scheduled = DateTime.utc().plus({ days: 2 }).startOf('minute');
	const other = await client.createWorkflow(
		chain('Another workflow', [
			node('Start', 'n8n-nodes-base.manualTrigger'),
			pushCampaign(
				{
					operation: 'sendToSegments',
					segmentIds: '12, 34',
					title: 'Autumn sale',
					message: 'Only this week',
					targetUrl: 'https://shop.example.com/sale',
					additionalFields: { sendAt: scheduled.toISO() },
				},
				{ credential: stage().credential },
			),
			node(
				'Log it',
				'n8n-nodes-base.executeWorkflow',
				{ workflowId: { __rl: true, mode: 'id', value: id }, options: {} },
				{ typeVersion: 1.2 },
			),
		]),
	);
	await run(other.id, 'Start');
	const logged = (await log.rows())[1];
	expect(logged).toMatchObject({ campaignId: '1002', title: 'Autumn sale', status: 'scheduled' });
	expect(z.coerce.date().parse(logged?.['goesOutAt']).toISOString()).toBe(scheduled.toISO());

	const older = (campaignId: string, title: string, days: number) => ({
		...{ campaignId, title, name: '', audience: 'all', status: 'sent', alerted: false },
		goesOutAt: DateTime.utc().minus({ days }).toISO(),
	});
	const few = { successfully_sent: 1100, delivered: 1000, clicked: 12 };
	for (const campaign of ['2001', '2003']) simulator.addCampaign({ id: campaign, counters: few });
	simulator.addCampaign({ id: '2002', counters: { ...few, clicked: 61 } });
	await log.insert([
		older('2001', 'Few', 2),
		older('2002', 'Many', 3),
		older('2003', 'Last month', 20),
		older('2004', 'Unknown', 2),
	]);
	simulator.setCounters('1001', few);
	const watching = await start(draft);
	const asked = simulator.requestCount;
	await run(watching, 'Every hour');
	expect(simulator.requestCount - asked).toBe(4);
	expect(await log.rows()).toMatchObject([
		{ status: 'Sent', clicked: 12, alerted: false },
		{ status: 'scheduled', clicked: null, alerted: false },
		{ status: 'Sent', clicked: 12, alerted: true },
		{ status: 'Sent', clicked: 61, alerted: false },
		{ status: 'sent', clicked: null, alerted: false },
		{ status: textLike(/^not read: ./), clicked: null, alerted: false },
	]);
	await run(watching, 'Every hour');
	await run(watching, 'Every Monday at 9:00');
	for (const each of [id, watching]) await client.deactivate(each);
	expect(chatTexts()).toEqual([
		'“Few” (campaign 2001) was clicked by 1.2% only: 12 of 1000.',
		[
			'Push campaigns of the last seven days: 4',
			'“Many”: 6.1% clicked (61 of 1000)',
			'“This week in our shop”: 1.2% clicked (12 of 1000)',
			'“Few”: 1.2% clicked (12 of 1000)',
			'“Unknown”: no numbers yet',
		].join('\n'),
	]);
});

test('campaign-calendar schedules rows that are due, saves why one is not, and sends no row twice', async () => {
	const id = await start(await imported('campaign-calendar'));
	await stage().client.deactivate(id);
	await run(id);
	const calendar = await tableOf('Push campaign calendar');
	const timezone = 'Asia/Kolkata';
	const inHours = (hours: number) =>
		DateTime.now().setZone(timezone).plus({ hours }).toFormat('yyyy-MM-dd HH:mm');
	const row = (title: string, sendAt: string) => ({
		...{ title, message: 'Have a look', url: 'https://shop.example.com/sale', sendAt },
		timezone,
	});
	const [soon, corrected] = [inHours(3), inHours(5)];
	await calendar.insert([
		row('Soon', soon),
		row('Next week', inHours(7 * 24)),
		row('Late', inHours(-2)),
		row('Typo', 'tomorrow'),
	]);
	const schedules = () => sent().map((body) => [body['title'], body['send_at']]);

	await run(id, 'Every hour');
	expect(schedules()).toEqual([['Soon', `${soon} +05:30`]]);
	expect(await calendar.rows()).toMatchObject([
		{ state: 'scheduled', campaignId: '1001' },
		{ state: null },
		{ state: textLike(/^notSent: Send At is .* in the past/) },
		{ state: textLike(/^notSent: Send At can't be read/) },
	]);

	await calendar.update('title', 'Late', { sendAt: corrected });
	await calendar.update('title', 'Soon', { state: '' });
	await run(id, 'Every hour');
	expect(schedules().slice(1)).toEqual([['Late', `${corrected} +05:30`]]);
	const states = (await calendar.rows()).map(({ state }) => state);
	expect(states.slice(0, 3)).toEqual(['scheduled earlier', null, 'scheduled']);
});

test('abandoned-cart sends one reminder of a cart that is still open', async () => {
	const { client } = stage();
	const carts = new Map([
		['c/1', 'open'],
		['c/2', 'ordered'],
	]);
	const shop = during(
		await serve(({ url = '' }, _body, response) => {
			const status = carts.get(decodeURIComponent(url.replace('/api/carts/', '')));
			answerJson(response, { status }, status === undefined ? 404 : 200);
		}),
	);
	const draft = changeNode(await imported('abandoned-cart'), 'Wait an hour', {
		parameters: { amount: 1, unit: 'seconds' },
	});
	const id = await start(
		changeNode(draft, 'Check the cart', {
			parameters: { url: `=${shop.url}/api/carts/{{ encodeURIComponent($json.body.cartId) }}` },
		}),
	);
	const left = { subscriberId: '5001', product: 'the blue coat' };
	for (const cartId of ['c/1', 'c/2', 'c/1']) {
		const answer = await client.runWebhook('abandoned-cart', { cartId, ...left });
		expect(answer.status).toBe(200);
	}
	const executions = await client.waitForExecutions({ workflowId: id, count: 3 });
	await client.deactivate(id);
	expect(executions.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
	expect(sent()).toEqual([
		{
			sid: '5001',
			title: 'Still thinking about the blue coat?',
			message: 'We saved your cart for you. One click and you are back.',
			target_url:
				'https://shop.example.com/cart/c%2F1?utm_source=push&utm_medium=web-push&utm_campaign=abandoned-cart',
			expire_push: '1d',
		},
	]);
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

/** The address of the form that starts a workflow, by its node's name. */
function formOf(draft: WorkflowDraft, name: string): URL {
	const form = draft.nodes.find((each) => each.name === name);
	return new URL(`${stage().server.url}/form/${form?.webhookId ?? ''}`);
}

const botMessageSchema = z.object({
	text: z.string(),
	reply_markup: z
		.object({
			inline_keyboard: z.array(z.array(z.object({ text: z.string(), url: z.string() }))),
		})
		.optional(),
});

test.each([
	{ button: '✅ Send it', confirmations: ['It is on its way: campaign 1001.'] },
	{ button: '❌ Discard it', confirmations: [] },
])('approval-in-chat sends only what is approved: $button', async ({ button, confirmations }) => {
	const { client } = stage();
	const messages: Array<z.infer<typeof botMessageSchema>> = [];
	const telegram = during(
		await serve(({ url = '' }, body, response) => {
			if (!/^\/bot[^/]+\/sendMessage$/.test(url)) {
				answerJson(response, { ok: false, error_code: 404, description: 'Not Found' }, 404);
				return;
			}
			messages.push(botMessageSchema.parse(JSON.parse(body)));
			answerJson(response, { ok: true, result: { message_id: messages.length } });
		}),
	);
	const access = { accessToken: '1:bot-token', baseUrl: telegram.url };
	const bot = await client.createCredential('Bot', 'telegramApi', access);
	const draft = chooseCredential(
		await imported('approval-in-chat'),
		'n8n-nodes-base.telegram',
		bot,
	);
	const id = await start(draft);
	const written = ['Summer *sale*', 'All of new_arrivals & more', 'https://shop.example.com/sale'];
	await submitForm(formOf(draft, 'When a notification is written'), written);
	await waitUntil('the chat was asked', () => messages.length === 1);
	const [question] = messages;
	expect(question?.text).toBe(
		'To 10,000 subscribers?\n\n*Summer \\*sale\\**\nAll of new\\_arrivals & more\nhttps://shop.example.com/sale',
	);
	const buttons = question?.reply_markup?.inline_keyboard.flat() ?? [];
	expect(buttons.map(({ text }) => text)).toEqual(['❌ Discard it', '✅ Send it']);
	await client.waitForExecutions({ workflowId: id, status: ['waiting'], ended: false });
	expect(sent()).toEqual([]);

	const clicked = await fetch(buttons.find(({ text }) => text === button)?.url ?? '', {
		headers: { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' },
	});
	expect(clicked.status).toBe(200);
	const [execution] = await client.waitForExecutions({ workflowId: id });
	await client.deactivate(id);
	expect(execution?.status).toBe('success');
	expect(messages.slice(1).map(({ text }) => text)).toEqual(confirmations);
	const [title, message, target_url] = written;
	expect(sent()).toEqual(confirmations.map(() => ({ title, message, target_url })));
});

async function read(address: URL): Promise<string> {
	const get = async () => await fetch(address, { signal: AbortSignal.timeout(30_000) });
	// A kept connection that n8n ends in the moment in which it is used again says nothing of the page.
	const answer = await get().catch(get);
	return await answer.text();
}

/** Waits as the form in the browser does: a page that is asked for too early never answers. */
async function untilNextPage(page: URL): Promise<void> {
	const status = new URL(`${page.pathname}/n8n-execution-status${page.search}`, page);
	await waitUntil('the next page is there', async () => {
		const text = (await read(status)).trim();
		if (!['running', 'new', 'waiting', 'form-waiting'].includes(text)) {
			throw new Error(`The execution is ${text}`);
		}
		return text === 'form-waiting';
	});
}

test.each([
	{ decision: 'Send it', sends: true, last: 'The campaign has the ID 1001.' },
	{ decision: 'Discard it', sends: false, last: 'Nothing was sent.' },
])(
	'ai-agent-with-approval sends only what a person approves: $decision',
	async ({ decision, sends, last }) => {
		const { client } = stage();
		const title = 'Summer sale';
		const message = 'All of it is 20% off until Sunday.';
		const service = during(await startModel(drafting({ title, message })));
		const access = { apiKey: 'model-key', url: service.url };
		const model = await client.createCredential('Model', 'openAiApi', access);
		const draft = chooseCredential(
			await imported('ai-agent-with-approval'),
			'@n8n/n8n-nodes-langchain.lmChatOpenAi',
			model,
		);
		const id = await start(draft);
		const target_url = 'https://example.com/sale';
		const brief = ['Summer sale, 20% off', target_url];
		const page = await openForm(draft, 'When a topic is written', brief);

		expect(service.requests).toHaveLength(1);
		expect(JSON.stringify(service.requests[0]?.messages)).toContain('Summer sale, 20% off');
		expect(JSON.stringify(service.requests[0]?.tools)).not.toMatch(/push/i);
		const shown = await read(page);
		expect(shown).toContain(title);
		expect(shown).toContain(message);
		expect(shown).toContain('10,000 subscribers get it');
		expect(sent()).toEqual([]);

		await submitForm(page, ['Summer sale!', message, decision]);
		await untilNextPage(page);
		expect(await read(page)).toContain(last);
		await client.deactivate(id);
		expect(sent()).toEqual(sends ? [{ title: 'Summer sale!', message, target_url }] : []);
	},
);

/** Opens the form that starts a workflow and submits it; gives the address of its next page. */
async function openForm(draft: WorkflowDraft, name: string, values: string[]): Promise<URL> {
	const answer = await submitForm(formOf(draft, name), values);
	const { formWaitingUrl } = z.object({ formWaitingUrl: z.string() }).parse(await answer.json());
	const page = new URL(formWaitingUrl);
	await untilNextPage(page);
	return page;
}

const notification = ['Summer sale', 'All of it is 20% off.', 'https://example.com/sale'];
const [title, message, target_url] = notification;

test.each([
	{ decision: 'Send it', audiences: ['sid', 'all'], last: 'The campaign has the ID 1001.' },
	{ decision: 'Discard it', audiences: ['sid'], last: 'Nobody but you got it.' },
])('send-to-me-first asks me before everybody gets it: $decision', async (row) => {
	const { client, simulator } = stage();
	const draft = await imported('send-to-me-first');
	const id = await start(draft);
	const page = await openForm(draft, 'When a notification is written', notification);
	expect(sent()).toEqual([{ sid: '5001', title, message, target_url }]);
	expect(await read(page)).toMatch(
		/Summer sale[^]*All of it is 20% off\.[^]*10,000 subscribers do/,
	);
	await submitForm(page, [row.decision]);
	await untilNextPage(page);
	expect(await read(page)).toContain(row.last);
	await client.deactivate(id);
	const audiences = [...simulator.campaigns.values()].map(({ audience }) => audience);
	expect(audiences).toEqual(row.audiences);
});

test('one-push-a-day sends a subscriber one notification a day, whoever else gets one', async () => {
	const { client } = stage();
	const draft = await imported('one-push-a-day');
	const id = await start(draft);
	const shown: string[] = [];
	for (const subscriber of ['5001', '5001', '5002']) {
		const values = [subscriber, ...notification];
		const page = await openForm(draft, 'When a notification is written', values);
		shown.push(/Subscriber \d+ [a-z ]+/.exec(await read(page))?.[0] ?? '');
	}
	await client.deactivate(id);
	expect(shown).toEqual([
		'Subscriber 5001 gets it now',
		'Subscriber 5001 has had a notification today',
		'Subscriber 5002 gets it now',
	]);
	expect(sent().map(({ sid }) => sid)).toEqual(['5001', '5002']);
});

test.each([
	{ name: 'send-to-me-first', form: 'When a notification is written', before: [] },
	{ name: 'one-push-a-day', form: 'When a notification is written', before: ['5001'] },
])('$name shows on its form why a notification was refused', async ({ name, form, before }) => {
	const draft = await imported(name);
	const id = await start(draft);
	const page = await openForm(draft, form, [...before, 'Sale', 'Now', 'shop.example.com']);
	const shown = await read(page);
	await stage().client.deactivate(id);
	expect(shown).toContain('Not sent');
	expect(shown).toMatch(/Target URL[^]*shop\.example\.com/);
	expect(sent()).toEqual([]);
});

test('languages sends each text to those who read it, and a second time only what was not sent', async () => {
	const { simulator } = stage();
	const { id } = await stage().client.createWorkflow(await imported('languages'));
	simulator.addFault({
		match: { bodyIncludes: 'soldes' },
		action: { kind: 'failure', description: 'Something went wrong', status: 503 },
		times: 1,
	});
	const failed = await stage().client.runManually(id, byHand);
	expect(failed.status).toBe('error');
	await run(id);
	const read = sent().map((body) => [body['attribute'], body['target_url']]);
	expect(read.sort()).toEqual(
		['en', 'de', 'fr']
			.map((language) => [{ language }, `https://example.com/${language}/sale`])
			.sort(),
	);
});
