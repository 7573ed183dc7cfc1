import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { NodeError } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { ProcessedData } from '../../support/processedData';
import {
	created,
	credential,
	databaseWith,
	executeFunctions,
	failure,
	lost,
	type ExecuteOptions,
	type Service,
	withExpressions,
} from './support';

// Where the rules of sends meet: site, credential, expression, key, Retry, Retry On Fail, an agent's tool, Resend
// Unknown. What n8n does in each case (which execution ID, what it keeps) is shown in test/host.

afterEach(() => void jest.restoreAllMocks());

const content = { operation: 'sendToAll', message: 'Today', targetUrl: 'https://shop.example' };

/** An item with this title and idempotency key. */
const item = (title: string, key?: string): INodeExecutionData => ({ json: { title, key } });
const keyed = { idempotencyKey: '={{ $json.key }}' };
const resendUnknown = true;

interface Try extends ExecuteOptions {
	readonly options?: INodeParameters;
	/** The service's answers to sends of these titles; each other one is accepted. */
	readonly answers?: Readonly<Record<string, Service>>;
}

const ended = z.object({ status: z.string().default('dryRun') });

function titleOf({ body }: { body?: unknown }): string {
	const [, title = ''] = typeof body === 'string' ? (/"title":"([^"]*)"/.exec(body) ?? []) : [];
	return title;
}

/** What the service is asked in one try of an execution, and how the items end. */
async function runOnce({ answers = {}, options = {}, ...rest }: Try) {
	const titles: string[] = [];
	const { context, asked } = executeFunctions({
		parameters: {
			...content,
			title: '={{ $json.title }}',
			options: { maxParallel: 1, ...options },
		},
		service: async (request) => {
			const title = titleOf(request);
			titles.push(title);
			return (await answers[title]?.(request)) ?? created(1000 + titles.length);
		},
		...rest,
	});
	try {
		const [items = []] = await new PushCampaign().execute.call(context);
		const ends = items.map(({ json }) => ended.parse(json).status);
		return { titles: titles.join(' '), ends: ends.join(' '), asked, error: undefined };
	} catch (error) {
		if (!(error instanceof NodeError)) throw error;
		return { titles: titles.join(' '), ends: '', asked, error };
	}
}

/** Runs the tries of one workflow one after another, in what n8n keeps for it. */
async function runTries(...tries: readonly Try[]) {
	const kept = {};
	const database = new ProcessedData();
	const came = [];
	for (const each of tries) came.push(await runOnce({ kept, database, ...each }));
	return came;
}
const titlesOf = async (...tries: readonly Try[]) =>
	(await runTries(...tries)).map(({ titles }) => titles);

const retryOf = (options: Try, executionId = '11'): Try => ({ ...options, executionId });

