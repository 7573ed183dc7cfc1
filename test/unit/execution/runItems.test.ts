import type { INodeExecutionData, INodeParameters, NodeExecutionHint } from 'n8n-workflow';
import type * as n8nWorkflow from 'n8n-workflow';
import { NodeApiError, NodeError, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import {
	created,
	credential,
	databaseWith,
	executeFunctions,
	failure,
	keyStatesIn,
	lost,
	statusAnswer,
	statusRecord,
	type ExecuteOptions,
	type KeyStates,
	type Service,
	withExpressions,
} from './support';

// The node without n8n's engine, so that each of its corners is reached at once; test/engine and test/host
// show the same in n8n.

/** Whether pauses take no time: the clock is set forward instead. */
let skipsPauses = false;
let skippedMs = 0;
jest.mock('n8n-workflow', () => {
	const actual = jest.requireActual<typeof n8nWorkflow>('n8n-workflow');
	const sleep = async (milliseconds: number, signal?: AbortSignal) => {
		if (!skipsPauses) return await actual.sleep(milliseconds, signal);
		await new Promise((resolve) => setImmediate(resolve));
		skippedMs += milliseconds;
	};
	return { ...actual, sleep };
});
const now = performance.now.bind(performance);
beforeAll(() => (performance.now = () => now() + skippedMs));
afterAll(() => (performance.now = now));

const send: INodeParameters = {
	operation: 'sendToAll',
	title: 'Sale',
	message: 'Today',
	targetUrl: 'https://shop.example',
};
/** As written: each item is sent under its title. */
const sendEach: INodeParameters = { ...send, title: '={{ $json.title }}' };
const status: INodeParameters = { operation: 'getStatus', campaignId: '1001' };
const statusEach: INodeParameters = { ...status, campaignId: '={{ $json.title }}' };
const inOrder = { maxParallel: 1 };

const subscribers = {
	statusCode: 200,
	body: { total_life_time_subscribers: '12000', active_subscribers: '10000' },
};

const titled = (...titles: string[]): INodeExecutionData[] =>
	titles.map((title) => ({ json: { title } }));

const textLike = (pattern: RegExp): unknown => expect.stringMatching(pattern);

const ended = z.object({
	status: z.string().optional(),
	error: z.object({ outcome: z.string() }).optional(),
});

interface Run extends ExecuteOptions {
	/** Answers the sends of these titles; each other one gets the next campaign ID. */
	readonly faults?: Record<string, Service>;
}

function titleOf({ body }: { body?: unknown }): string {
	const [, title = ''] = typeof body === 'string' ? (/"title":"([^"]*)"/.exec(body) ?? []) : [];
	return title;
}

/** What came of a run, also of one that an error stopped. */
async function run({ faults = {}, ...options }: Run = {}) {
	const hints: string[] = [];
	const titles: string[] = [];
	const { context, asked, warnings } = executeFunctions({
		parameters: send,
		service: async (request) => {
			if (request.url.endsWith('/subscriber_count')) return subscribers;
			const title = titleOf(request);
			const id = 1000 + titles.push(title);
			return (await faults[title]?.(request)) ?? created(id);
		},
		addExecutionHints: (...given: NodeExecutionHint[]) => {
			hints.push(...given.map(({ message }) => message));
		},
		...options,
	});
	const came = { asked, titles, hints, warnings };
	try {
		const [items = []] = await new PushCampaign().execute.call(context);
		return { ...came, items, json: items.map(({ json }) => json), error: undefined };
	} catch (error) {
		if (!(error instanceof NodeError)) throw error;
		return { ...came, items: [], json: [], error };
	}
}
type Came = Awaited<ReturnType<typeof run>>;

/** How each item ended. */
const endsOf = ({ json }: Came) =>
	json.map((item) => {
		const { status: success, error } = ended.parse(item);
		return error?.outcome ?? success;
	});
const shown = ({ error }: Came) => ({
	message: error?.message,
	description: error?.description,
	item: error?.context['itemIndex'],
});

afterEach(() => void jest.restoreAllMocks());