describe('Resend Unknown', () => {
	const a: Try = { items: [item('a')], options: { resendUnknown }, answers: { a: lost } };

	test('sends once in each execution what is lost again and again', async () => {
		const retry = retryOf(a);
		const titles = await titlesOf(a, a, a, retry, retry, retryOf(a, '12'));
		expect(titles).toEqual(['a', '', '', 'a', '', 'a']);
	});

	const two: Try = {
		items: [item('a', 'k'), item('b', 'k')],
		options: { ...keyed, resendUnknown },
		answers: { a: lost },
	};

	test('does not send under a key that another item of the execution left unknown', async () => {
		expect(await titlesOf(two, two)).toEqual(['a', '']);
		expect(await titlesOf(two, retryOf(two))).toEqual(['a', 'a']);
	});

	test('does not send under a key that another run of the node in a loop left unknown', async () => {
		const [first, second] = [
			{ ...two, runIndex: 0 },
			{ ...two, runIndex: 1 },
		];
		expect(await titlesOf(first, second)).toEqual(['a', '']);
	});

	test('says of an item whose key another item left unknown what it says of that one', async () => {
		const [first, second] = await runTries(two, { ...two, items: [item('b', 'k')] });
		expect(second?.error?.message).toBe(first?.error?.message);
		expect(second?.error?.message).toMatch(/^It is unknown whether this was sent: the connection/);
	});

	test('sends once under a key that an earlier execution left claimed', async () => {
		const database = databaseWith({ claimed: ['k'] });
		// It waits as long as a request may take, and five seconds.
		const options = { ...two.options, timeout: 500 };
		const again: Try = { ...two, options, items: [item('a', 'k')], database };
		expect(await titlesOf(again, again)).toEqual(['a', '']);
	});

	test('sends a late item under no key that this execution left unknown', async () => {
		const late = { ...content, title: 'late', additionalFields: { sendAt: '2020-01-01T00:00Z' } };
		const options = { idempotencyKey: 'k', resendUnknown };
		const [, second] = await runTries(two, {
			items: [{ json: {} }],
			parameters: { ...late, options },
		});
		expect(second?.titles).toBe('');
		expect(second?.error?.message).toMatch(/^It is unknown/);
	});

	describe('and an agent’s tool', () => {
		const tool = { node: { type: 'n8n-nodes-push-campaign.pushCampaignTool' } };

		test('a further call of the execution does not send what one left unknown', async () => {
			const call = { ...a, ...tool };
			expect(await titlesOf(call, { ...call, runIndex: 1 })).toEqual(['a', '']);
			expect(await titlesOf(call, retryOf(call))).toEqual(['a', 'a']);
		});

		test('a further call with other content does not send under a key that one left unknown', async () => {
			const call: Try = { ...two, ...tool, items: [item('a', 'k')] };
			const other: Try = { ...call, items: [item('c', 'k')] };
			expect(await titlesOf(call, other)).toEqual(['a', '']);
			expect(await titlesOf(call, retryOf(other))).toEqual(['a', 'c']);
		});
	});
});

describe('the same send with another credential', () => {
	const a: Try = { items: [item('a')] };
	const node = (id: string) => ({ credentials: { pushCampaignApi: { id, name: `Shop ${id}` } } });
	const withKey = (apiKey: string) => ({ credentials: withExpressions({ apiKey }) });
	const tool = { type: 'n8n-nodes-push-campaign.pushCampaignTool' };
	const fixed = { parameters: { ...content, title: 'a' } };
	const rows: Array<{ name: string; first: Try; second: Try; sends: number }> = [
		{
			name: 'goes out once if its key was changed in n8n',
			first: { credentials: credential },
			second: { credentials: { ...credential, apiKey: 'renewed' } },
			sends: 1,
		},
		{
			name: 'goes out for each credential of n8n',
			first: { node: node('7') },
			second: { node: node('8') },
			sends: 2,
		},
		{
			name: 'goes out for each address',
			first: { credentials: withExpressions({ baseUrl: 'https://a.example' }) },
			second: { credentials: withExpressions({ baseUrl: 'https://b.example' }) },
			sends: 2,
		},
		{
			name: 'goes out for each key that an expression gives',
			first: withKey('a'),
			second: withKey('b'),
			sends: 2,
		},
		{
			name: 'goes out once for the same key that an expression gives',
			first: withKey('a'),
			second: withKey('a'),
			sends: 1,
		},
		{
			name: 'goes out for each key that an expression gives, if an agent makes it',
			first: { ...withKey('a'), ...fixed, node: tool },
			second: { ...withKey('b'), ...fixed, node: tool },
			sends: 2,
		},
		{
			name: 'goes out once if an agent makes it with the same key',
			first: { ...withKey('a'), ...fixed, node: tool },
			second: { ...withKey('a'), ...fixed, node: tool },
			sends: 1,
		},
	];
	test.each(rows)('$name', async ({ first, second, sends }) => {
		const retry = retryOf({ ...a, ...second });
		expect((await titlesOf({ ...a, ...first }, retry)).join('')).toBe('a'.repeat(sends));
	});

	// Found again by its source, the parameters as written and the input item, and not by its content.
	test('goes out for each key that an expression gives, also if its content changes in each try', async () => {
		const parameters = { ...content, title: '={{ $json.title }} {{ Math.random() }}' };
		const changing = (apiKey: string): Try => ({ ...a, parameters, ...withKey(apiKey) });
		const titles = await titlesOf(changing('a'), changing('a'), changing('b'));
		expect(titles.map((title) => title !== '')).toEqual([true, false, true]);
	});
});

describe('the ledger and the key of a send', () => {
	const a: Try = { items: [item('a', 'k')], options: keyed };

	test('a Retry gives the first answer again, and does not say that it was sent under its key', async () => {
		const [first, second] = await runTries(a, retryOf(a));
		expect([first?.titles, first?.ends]).toEqual(['a', 'success']);
		expect([second?.titles, second?.ends]).toEqual(['', 'success']);
	});

	test('a Retry gives the first answer again though n8n’s database does not answer', async () => {
		const same = { kept: {}, database: new ProcessedData() };
		await runOnce({ ...a, ...same });
		same.database.beforeQuery = () => {
			throw new Error('Locked');
		};
		expect((await runOnce({ ...retryOf(a), ...same })).ends).toBe('success');
	});

	test('two equal calls of an agent at the same time get one answer, and neither is sent earlier', async () => {
		const call: Try = { ...a, node: { type: 'n8n-nodes-push-campaign.pushCampaignTool' } };
		const same = { kept: {}, database: new ProcessedData() };
		const came = await Promise.all(
			[call, call].map(async (each) => await runOnce({ ...each, ...same })),
		);
		expect(came.map(({ titles }) => titles).join('')).toBe('a');
		expect(came.map(({ ends }) => ends)).toEqual(['success', 'success']);
	});

	test('a new execution says that it was sent under its key', async () => {
		const [, second] = await runTries(a, { ...a, executionId: '11', kept: {} });
		expect([second?.titles, second?.ends]).toEqual(['', 'alreadySent']);
	});
});

describe('the Retry of an execution of which n8n kept nothing', () => {
	let tokens = 0;
	let three: Try;
	let retry: Try;
	// This process remembers what was retried, by the token: another one for each test.
	beforeEach(() => {
		const resumeToken = `token-${(tokens += 1)}`;
		three = { ...cutOff, resumeToken };
		// The same execution in another process, with nothing but its token and what is in n8n's database.
		retry = { ...three, answers: {}, kept: {}, mode: 'retry', executionId: '11' };
	});
	const cutOff: Try = {
		items: [item('a'), item('b'), item('c')],
		answers: { b: lost, c: () => failure('bad_request') },
		continueOnFail: true,
	};

	test('sends what was not sent, and nothing that was or may have been', async () => {
		const [, second] = await runTries(three, retry);
		expect([second?.titles, second?.ends]).toEqual(['c', 'alreadySent unknown success']);
	});

	test('sends what may have been sent under Resend Unknown', async () => {
		const [, second] = await runTries(three, { ...retry, options: { resendUnknown } });
		expect([second?.titles, second?.ends]).toEqual(['b c', 'alreadySent success success']);
	});

	test('knows items whose content is another one by now', async () => {
		const parameters = { ...content, title: '={{ $json.title }} {{ Math.random() }}' };
		const [first, second] = await runTries({ ...three, parameters }, { ...retry, parameters });
		expect(first?.titles.split(' ').length).toBe(6);
		expect([second?.titles, second?.ends]).toEqual(['', 'alreadySent alreadySent alreadySent']);
	});

	test('sends everything if it has another token, as executing again has', async () => {
		const titles = await titlesOf(three, { ...retry, resumeToken: 'another' });
		expect(titles).toEqual(['a b c', 'a b c']);
	});

	test('sends nothing if it can not be noted in n8n’s database that it begins', async () => {
		const database = new ProcessedData();
		await runOnce({ ...three, database });
		database.beforeQuery = ({ kind }) => {
			if (kind === 'update' || kind === 'insert') throw new Error('disk full');
		};
		const came = await runOnce({ ...three, database, kept: {}, resumeToken: 'third' });
		expect([came.titles, came.ends]).toEqual(['', 'notSent notSent notSent']);
	});

	test.each([
		{ name: 'is deleted when n8n has saved it', status: 'success', isKept: false },
		{ name: 'is deleted when it begins to wait', status: 'waiting', isKept: false },
		{ name: 'is deleted when it failed and is saved', status: 'error', isKept: false },
		{ name: 'stays if it was stopped', status: 'canceled', isKept: true },
		{ name: 'stays if it is a Retry that failed', status: 'error', mode: 'retry', isKept: true },
		{
			name: 'is deleted if it is a Retry that worked',
			status: 'success',
			mode: 'retry',
			isKept: false,
		},
	] as const)('the journal of an execution $name', async ({ status, isKept, ...rest }) => {
		const database = new ProcessedData();
		const whenSaved: Array<(ended: unknown) => Promise<void>> = [];
		await runOnce({ ...three, ...rest, database, whenSaved });
		expect(database.rowsOf('journal')).toHaveLength(1);
		for (const handler of whenSaved) await handler({ status });
		expect(database.rowsOf('journal')).toHaveLength(isKept ? 1 : 0);
	});

	test('everything is in the journal when the node returns', async () => {
		const database = new ProcessedData();
		database.beforeQuery = async () => await new Promise((resolve) => setTimeout(resolve, 20));
		await runOnce({ ...three, answers: {}, database });
		// A Retry in another process, of what is in the database at this moment.
		const copy = new ProcessedData();
		for (const [row, entries] of database.rows) copy.rows.set(row, entries);
		const after = await runOnce({ ...retry, database: copy });
		expect([after.titles, after.ends]).toEqual(['', 'alreadySent alreadySent alreadySent']);
	});

	test.each<{ name: string; options: INodeParameters; title?: string }>([
		{
			name: 'Send Only Once makes another key, because the text changes each time',
			options: { sendOnce: 'ever' },
			title: '={{ $json.title }} {{ Math.random() }}',
		},
		{
			name: 'the entered key changes each time',
			options: { idempotencyKey: '={{ $json.title }} {{ Math.random() }}' },
		},
	])('sends nothing twice though $name', async ({ options, title = '={{ $json.title }}' }) => {
		const parameters = { ...content, title, options };
		const [first, second] = await runTries(
			{ ...three, answers: {}, parameters },
			{ ...retry, parameters },
		);
		expect(first?.ends).toBe('success success success');
		expect([second?.titles, second?.ends]).toEqual(['', 'alreadySent alreadySent alreadySent']);
	});

	test.each<{ name: string; run: Try }>([
		{ name: 'in the editor', run: { mode: 'manual' } },
		{
			name: 'as the tool of an agent',
			run: { node: { type: 'n8n-nodes-push-campaign.pushCampaignTool' } },
		},
		{
			name: 'with a key for each item',
			run: { options: { idempotencyKey: '={{ $json.title }}' } },
		},
		{ name: 'without a token, as on n8n 1', run: { resumeToken: undefined } },
	])('there is no journal $name', async ({ run }) => {
		const database = new ProcessedData();
		await runOnce({ ...three, ...run, database });
		expect(database.rowsOf('journal')).toEqual([]);
	});
});