describe('before anything is sent', () => {
	test('a run without items requests nothing and returns none', async () => {
		const { items, asked, error } = await run({ items: [], parameters: {} });
		expect([items, asked, error]).toEqual([[], [], undefined]);
	});

	const chooseOne = 'Choose a resource and an operation from the lists.';
	test.each([
		{
			name: 'an operation that is not known',
			more: { operation: 'sendToMoon' },
			message: 'The operation "sendToMoon" is not known',
			description: chooseOne,
		},
		{
			name: 'an empty operation',
			more: { operation: '' },
			message: 'The operation "" is not known',
			description: chooseOne,
		},
		{
			name: 'an operation of another resource',
			more: { resource: 'site' },
			message: 'The operation "sendToAll" is not known',
			description: chooseOne,
		},
		{
			name: "an expression of Operation that can't be evaluated",
			more: { operation: '={{ $("Nowhere").item }}' },
			message: "Operation can't be evaluated: Referenced node doesn't exist",
			description: 'Correct the expression in Operation.',
		},
		{
			name: "an expression of Resource that can't be evaluated",
			more: { resource: '={{ $("Nowhere").item }}' },
			message: "Resource can't be evaluated: Referenced node doesn't exist",
			description: 'Correct the expression in Resource.',
		},
	])(
		'$name fails the run, and with Continue every item says so',
		async ({ more, message, description }) => {
			const wrong = { items: titled('a', 'b'), parameters: { ...send, ...more } };
			const stopped = await run(wrong);
			expect(shown(stopped)).toEqual({
				message: `2 of 2 items are not valid: ${message} (item 0; also item 1)`,
				description: `0 sent, 2 not sent (items 0, 1: ${message}). ${description}`,
				item: 0,
			});
			expect(stopped.error).toMatchObject({ failure: { cause: 'configuration-invalid' } });
			const { items, hints, asked } = await run({ ...wrong, continueOnFail: true });
			const error = { message, description, type: 'validation', outcome: 'notSent' };
			const json = { status: 'notSent', description: message, error };
			expect(items).toEqual([0, 1].map((item) => ({ json, pairedItem: { item } })));
			expect(hints).toEqual([
				expect.stringMatching(/^0 sent, 2 not sent \(items 0, 1: .*\)\. See the error column\.$/),
			]);
			expect(asked).toEqual([]);
		},
	);

	test.each([
		{ name: 'is unknown for each item if a request may have left', isBrokenAtOnce: false },
		{ name: 'is not sent for each item if none has left', isBrokenAtOnce: true },
	])('what a defect ends $name', async ({ isBrokenAtOnce }) => {
		let isBroken = isBrokenAtOnce;
		const { context, asked } = executeFunctions({
			parameters: send,
			items: titled('a', 'b'),
			service: () => {
				isBroken = true;
				return created(1001);
			},
			continueOnFail: true,
		});
		const getExecutionCancelSignal = () => {
			if (!isBroken) return undefined;
			isBroken = false;
			throw new TypeError('x is not a function');
		};
		Object.assign(context, { getExecutionCancelSignal });
		const [items = []] = await new PushCampaign().execute.call(context);
		const outcome = isBrokenAtOnce ? 'notSent' : 'unknown';
		expect(items.map(({ json }) => ended.parse(json).error?.outcome)).toEqual([outcome, outcome]);
		expect(asked).toHaveLength(isBrokenAtOnce ? 0 : 2);
	});

	test('a run that fails whole gives the error alone at the error output, for each item', async () => {
		const { items, hints, asked } = await run({
			items: titled('a', 'b'),
			parameters: { ...send, operation: '' },
			continueOnFail: true,
			node: { onError: 'continueErrorOutput' },
		});
		const error = {
			message: 'The operation "" is not known',
			description: chooseOne,
			type: 'validation',
			outcome: 'notSent',
		};
		expect(items).toEqual([0, 1].map((item) => ({ json: { error }, pairedItem: { item } })));
		expect(hints).toEqual([
			expect.stringMatching(/^0 sent, 2 not sent .* See the Error output\.$/),
		]);
		expect(asked).toEqual([]);
	});

	test('with Continue, a read that failed has no outcome', async () => {
		const { context } = executeFunctions({ parameters: status, continueOnFail: true });
		let calls = 0;
		const getTimezone = () => {
			// The first one is for finding out the operation.
			if ((calls += 1) > 1) throw new TypeError('x is not a function');
			return 'UTC';
		};
		const [items] = await new PushCampaign().execute.call({ ...context, getTimezone });
		expect(items?.[0]?.json['error']).not.toHaveProperty('outcome');
	});
});