describe('items of one run with the same key', () => {
	const toSubscriber = { ...content, operation: 'sendToSubscriber', title: 'Sale', options: keyed };
	const to = (subscriberId: string, key: string) => ({ json: { subscriberId, key } });
	const runWith = async (items: INodeExecutionData[], options: Partial<ExecuteOptions> = {}) => {
		const { context, asked } = executeFunctions({
			parameters: { ...toSubscriber, subscriberId: '={{ $json.subscriberId }}' },
			items,
			continueOnFail: true,
			...options,
		});
		const [given = []] = await new PushCampaign().execute.call(context);
		return { given: given.map(({ json }) => json), requests: asked.length };
	};
	const three = [to('5001', 'k'), to('5002', 'k'), to('5003', 'other')];

	test('are refused before anything is sent if they go to different subscribers', async () => {
		const run = runWith(three, { continueOnFail: false });
		await expect(run).rejects.toThrow(
			'Idempotency Key is "k" for items 0, 1, which go to different subscribers',
		);
	});

	test('are all refused with Continue if they go to different subscribers, and the rest is sent', async () => {
		const { given, requests } = await runWith(three);
		expect(given.map(({ status }) => status)).toEqual(['notSent', 'notSent', 'success']);
		expect(requests).toBe(1);
	});

	test('fail as the first did', async () => {
		const { given, requests } = await runWith([to('5001', 'k'), to('5001', 'k')], {
			service: lost,
		});
		expect(given[1]).toEqual(given[0]);
		expect(requests).toBe(1);
	});
});