describe('sends', () => {
	test('n8n gets its turn while thousands of items are read', async () => {
		let turns = 0;
		const counting = setInterval(() => (turns += 1), 0);
		const seen: number[] = [];
		const items = Array.from({ length: 401 }, (_, index) => ({
			json: {
				get title() {
					seen.push(turns);
					return `title ${index}`;
				},
			},
		}));
		await run({ items, parameters: { ...sendEach, options: { dryRun: true } } });
		clearInterval(counting);
		expect(new Set(seen).size).toBe(3);
	});

	test('no further item is read once the user has stopped the execution', async () => {
		const stop = new AbortController();
		const read: number[] = [];
		const items = Array.from({ length: 2000 }, (_, index) => ({
			json: {
				get title() {
					if (read.push(index) === 10) stop.abort();
					return `title ${index}`;
				},
			},
		}));
		const { error, asked } = await run({ items, parameters: sendEach, signal: stop.signal });
		expect(error?.message).toBe('The execution was canceled before all items were done');
		expect(asked).toEqual([]);
		expect(new Set(read).size).toBeLessThanOrEqual(10);
	});

	const expressionError = Object.assign(new Error('No key'), { name: 'ExpressionError' });
	/** One of its fields is an expression. */
	const evaluated = withExpressions({ apiKey: 'the-key-of-the-site' });
	const wrong = { ...credential, apiKey: '' };
	test.each([
		{
			name: 'is opened once if n8n refuses it',
			given: [new Error('Not yours'), credential, credential],
			asked: 1,
			ends: ['notSent', 'notSent', 'notSent'],
		},
		{
			name: 'is opened for each item if its expression fails',
			given: [expressionError, evaluated, expressionError],
			asked: 3,
			ends: ['notSent', 'success', 'notSent'],
		},
		{
			name: 'is opened for each item if n8n refuses it after an expression worked',
			given: [evaluated, new Error('Not yours'), evaluated],
			asked: 3,
			ends: ['success', 'notSent', 'success'],
		},
		{
			name: 'is opened once if a field is wrong and none is an expression',
			given: [wrong, credential, credential],
			asked: 1,
			ends: ['notSent', 'notSent', 'notSent'],
		},
		{
			name: 'is opened for each item if a field is wrong that may be an expression',
			given: [withExpressions({ apiKey: '' }), evaluated, withExpressions({ apiKey: '' })],
			asked: 3,
			ends: ['notSent', 'success', 'notSent'],
		},
	])('a credential $name', async ({ given, asked, ends }) => {
		let opened = 0;
		const came = await run({
			items: titled('a', 'b', 'c'),
			parameters: sendEach,
			continueOnFail: true,
			credentialsFor: (_type, itemIndex) => {
				opened += 1;
				return given[Number(itemIndex)] ?? {};
			},
		});
		expect(opened).toBe(asked);
		expect(endsOf(came)).toEqual(ends);
	});

	test('an agent’s tool says in its message how to go on', async () => {
		const node = { type: 'n8n-nodes-push-campaign.pushCampaignTool' };
		const { error } = await run({ node, parameters: { ...send, title: '' } });
		expect(error?.message).toBe('Title is missing. Fill in Title.');
	});

	test('no more requests are in flight than Max Parallel Requests allows', async () => {
		let underWay = 0;
		let most = 0;
		const service: Service = async () => {
			underWay += 1;
			most = Math.max(most, underWay);
			await new Promise((resolve) => setTimeout(resolve, 5));
			underWay -= 1;
			return created(1);
		};
		// The first item that is ready decides for all.
		const options = {
			maxParallel: '={{ $itemIndex === 0 ? 500 : 3 }}',
			dryRun: '={{ $itemIndex === 0 }}',
		};
		const items = titled('a', 'b', 'c', 'd', 'e');
		await run({ items, parameters: { ...sendEach, options }, service });
		expect(most).toBe(3);
	});

	test('an item whose Send At is too close when its turn comes is not sent', async () => {
		const start = Date.UTC(2030, 0, 1);
		const now = jest.spyOn(Date, 'now').mockReturnValue(start);
		const a: Service = () => {
			now.mockReturnValue(start + 60_000);
			return created(1);
		};
		const additionalFields = { sendAt: '2030-01-01T00:05Z' };
		const parameters = { ...sendEach, additionalFields, options: inOrder };
		const came = await run({ items: titled('a', 'b'), parameters, faults: { a } });
		expect(came.titles).toEqual(['a']);
		expect(shown(came)).toMatchObject({
			message:
				'1 of 2 items is not valid: Send At is 2030-01-01 00:05 +00:00, which is less than 5 minutes ahead (item 1)',
			item: 1,
		});
	});

	test('a dry run returns the request that it would make, makes none, and counts as nothing sent', async () => {
		const kept = {};
		const options = { ...inOrder, dryRun: '={{ $itemIndex === 0 }}' };
		const parameters = { ...sendEach, options };
		// It shows that of what was sent before, too.
		await run({ items: titled('a'), parameters: sendEach, kept });
		const dry = await run({ items: titled('a'), parameters, kept });
		expect(dry.titles).toEqual([]);
		expect(dry.hints).toEqual([expect.stringMatching(/^Nothing was sent: this was a dry run\./)]);
		const request = { url: 'https://push.example/v1/notification/send/all' };
		expect(dry.json).toMatchObject([{ title: 'a', dryRun: true, request }]);
		const faults = { c: () => failure('bad_request') };
		const mixed = await run({ items: titled('a', 'b', 'c'), parameters, faults });
		expect(mixed.error?.description).toMatch(/^1 sent, 1 in a dry run, 1 not sent \(item 2: /);
	});
});

describe('sends and reads', () => {
	test.each([
		{
			kind: 'sends',
			parameters: sendEach,
			name: 'Title',
			counts: /^0 sent, 3 not sent \(item 1: Title is empty .*; 2 not started\)\. Check /,
			more: { outcome: 'notSent' },
		},
		{ kind: 'reads', parameters: statusEach, name: 'Campaign ID', counts: /^Check /, more: {} },
	])(
		'all $kind are checked before the first is made; with Continue what fails keeps its place',
		async ({ parameters, name, counts, more }) => {
			const service: Service = (request) => {
				if (titleOf(request) === '3' || request.url.endsWith('/3')) return failure('bad_request');
				return request.url.endsWith('/1') ? statusAnswer('1') : created(1);
			};
			const given = { items: titled('1', '', '3'), parameters, service };
			const message = `${name} is empty for this item: its expression returned nothing`;
			const stopped = await run(given);
			expect(stopped.asked).toEqual([]);
			expect(stopped.error).toBeInstanceOf(NodeOperationError);
			expect(shown(stopped)).toEqual({
				message: `1 of 3 items is not valid: ${message} (item 1)`,
				description: textLike(counts),
				item: 1,
			});
			const { json } = await run({ ...given, continueOnFail: true });
			expect(json).toMatchObject([
				{ campaignId: '1' },
				{ error: { message, type: 'validation', ...more } },
				{ error: { type: 'bad_request', httpCode: '400', ...more } },
			]);
			expect(json.map((item) => 'error' in item)).toEqual([false, true, true]);
		},
	);

	const soon = { headers: { 'retry-after': '0.001' } };
	const slowDown: Service = () => ({ ...failure('rate_limit'), ...soon });
	const withRetries = (rateLimitRetries: number) => ({ options: { rateLimitRetries } });
	interface Tried {
		readonly name: string;
		readonly parameters: INodeParameters;
		readonly service: Service;
		readonly tries: number;
	}
	const tried: Tried[] = [
		{ name: 'a send whose answer is lost', parameters: send, service: lost, tries: 1 },
		{
			name: 'a send that is refused without a reason',
			parameters: send,
			service: () => failure('unspecified'),
			tries: 1,
		},
		{ name: 'a read whose answer is lost', parameters: status, service: lost, tries: 3 },
		{
			name: 'a limited send without retries',
			parameters: { ...send, ...withRetries(0) },
			service: slowDown,
			tries: 1,
		},
		{
			name: 'a limited send with two retries',
			parameters: { ...send, ...withRetries(2) },
			service: slowDown,
			tries: 3,
		},
		{
			name: 'a limited read with two retries',
			parameters: { ...status, ...withRetries(2) },
			service: slowDown,
			tries: 3,
		},
	];
	test.each(tried)('$name is tried $tries times', async ({ parameters, service, tries }) => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const { asked, error } = await run({ parameters, service });
		expect(error).toBeInstanceOf(NodeApiError);
		expect(asked).toHaveLength(tries);
	});

	const pause = { headers: { 'retry-after': '500' } };
	const stopped: Array<{ name: string; parameters: INodeParameters; answer: Service }> = [
		{
			name: 'while it sends',
			parameters: send,
			answer: async () => await new Promise((end) => setTimeout(end, 10, created(1))),
		},
		{
			name: 'in the pause after a rate limit',
			parameters: status,
			answer: () => ({ ...failure('rate_limit'), ...pause }),
		},
		{
			name: 'in the pause before a read is made again',
			parameters: status,
			answer: () => ({ ...failure('unspecified'), ...pause }),
		},
	];
	test.each(stopped)(
		'an execution that is stopped $name fails right away, and says that it was canceled',
		async ({ parameters, answer }) => {
			const stop = new AbortController();
			const service: Service = async (request) => {
				setTimeout(() => stop.abort(), 5);
				return await answer(request);
			};
			const given = { parameters, service, signal: stop.signal, continueOnFail: true };
			const { error, asked } = await run(given);
			expect(error?.message).toBe('The execution was canceled before all items were done');
			expect(asked).toHaveLength(1);
		},
	);
});

describe('a second try of the execution', () => {
	test('sends the rest; what is unknown fails again with the same words, unless Resend Unknown is on', async () => {
		const kept = {};
		const parameters = { ...sendEach, options: inOrder };
		const given = { items: titled('a', 'b', 'c'), parameters, kept };
		const first = await run({ ...given, faults: { a: lost } });
		expect(first.titles).toEqual(['a']);
		const second = await run(given);
		expect(second.titles).toEqual(['b', 'c']);
		expect(second.error?.message).toBe(first.error?.message);
		expect(second.error?.description).toMatch(/^2 sent, 1 unknown \(item 0\)\. /);
		const resend = { ...sendEach, options: { resendUnknown: true } };
		// Of what an earlier execution left unknown: not in a further try of the same one.
		expect((await run({ ...given, parameters: resend })).titles).toEqual([]);
		const third = await run({ ...given, parameters: resend, executionId: '11' });
		expect(third.titles).toEqual(['a']);
		const ids = third.json.map(({ campaignId }) => campaignId);
		expect(ids).toEqual(['1001', '1001', '1002']);
	});

	// The parameters as a user writes them, and n8n evaluates them, again for each try.
	const changing = { parameters: { ...send, title: '=Sale {{ Math.random() }}' } };
	const other = (options: Run, parameters: INodeParameters): Run => ({
		...options,
		parameters: { ...options.parameters, ...parameters },
	});
	const fixed = { parameters: send };
	const each = (title: string) => ({ parameters: sendEach, items: titled(title) });
	const timeout = { options: { timeout: '={{ 1 + 1 }}' } };
	const tool = { node: { type: 'n8n-nodes-push-campaign.pushCampaignTool' } };
	const call = { ...fixed, ...tool };
	const toSegment = { operation: 'sendToSegments', segmentIds: '1' };
	const renamed = other(fixed, { ...timeout, title: 'New' });
	const elsewhere = { ...credential, baseUrl: 'https://other.example' };
	const shop = { pushCampaignApi: { id: '8', name: 'Other shop' } };

	const ofItem = { ...changing, items: titled('a') };
	const renewed = { ...fixed, credentials: { ...credential, apiKey: 'renewed' } };
	const secondTries: Array<{ name: string; first: Run; second: Run; sends: number }> = [
		{ name: 'of the same content, evaluated again', first: changing, second: changing, sends: 1 },
		{ name: 'with other options', first: changing, second: other(changing, timeout), sends: 1 },
		{
			name: 'with another expression',
			first: changing,
			second: other(changing, { message: 'New' }),
			sends: 2,
		},
		{ name: 'for another input item', first: ofItem, second: changing, sends: 2 },
		{ name: 'of the same field of the same item', first: each('a'), second: each('a'), sends: 1 },
		{ name: 'of the same field of another item', first: each('a'), second: each('b'), sends: 2 },
		{
			name: 'of the same content, written in another way',
			first: each('Sale'),
			second: fixed,
			sends: 1,
		},
		{
			name: 'of fixed content for another input item',
			first: { ...fixed, items: titled('a') },
			second: fixed,
			sends: 1,
		},
		{
			name: 'of the same content to other subscribers',
			first: fixed,
			second: other(fixed, toSegment),
			sends: 2,
		},
		{
			name: 'of other content, with an expression in the options',
			first: other(fixed, timeout),
			second: renamed,
			sends: 2,
		},
		{ name: 'with a renewed key', first: fixed, second: renewed, sends: 1 },
		{
			name: 'to another address',
			first: fixed,
			second: { ...fixed, credentials: elsewhere },
			sends: 2,
		},
		{
			name: 'with another credential',
			first: fixed,
			second: { ...fixed, node: { credentials: shop } },
			sends: 2,
		},
		{
			name: 'in another run of a loop',
			first: { runIndex: 0 },
			second: { runIndex: 1 },
			sends: 2,
		},
		{
			name: 'in the same run of a loop',
			first: { runIndex: 1 },
			second: { runIndex: 1 },
			sends: 1,
		},
		{
			name: 'in the first run, which n8n did not number the first time',
			first: { runIndex: null },
			second: { runIndex: 0 },
			sends: 1,
		},
		{
			name: 'by another call of an agent',
			first: call,
			second: { ...call, runIndex: 1 },
			sends: 1,
		},
		{
			name: 'of other content by an agent',
			first: call,
			second: other(call, { title: 'New' }),
			sends: 2,
		},
	];
	test.each(secondTries)('$name: $sends sent in all', async ({ first, second, sends }) => {
		const kept = {};
		const runs = [await run({ ...first, kept }), await run({ ...second, kept })];
		expect(runs.flatMap(({ titles }) => titles)).toHaveLength(sends);
	});
});