describe('Send Only Once', () => {
	const again = (options: Try): Try => ({ ...options, kept: {}, executionId: '11' });
	const ever: Try = { items: [item('a'), item('b')], options: { sendOnce: 'ever' } };
	const perDay: Try = { ...ever, options: { sendOnce: 'perDay' } };
	const on = (time: string) => void jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));

	test('sends the same once, in all executions', async () => {
		const [first, second] = await runTries(ever, again(ever));
		expect([first?.titles, first?.ends]).toEqual(['a b', 'success success']);
		expect([second?.titles, second?.ends]).toEqual(['', 'alreadySent alreadySent']);
	});

	test('sends one of two equal items of a run, and says that the other was sent', async () => {
		const [came] = await runTries({ ...ever, items: [item('a'), item('b'), item('a')] });
		expect([came?.titles, came?.ends]).toEqual(['a b', 'success success alreadySent']);
	});

	test.each<{ name: string; change: Try }>([
		{ name: 'its message', change: { parameters: { ...content, title: 'a', message: 'New' } } },
		{
			name: 'its audience',
			change: {
				parameters: {
					...content,
					title: 'a',
					operation: 'sendToSegments',
					segmentIds: '7',
				},
			},
		},
		{
			name: 'one of its buttons',
			change: {
				parameters: {
					...content,
					title: 'a',
					actionButtons: { button: [{ title: 'Shop', url: 'https://shop.example' }] },
				},
			},
		},
		{
			name: 'the site that it goes to',
			change: { node: { credentials: { pushCampaignApi: { id: '8', name: 'Other' } } } },
		},
	])('sends again what differs in $name', async ({ change }) => {
		const [parameters, options] = [{ ...content, title: 'a' }, { sendOnce: 'ever' }];
		const first = { parameters: { ...parameters, options }, items: [{ json: {} }] };
		const second = { ...first, ...change };
		const titles = await titlesOf(
			first,
			again({ ...second, parameters: { ...second.parameters, options } }),
		);
		expect(titles).toEqual(['a', 'a']);
	});

	test('with Once a Day, sends the same again when the day changes in the workflow’s timezone', async () => {
		const same = { database: new ProcessedData() };
		const titles: string[] = [];
		// 23:00 and 23:30 on 1 January, then 0:30 on 2 January in Oslo; all of them are 1 January in UTC.
		for (const time of ['2030-01-01T22:00Z', '2030-01-01T22:30Z', '2030-01-01T23:30Z']) {
			on(time);
			titles.push((await runOnce({ ...again(perDay), ...same, timezone: 'Europe/Oslo' })).titles);
		}
		expect(titles).toEqual(['a b', '', 'a b']);
	});

	test('with Once a Day, what a crash left unknown is not said to be sent in any case if it runs again', async () => {
		const parameters = { ...content, title: 'a', options: { sendOnce: 'perDay' } };
		const resumeToken = 'token of a crash under Once a Day';
		const [, second] = await runTries(
			{ parameters, resumeToken, answers: { a: lost } },
			{ parameters, resumeToken, kept: {}, mode: 'retry', executionId: '11' },
		);
		expect(second?.error?.description).toContain('does not send it twice');
	});

	test.each<{ name: string; one: Try; other: Try; sends: number }>([
		{
			name: 'once what has quiet hours the second time',
			one: {},
			other: { parameters: { additionalFields: { quietHours: { hours: {} } } } },
			sends: 1,
		},
		{
			name: 'once to the same segments in another order, as numbers',
			one: { parameters: { operation: 'sendToSegments', segmentIds: '12, 34' } },
			other: { parameters: { operation: 'sendToSegments', segmentIds: '={{ [34, 12] }}' } },
			sends: 1,
		},
		{
			name: 'once to the same attributes in another order',
			one: {
				parameters: {
					operation: 'sendToAttributes',
					specifyAttributes: 'json',
					attributesJson: '{"x": 1, "y": 2}',
				},
			},
			other: {
				parameters: {
					operation: 'sendToAttributes',
					specifyAttributes: 'json',
					attributesJson: '{"y": 2, "x": 1}',
				},
			},
			sends: 1,
		},
		{
			name: 'again to other segments',
			one: { parameters: { operation: 'sendToSegments', segmentIds: '12' } },
			other: { parameters: { operation: 'sendToSegments', segmentIds: '1, 2' } },
			sends: 2,
		},
	])('sends $name', async ({ one, other, sends }) => {
		// Noon in the workflow's timezone: no quiet hours.
		jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2030-05-17T12:00:00Z'));
		const options = { sendOnce: 'ever' };
		const withContent = ({ parameters }: Try): Try => ({
			parameters: { ...content, title: 'a', ...parameters, options },
		});
		const titles = await titlesOf(withContent(one), again(withContent(other)));
		expect(titles.filter((title) => title !== '')).toHaveLength(sends);
	});

	test('with Once a Day, the Retry of a crashed execution sends on another day only what was not sent', async () => {
		const crashed: Try = { ...perDay, resumeToken: 'crashed-yesterday', continueOnFail: true };
		on('2030-01-01T12:00Z');
		const database = new ProcessedData();
		await runOnce({ ...crashed, database, answers: { b: () => failure('bad_request') } });
		on('2030-01-02T12:00Z');
		const retry = await runOnce({ ...again(crashed), database, mode: 'retry' });
		expect([retry.titles, retry.ends]).toEqual(['b', 'alreadySent success']);
	});

	test('with Once a Day, refuses a workflow whose timezone is not known', async () => {
		const [came] = await runTries({ ...perDay, timezone: 'Mars/Phobos' });
		expect(came?.error?.message).toContain(
			'The time zone of the workflow is not known: "Mars/Phobos"',
		);
		expect(came?.titles).toBe('');
	});

	test('lets an idempotency key beside it count', async () => {
		const both: Try = {
			items: [item('a', '1'), item('a', '2')],
			options: { sendOnce: 'ever', ...keyed },
		};
		const [first, second] = await runTries(both, again({ ...both, items: [item('c', '2')] }));
		expect([first?.titles, second?.titles]).toEqual(['a a', '']);
	});

	test('keeps the key that it makes out of the item, and says why nothing was sent', async () => {
		const { context } = executeFunctions({
			parameters: { ...content, title: 'a', options: { sendOnce: 'ever' } },
			items: [{ json: {} }, { json: {} }],
		});
		const [[, item] = []] = await new PushCampaign().execute.call(context);
		expect(item?.json).toEqual({
			audience: 'all',
			status: 'alreadySent',
			description: 'Sent earlier (Send Only Once); nothing was sent now',
			title: 'a',
		});
	});

	describe('and a dry run', () => {
		const [a, b, c, d] = [item('a'), item('b'), item('a'), item('c')];
		const hintsOf = async (options: Try, database = new ProcessedData()) => {
			const hints: string[] = [];
			const addExecutionHints = (...shown: Array<{ message: string }>) =>
				void hints.push(...shown.map(({ message }) => message));
			await runOnce({ ...options, database, addExecutionHints });
			return hints.slice(1);
		};
		const dry: Try = { items: [a, b, c, d], options: { sendOnce: 'ever', dryRun: true } };

		test('says which items are the same send', async () => {
			expect(await hintsOf(dry)).toEqual([
				'Items 0, 2 are the same send: only the first of them would be sent.',
			]);
		});

		test('says which items were sent earlier, and leaves nothing in n8n’s database', async () => {
			const database = new ProcessedData();
			await runOnce({ ...ever, database });
			const rows = structuredClone(database.rows);
			expect(await hintsOf(again(dry), database)).toEqual([
				'Items 0, 1, 2 were sent earlier and would not be sent again.',
			]);
			expect(database.rows).toEqual(rows);
		});

		test('does without what was sent earlier if n8n’s database does not answer', async () => {
			const database = new ProcessedData();
			database.beforeQuery = () => {
				throw new Error('Locked');
			};
			expect(await hintsOf(dry, database)).toEqual([
				'Items 0, 2 are the same send: only the first of them would be sent.',
			]);
		});

		test('says which items have the same entered key', async () => {
			const options = { dryRun: true, idempotencyKey: 'k' };
			expect(await hintsOf({ items: [a, b], options })).toEqual([
				'Items 0, 1 have the same idempotency key: only the first of them would be sent.',
			]);
		});

		test('shows that items with the same entered key and different subscribers would be refused', async () => {
			const parameters = {
				...content,
				operation: 'sendToSubscriber',
				subscriberId: '={{ $json.title === "a" ? 1 : 2 }}',
				title: 'a',
				options: { dryRun: true, idempotencyKey: '={{ $json.key }}' },
			};
			const items = [item('a', 'k'), item('b', 'k'), item('c', 'own')];
			const hints: string[] = [];
			const { context } = executeFunctions({
				items,
				parameters,
				addExecutionHints: (...shown) => void hints.push(...shown.map(({ message }) => message)),
			});
			const [shown = []] = await new PushCampaign().execute.call(context);
			const message = 'Idempotency Key is "k" for items 0, 1, which go to different subscribers';
			expect(shown.map(({ json }) => json)).toMatchObject([
				{ subscriberId: '1', idempotencyKey: 'k', dryRun: true, error: { message } },
				{ subscriberId: '2', idempotencyKey: 'k', dryRun: true, error: { message } },
				{ subscriberId: '2', idempotencyKey: 'own', dryRun: true, request: {} },
			]);
			expect(hints).toHaveLength(1);
			expect(hints[0]).toContain('1 of 3 would be sent. 2 of 3 would not be sent:');
		});
	});

	test('does not show its key if an earlier execution left it unknown', async () => {
		const one: Try = { ...ever, items: [item('a')], answers: { a: lost } };
		const [, second] = await runTries(one, again(one));
		expect(second?.error?.message).toBe(
			'It is unknown whether this was sent: another execution began to send it, and its outcome is not known',
		);
	});
});