describe('idempotency keys', () => {
	beforeAll(() => (skipsPauses = true));
	afterAll(() => (skipsPauses = false));

	/** Title, key and Send At of each item. */
	type Item = readonly [title: string, key: string, sendAt: string];
	const late: Item = ['late', 'k', '2020-01-01T00:00Z'];
	const onTime: Item = ['on time', 'k', '2099-01-01T00:00Z'];
	const other: Item = ['other', 'o', '2099-01-01T00:00Z'];
	type More = Omit<Run, 'parameters'> & { readonly options?: INodeParameters };

	/** A run of these items, with how their keys stand before and after it. */
	async function runKeyed(given: readonly Item[], before: KeyStates, more: More = {}) {
		const { database = databaseWith(before), options, ...rest } = more;
		const came = await run({
			items: given.map(([title, key, sendAt]) => ({ json: { title, key, sendAt } })),
			parameters: {
				...sendEach,
				additionalFields: { sendAt: '={{ $json.sendAt }}' },
				options: { ...inOrder, idempotencyKey: '={{ $json.key }}', ...options },
			},
			database,
			...rest,
		});
		const { message, description } = shown(came);
		const told = came.error === undefined ? endsOf(came).join(' ') : `${message}\n${description}`;
		const keys = keyStatesIn(database, ['k', 'o']);
		return { ...came, told, keys, queries: database.queries };
	}
	const none: KeyStates = { sent: [], claimed: [] };
	const sent: KeyStates = { sent: ['k'], claimed: [] };
	const claimed: KeyStates = { sent: [], claimed: ['k'] };
	const otherSent: KeyStates = { sent: ['o'], claimed: [] };
	const all: KeyStates = { sent: ['k', 'o'], claimed: [] };
	const allClaimed: KeyStates = { sent: ['o'], claimed: ['k'] };
	const lateFirst = [late, other];
	const two = [onTime, other];
	const goesOn = { continueOnFail: true };
	const resends = { options: { resendUnknown: true } };
	const refused = { ...goesOn, faults: { 'on time': () => failure('bad_request') } };
	const isOver = /Send At is .* in the past/;
	const isUnknown = /^It is unknown .*\n1 scheduled, 1 unknown \(item 0\)\. /;
	const sentEarlier = /\n0 sent, 1 sent earlier, 1 unknown \(item \d\)\. /;

	interface KeyedRun {
		readonly name: string;
		readonly given: readonly Item[];
		readonly before: KeyStates;
		readonly after: KeyStates;
		readonly more?: More;
		/** The titles that are sent. */
		readonly titles: string;
		/** How the items end, or what the run says when it stops. */
		readonly told: string | RegExp;
	}
	const keyedRuns: KeyedRun[] = [
		{
			name: 'a late item that was sent before is alreadySent, and the rest is sent',
			given: lateFirst,
			before: sent,
			titles: 'other',
			told: 'alreadySent success',
			after: all,
		},
		{
			name: 'a late item with a new key stops the run before anything is sent',
			given: lateFirst,
			before: none,
			titles: '',
			told: isOver,
			after: none,
		},
		{
			name: 'with Continue, a late item with a new key is not sent, and the rest is',
			given: lateFirst,
			before: none,
			more: goesOn,
			titles: 'other',
			told: 'notSent success',
			after: otherSent,
		},
		{
			name: 'a late item with a claimed key is unknown, and the rest is sent',
			given: lateFirst,
			before: claimed,
			titles: 'other',
			told: isUnknown,
			after: allClaimed,
		},
		{
			name: 'with Resend Unknown, a late item with a claimed key stops the run',
			given: lateFirst,
			before: claimed,
			more: resends,
			titles: '',
			told: isOver,
			after: claimed,
		},
		{
			name: 'an item with a claimed key is unknown, and the rest is sent',
			given: two,
			before: claimed,
			titles: 'other',
			told: isUnknown,
			after: allClaimed,
		},
		{
			name: 'with Continue, an item with a claimed key is unknown, and the rest is sent',
			given: two,
			before: claimed,
			more: goesOn,
			titles: 'other',
			told: 'unknown success',
			after: allClaimed,
		},
		{
			name: 'an item with a claimed key is unknown where the rest was sent before',
			given: two,
			before: allClaimed,
			titles: '',
			told: sentEarlier,
			after: allClaimed,
		},
		{
			name: 'two items under a key that was sent before are both alreadySent, also if one is late',
			given: [late, onTime],
			before: sent,
			titles: '',
			told: 'alreadySent alreadySent',
			after: sent,
		},
		{
			name: 'two late items under one new key are both not sent',
			given: [late, late],
			before: none,
			more: goesOn,
			titles: '',
			told: 'notSent notSent',
			after: none,
		},
		{
			name: 'an item under the new key of a late one is sent',
			given: [late, onTime],
			before: none,
			more: goesOn,
			titles: 'on time',
			told: 'notSent success',
			after: sent,
		},
		{
			name: 'a late item under the key of one that was just sent is alreadySent',
			given: [onTime, late],
			before: none,
			titles: 'on time',
			told: 'success alreadySent',
			after: sent,
		},
		{
			name: 'an item under the key of one that was refused is not sent either',
			given: [onTime, onTime],
			before: none,
			more: refused,
			titles: 'on time',
			told: 'notSent notSent',
			after: none,
		},
	];
	test.each(keyedRuns)('$name', async ({ given, before, more, titles, told, after }) => {
		const came = await runKeyed(given, before, more);
		expect(came.titles.join(' ')).toBe(titles);
		expect(came.told).toMatch(told);
		expect(came.keys).toEqual(after);
	});

	test('a dry run neither claims a key nor asks for it', async () => {
		const dry = { options: { dryRun: true } };
		const { json, queries } = await runKeyed([late], sent, dry);
		const error = { message: textLike(isOver), outcome: 'notSent' };
		expect([json, queries]).toMatchObject([[{ dryRun: true, error }], []]);
	});

	test('Retry gives the first answer of a keyed send again, though its Send At is over', async () => {
		const kept = {};
		jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2019, 0, 1));
		expect((await runKeyed([late], none, { kept })).told).toBe('success');
		jest.restoreAllMocks();
		const again = await runKeyed([late], claimed, { kept });
		expect([again.titles, again.told]).toEqual([[], 'success']);
	});

	test('a late item stays refused though the clock goes back meanwhile', async () => {
		const database = databaseWith(none);
		const now = jest.spyOn(Date, 'now');
		database.beforeQuery = () => now.mockReturnValue(Date.UTC(2019, 0, 1));
		const { titles, told } = await runKeyed([late], none, { database });
		expect([titles, told]).toEqual([[], expect.stringMatching(isOver)]);
	});
});

test('a request may take as long as Timeout says, also a minute and more', async () => {
	const timeouts = jest.spyOn(AbortSignal, 'timeout');
	const { asked } = await run({ parameters: { ...send, options: { timeout: 90_000 } } });
	expect(timeouts.mock.calls).toEqual([[90_000]]);
	expect(asked.map(({ options }) => options.timeout)).toEqual([90_000]);
});

test.each([
	{ name: 'has a key', key: '={{ $json.title }}', says: 'What was sent is not sent again' },
	{
		name: 'has none',
		key: undefined,
		says: 'Executing the workflow again sends all 2 again',
	},
])('what is advised after a batch that failed in part fits if each item $name', async (row) => {
	const options = { ...inOrder, ...(row.key === undefined ? {} : { idempotencyKey: row.key }) };
	const { error } = await run({
		items: titled('a', 'b'),
		parameters: { ...sendEach, options },
		faults: { b: () => failure('bad_request') },
	});
	expect(error?.description).toContain(row.says);
});

describe('a node that continues', () => {
	const keyed = { ...sendEach, options: { idempotencyKey: '={{ $json.title }}' } };
	const given = { items: titled('a', 'b', 'c', ''), parameters: keyed, continueOnFail: true };
	const faults = { b: lost, c: () => failure('bad_request') };
	const names = (title: string) => ({ audience: 'all', title, idempotencyKey: title });

	test('names each item that failed, says whether it was sent, and why it failed', async () => {
		const { items, json, hints } = await run({ ...given, faults });
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual(
			[0, 1, 2, 3].map((item) => ({ item })),
		);
		expect(json).toMatchObject([
			{ ...names('a'), status: 'success', campaignId: '1001' },
			{ ...names('b'), status: 'unknown', error: { outcome: 'unknown', type: 'network' } },
			{ ...names('c'), status: 'notSent', error: { outcome: 'notSent', type: 'bad_request' } },
			{ audience: 'all', status: 'notSent', error: { outcome: 'notSent', type: 'validation' } },
		]);
		for (const item of json.slice(1)) {
			expect(item).not.toHaveProperty('campaignId');
			expect(item).toHaveProperty('description', expect.stringMatching(/^[A-Z].*[^.]$/));
		}
		expect(hints).toEqual([
			expect.stringMatching(
				/^1 sent, 2 not sent \(item 2: The push .*; item 3: .*\), 1 unknown \(item 1\)\. See the error column\.$/,
			),
		]);
	});

	test('gives the error alone at its second output, where n8n adds what the item was', async () => {
		const node = { onError: 'continueErrorOutput' } as const;
		const { json, hints } = await run({ ...given, faults, node });
		expect(json.map((item) => Object.keys(item))).toEqual([
			expect.arrayContaining(['campaignId', 'title']),
			...[['error'], ['error'], ['error']],
		]);
		expect(hints).toEqual([
			expect.stringMatching(
				/^1 sent, 2 not sent \(item 2: The push .*; item 3: .*\), 1 unknown \(item 1\)\. See the Error output\.$/,
			),
		]);
	});

	test('counts an item whose request met a defect as unknown, and sends the others', async () => {
		const { context } = executeFunctions({
			items: titled('a', 'b'),
			parameters: { ...sendEach, options: inOrder },
			continueOnFail: true,
		});
		let isFirst = true;
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
			if (!isFirst) return timeout(ms);
			isFirst = false;
			throw new TypeError('x is not a function');
		});
		const [items = []] = await new PushCampaign().execute.call(context);
		expect(items.map(({ json }) => json['status'])).toEqual(['unknown', 'success']);
	});

	test('names the campaign of a read that failed', async () => {
		const service: Service = () => failure('invalid_value');
		const items = titled('1001', '');
		const { json, hints } = await run({ ...given, items, parameters: statusEach, service });
		expect(json).toMatchObject([
			{ campaignId: '1001', error: { type: 'invalid_value' } },
			{ error: { type: 'validation' } },
		]);
		expect(json.map((item) => Object.keys(item))).toEqual([['campaignId', 'error'], ['error']]);
		expect(hints).toEqual([
			expect.stringMatching(/^2 of 2 failed \(item 0: .*; item 1: .*\)\. See /),
		]);
	});
});