test('a dry run shows that two nodes with one ID can not use keys, as a real run would', async () => {
	const options = { idempotencyKey: 'k', dryRun: true };
	const { context } = executeFunctions({ parameters: { ...content, title: 'a', options } });
	const { id, name } = context.getNode();
	const nodes = { first: { id, name }, second: { id, name: 'Second' } };
	Object.assign(context, { workflow: { nodes } });
	const [[shown] = []] = await new PushCampaign().execute.call(context);
	expect(shown?.json).toMatchObject({
		dryRun: true,
		error: {
			message:
				'Idempotency Key and Send Only Once can\'t be used here: "Second" has the same node ID, so both nodes would share their keys',
		},
	});
});

test('the advice after a failure depends on whether the items have keys', async () => {
	const adviceFor = async (options: Try) => (await runOnce(options)).error?.description;
	const items = [item('a', 'k'), item('b', 'l')];
	const answers = { b: () => failure('bad_request') };
	expect(await adviceFor({ items, answers, options: keyed })).toContain('run the workflow again');
	expect(await adviceFor({ items, answers })).toContain('sends all 2 again.');
});

describe('what fails before a request leaves', () => {
	const errorOf = async (options: Try) => {
		const { context, asked } = executeFunctions({
			parameters: { ...content, title: 'a', options: { idempotencyKey: 'k' } },
			continueOnFail: true,
			...options,
		});
		const [items = []] = await new PushCampaign().execute.call(context);
		return { error: items[0]?.json['error'], asked };
	};

	test('is not sent if this node has a defect', async () => {
		const { error, asked } = await errorOf({
			credentialsFor: () => {
				throw new TypeError('x is not a function');
			},
			items: [item('a'), item('b')],
		});
		expect(asked).toEqual([]);
		expect(error).toMatchObject({ outcome: 'notSent' });
	});

	test('is temporary, and not about what the user entered, if n8n’s database is locked', async () => {
		const database = new ProcessedData();
		database.beforeQuery = () => {
			throw new Error('SQLITE_BUSY: database is locked');
		};
		const { error, asked } = await errorOf({ database });
		expect(asked).toEqual([]);
		expect(error).toMatchObject({ type: 'network', outcome: 'notSent' });
	});

	test('names the workflow’s timezone if it is not valid', async () => {
		const { context, asked } = executeFunctions({
			parameters: {
				...content,
				title: 'a',
				additionalFields: { sendAt: '2099-01-01T00:00' },
			},
		});
		Object.assign(context, { getTimezone: () => 'Mars/Phobos' });
		const run = new PushCampaign().execute.call(context);
		await expect(run).rejects.toThrow('The time zone of the workflow is not known: "Mars/Phobos"');
		await expect(run).rejects.toHaveProperty(
			'description',
			expect.stringMatching(/settings of the workflow/),
		);
		expect(asked).toEqual([]);
	});
});