describe('a dry run of Send to All', () => {
	const parameters = { ...sendEach, options: { dryRun: true } };
	const countsOf = ({ asked }: Came) => asked.map(({ options }) => options.url.split('/v1/')[1]);

	test('asks once how many subscribers it would reach', async () => {
		const came = await run({ items: titled('a', 'b', 'c'), parameters });
		expect(countsOf(came)).toEqual(['site/subscriber_count']);
		expect(came.hints).toEqual([
			expect.stringContaining('would go to all 10,000 active subscribers right away:'),
		]);
	});

	test.each<{ name: string; service: Service }>([
		{ name: 'the service refuses', service: () => failure('authentication_failure') },
		{ name: 'no answer comes', service: lost },
		{ name: 'the answer has no number', service: () => created(1) },
	])('says nothing of how many if $name', async ({ service }) => {
		const { json, hints } = await run({ items: titled('a'), parameters, service });
		expect(json).toMatchObject([{ title: 'a', dryRun: true }]);
		expect(hints).toEqual([expect.stringContaining('would go to all subscribers right away:')]);
	});

	test('asks nothing more once the service has refused another item', async () => {
		const mixed = { ...sendEach, options: { ...inOrder, dryRun: '={{ $itemIndex === 0 }}' } };
		const faults = { b: () => failure('bad_request') };
		const given = { parameters: mixed, items: titled('a', 'b'), faults, continueOnFail: true };
		const came = await run(given);
		expect(countsOf(came)).toEqual(['notification/send/all']);
		expect(came.hints).toEqual([
			expect.stringMatching(/^0 sent, 1 in a dry run, 1 not sent \(item 1: .*\)\. See /),
			expect.stringContaining('would go to all subscribers right away:'),
		]);
	});

	test.each([{ continueOnFail: false }, { continueOnFail: true }])(
		'judges all items and fails for none of them, with Continue $continueOnFail',
		async ({ continueOnFail }) => {
			const options = { dryRun: true, idempotencyKey: '={{ $json.key }}' };
			const of = (title: string, sendAt: string, key: string) => ({ json: { title, sendAt, key } });
			const came = await run({
				items: [
					of('', 'now', 'a'),
					of('b', 'now', ''),
					of('c', '2020-01-01T00:00Z', 'c'),
					of('d', 'now', 'd'),
				],
				parameters: {
					...sendEach,
					additionalFields: { sendAt: '={{ $json.sendAt }}' },
					options,
				},
				continueOnFail,
				node: { onError: 'continueErrorOutput' },
			});
			expect(came.titles).toEqual([]);
			const error = { type: 'validation', outcome: 'notSent' };
			const refused = { audience: 'all', dryRun: true, error };
			expect(came.json).toMatchObject([
				{ ...refused, error: { message: textLike(/^Title /) } },
				{ ...refused, title: 'b', error: { message: textLike(/^Idempotency Key /) } },
				{ ...refused, title: 'c', error: { message: textLike(/^Send At /) } },
				{ audience: 'all', title: 'd', dryRun: true, request: {} },
			]);
			for (const item of came.json.slice(0, 3)) {
				for (const name of ['status', 'description', 'campaignId', 'request']) {
					expect(item).not.toHaveProperty(name);
				}
			}
			expect(came.hints).toEqual([
				expect.stringMatching(
					/<br>1 of 4 would be sent\. 3 of 4 would not be sent:<br>Title .*: item 0<br>Idempotency Key .*: item 1<br>Send At .*: item 2<br><br>The one to be sent would go to all 10,000 /,
				),
			]);
		},
	);

	test('ends if it can not be read whether it is one: then nothing may be sent', async () => {
		const unclear = { ...sendEach, options: { dryRun: '={{ $json.nothing }}' } };
		const { error, asked } = await run({ items: titled('a', 'b'), parameters: unclear });
		expect(error?.message).toMatch(/^2 of 2 items are not valid: Dry Run /);
		expect(asked).toEqual([]);
	});

	test('asks nothing if nothing is a dry run, or it is not to all', async () => {
		const toOne = { ...parameters, operation: 'sendToSubscriber', subscriberId: '5001' };
		expect(countsOf(await run({ parameters: toOne, items: titled('a') }))).toEqual([]);
		const sent = await run({ parameters: sendEach, items: titled('a') });
		expect(countsOf(sent)).toEqual(['notification/send/all']);
	});
});

describe('hints', () => {
	const scheduled = { ...sendEach, additionalFields: { sendAt: '2099-01-01T00:00Z' } };

	test('count what was accepted in this run, not what failed or was sent before', async () => {
		const faults = { b: () => failure('bad_request') };
		const given = { parameters: scheduled, faults, continueOnFail: true };
		expect((await run({ ...given, items: titled('a', 'b', 'c') })).hints).toEqual([
			expect.stringMatching(/^2 scheduled, 1 not sent \(item 1: .*\)\. See the error column\.$/),
			expect.stringMatching(/^2 sends are scheduled for 1 Jan 2099 00:00, UTC\. /),
		]);
		const keyed = {
			...given,
			items: titled('a', 'c'),
			parameters: { ...scheduled, options: { idempotencyKey: 'launch' } },
		};
		expect((await run(keyed)).hints).toEqual([
			'1 scheduled, 1 sent earlier. What was sent earlier is not sent again.',
			expect.stringMatching(/^Scheduled /),
			'1 item was not sent: an earlier item has the same idempotency key but different content.',
		]);
	});

	test('say how long the run waited because of too many requests', async () => {
		let calls = 0;
		const service: Service = () => ({
			...((calls += 1) === 1 ? failure('rate_limit') : created(1)),
			headers: { 'retry-after': '0.01' },
		});
		expect((await run({ service })).hints).toEqual([
			'The push service said once that there were too many requests, so the run waited 1 second in total.',
		]);
	});

	test('that can not be shown do not hide what was sent', async () => {
		const { json, warnings } = await run({
			addExecutionHints: () => {
				throw new TypeError('x is not a function');
			},
		});
		expect(json).toMatchObject([{ campaignId: '1001', status: 'success' }]);
		expect(warnings).toEqual(['The hints of a run could not be shown: x is not a function']);
	});

	test('are left out if n8n has no way to show them', async () => {
		const { context, warnings } = executeFunctions({ parameters: send });
		await new PushCampaign().execute.call(context);
		expect(warnings).toEqual([]);
	});
});

describe('reads', () => {
	const answerOf: Service = ({ url }) => statusAnswer(url.split('/').at(-1) ?? '');

	test('with the same parameters share one request, and each returns an object of its own', async () => {
		const items = titled('1', '2', '1');
		const parameters = { ...statusEach, simplify: false };
		const { items: given, json, asked } = await run({ items, parameters, service: answerOf });
		expect(asked.map(({ options }) => options.url.split('/').at(-1))).toEqual(['1', '2']);
		expect(given).toEqual(
			['1', '2', '1'].map((id, item) => ({ json: statusRecord(id), pairedItem: { item } })),
		);
		expect(json[2]?.['count']).not.toBe(json[0]?.['count']);
	});

	test('with the same parameters but another credential are requests of their own', async () => {
		const sites = ['push', 'other', 'push'];
		const { asked } = await run({
			parameters: status,
			items: titled('a', 'b', 'c'),
			service: answerOf,
			credentialsFor: (_type, itemIndex) =>
				withExpressions({ baseUrl: `https://${sites[Number(itemIndex)]}.example` }),
		});
		const hosts = asked.map(({ options }) => new URL(options.url).host);
		expect(hosts.sort()).toEqual(['other.example', 'push.example']);
	});
});
