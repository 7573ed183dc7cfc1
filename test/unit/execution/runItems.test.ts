import type { IDataObject, INodeExecutionData, NodeExecutionHint } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { messageOf } from '../../../nodes/PushCampaign/service/invalidInput';
import {
	created,
	credential,
	DeduplicationStore,
	executeFunctions,
	failure,
	lost,
	statusAnswer,
	statusRecord,
	type Answer,
	type ExecuteOptions,
	type Service,
} from './support';

// The node without n8n's engine, so that each of its corners is reached at once; test/engine and test/host
// show the same in n8n.

const content = { title: 'Sale', message: 'Today', targetUrl: 'https://shop.example' };
const send: IDataObject = { operation: 'sendToAll', ...content };
const status: IDataObject = { operation: 'getStatus', campaignId: '1001' };

const titled = (...titles: string[]): INodeExecutionData[] =>
	titles.map((title) => ({ json: { title } }));
/** As written: each item is sent under its title. */
const sendEach: IDataObject = { ...send, title: '={{ $json.title }}' };

async function execute(options: ExecuteOptions) {
	const { context, asked } = executeFunctions(options);
	const [items = []] = await new PushCampaign().execute.call(context);
	return { items, json: items.map(({ json }) => json), asked };
}

/** What a run is stopped with. */
async function errorOf(options: ExecuteOptions): Promise<NodeApiError | NodeOperationError> {
	try {
		await execute(options);
	} catch (error) {
		if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
		throw error;
	}
	throw new TypeError('The run was not stopped');
}
/** How each item ended, or what the run was stopped with. */
async function outcomeOf(options: ExecuteOptions) {
	try {
		const { json } = await execute(options);
		const ends = z.array(z.object({ status: z.string().optional(), error: failed.optional() }));
		const outcomes = ends.parse(json).map(({ status, error }) => error?.outcome ?? status);
		return { outcomes, message: '' };
	} catch (error) {
		return { outcomes: [], message: messageOf(error) };
	}
}
const failed = z.object({ outcome: z.string() });
const shown = ({ message, description, context }: NodeApiError | NodeOperationError) => ({
	message,
	description,
	item: context['itemIndex'],
});
const titleOf = ({ body }: { body?: unknown }) =>
	typeof body === 'string' ? /"title":"([^"]*)"/.exec(body)?.[1] : undefined;

/** Gives each send the next campaign ID, but fails for some titles. */
function serviceOf(faults: Record<string, Service> = {}) {
	const titles: Array<string | undefined> = [];
	const service: Service = async (options) => {
		const title = titleOf(options);
		titles.push(title);
		const fault = title === undefined ? undefined : faults[title];
		return fault === undefined ? created(1000 + titles.length) : await fault(options);
	};
	return { service, titles };
}

/** Answers after a moment, and counts how many requests were ever under way at once. */
function countUnderWay(answer: (url: string) => Answer) {
	const counted = { underWay: 0, most: 0 };
	const service: Service = async ({ url }) => {
		counted.underWay += 1;
		counted.most = Math.max(counted.most, counted.underWay);
		await new Promise((resolve) => setTimeout(resolve, 5));
		counted.underWay -= 1;
		return answer(url);
	};
	return { service, counted };
}

describe('before anything is sent', () => {
	test('without items there is nothing to do', async () => {
		const { context, asked } = executeFunctions({ items: [] });
		expect(await new PushCampaign().execute.call(context)).toEqual([[]]);
		expect(asked).toEqual([]);
	});

	test.each([
		[{ operation: 'sendToMoon' }, 'The operation "sendToMoon" is not known'],
		[{ operation: '' }, 'The operation is not known'],
		[{ operation: null }, 'The operation is not known'],
		[{ operation: 7 }, 'The operation is not known'],
		[{ resource: 'site' }, 'The operation "sendToAll" is not known'],
	])(
		'with Continue every item says so, and none is handed on as if it were sent: %j',
		async (more, message) => {
			const run = { items: titled('a', 'b'), parameters: { ...send, ...more } };
			const stopped = await errorOf(run);
			const description = 'Choose a resource and an operation from the lists.';
			expect(shown(stopped)).toEqual({ message, description, item: 0 });
			expect(stopped).toMatchObject({ failure: { cause: 'configuration-invalid' } });
			const { json, asked } = await execute({ ...run, continueOnFail: true });
			const error = { message, type: 'validation', outcome: 'notSent' };
			expect(json).toMatchObject([{ error }, { error }]);
			expect(json.map((item) => Object.keys(item))).toEqual([['error'], ['error']]);
			expect(asked).toEqual([]);
		},
	);

	test('an operation that n8n can’t work out is told in its words', async () => {
		const parameters = { ...send, operation: '={{ $("Nowhere").item }}' };
		expect(shown(await errorOf({ parameters }))).toEqual({
			message: "Operation can't be worked out: Referenced node doesn't exist",
			description: 'Correct the expression in Operation.',
			item: 0,
		});
		const { json } = await execute({ parameters, continueOnFail: true });
		expect(json).toMatchObject([{ error: { type: 'validation', outcome: 'notSent' } }]);
	});

	test('with Continue a fault of a read has no outcome', async () => {
		const { context } = executeFunctions({ parameters: status, continueOnFail: true });
		let calls = 0;
		const getTimezone = () => {
			// The first one is for finding out the operation.
			if ((calls += 1) > 1) throw new TypeError('x is not a function');
			return 'UTC';
		};
		const [items] = await new PushCampaign().execute.call({ ...context, getTimezone });
		expect(items?.[0]?.json['error']).toEqual({
			message: 'The node ended unexpectedly: x is not a function',
			description:
				'This is not about what you entered. Report it to the maintainers of this node, with the workflow and the input item.',
			type: 'validation',
		});
	});

	const refused = new Error('Credential with ID "7" does not exist for type "pushCampaignApi".');
	const advice = 'Choose a Push Campaign API credential in the node that you may use.';

	test.each([
		[refused, refused.message],
		[{ ...credential, apiKey: '' }, 'API Key of the credential is missing'],
	])('a credential that is of no use stops the run: %p', async (credentials, message) => {
		const error = await errorOf({ parameters: send, credentials });
		expect(shown(error)).toMatchObject({ message, item: 0 });
	});

	test.each([
		['send', send, { outcome: 'notSent' }],
		['read', status, {}],
	])('with Continue it becomes the error of each item: %s', async (_kind, parameters, outcome) => {
		const { items, asked } = await execute({
			items: titled('a', 'b'),
			parameters,
			credentials: refused,
			continueOnFail: true,
		});
		const error = {
			message: refused.message,
			description: advice,
			type: 'validation',
			...outcome,
		};
		expect(items).toEqual([
			{ json: { error }, pairedItem: { item: 0 } },
			{ json: { error }, pairedItem: { item: 1 } },
		]);
		expect(asked).toEqual([]);
	});
});

test.each([
	[{}, { id: '7', name: 'Shop' }],
	[{ credentials: {} }, { id: '', name: '' }],
])(
	'the credential of a node is opened once, and named to n8n’s helper: %j',
	async (node, named) => {
		const { asked } = await execute({ parameters: send, node });
		const credentialsDecrypted = { ...named, type: 'pushCampaignApi', data: credential };
		expect(asked.map(({ credentialType, more }) => [credentialType, more])).toEqual([
			['pushCampaignApi', { credentialsDecrypted }],
		]);
	},
);

describe('sends', () => {
	test('each item becomes one request, in its place', async () => {
		const items = titled('a', 'b', 'c');
		const { service, titles } = serviceOf();
		const { items: sent } = await execute({ items, parameters: sendEach, service });
		expect(titles).toEqual(['a', 'b', 'c']);
		expect(sent).toEqual(
			[1001, 1002, 1003].map((id, item) => ({
				json: {
					campaignId: String(id),
					audience: 'all',
					status: 'success',
					description: 'Campaign created',
					title: ['a', 'b', 'c'][item],
				},
				pairedItem: { item },
			})),
		);
	});

	test('thousands of items let n8n have its turn in between', async () => {
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
		const { context } = executeFunctions({
			items,
			parameters: { ...sendEach, options: { dryRun: true } },
		});
		await new PushCampaign().execute.call(context);
		clearInterval(counting);
		expect(new Set(seen).size).toBe(3);
	});

	test('all items are checked before the first is sent', async () => {
		const items = titled('a', 'b', '', 'd', '');
		const { service, titles } = serviceOf();
		const error = await errorOf({ items, parameters: sendEach, service });
		expect(titles).toEqual([]);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(shown(error)).toEqual({
			message: 'Title is empty for this item: its expression gave nothing',
			description:
				'Sent: 0, not sent: 5, unknown: 0. First to fail: item 2. Check the expression in Title, and the item that it reads from.',
			item: 2,
		});
	});

	test('with Continue what is not valid keeps its place', async () => {
		const items = titled('a', '', 'c');
		const { service, titles } = serviceOf({ c: () => failure('bad_request') });
		const { json } = await execute({
			items,
			parameters: sendEach,
			service,
			continueOnFail: true,
		});
		expect(titles).toEqual(['a', 'c']);
		expect(json).toMatchObject([
			{ campaignId: '1001' },
			{
				error: {
					message: 'Title is empty for this item: its expression gave nothing',
					type: 'validation',
					outcome: 'notSent',
				},
			},
			{ error: { type: 'bad_request', outcome: 'notSent', httpCode: '400' } },
		]);
		expect(json.map((item) => 'campaignId' in item)).toEqual([true, false, false]);
	});

	test('a failure keeps the rest from starting, and says how all ended', async () => {
		const items = titled('a', 'b', 'c', 'd');
		const { service, titles } = serviceOf({ b: lost });
		const parameters = { ...sendEach, options: { maxParallel: 1 } };
		const error = await errorOf({ items, parameters, service });
		expect(titles).toEqual(['a', 'b']);
		expect(error).toBeInstanceOf(NodeApiError);
		expect(error.message).toMatch(/^It is unknown whether this was sent/);
		expect(error.description).toMatch(
			/^1 of 4 was sent\. Sent: 1, not sent: 2, unknown: 1\. First to fail: item 1\. /,
		);
		expect(error.context['itemIndex']).toBe(1);
	});

	test('as many as are allowed are under way at once', async () => {
		const items = titled('a', 'b', 'c', 'd', 'e');
		const { service, counted } = countUnderWay(() => created(1));
		// The first item that is ready decides for all.
		const parameters = {
			...sendEach,
			options: {
				maxParallel: '={{ $itemIndex === 0 ? 500 : 3 }}',
				dryRun: '={{ $itemIndex === 0 }}',
			},
		};
		await execute({ items, parameters, service });
		expect(counted.most).toBe(3);
	});

	test('a refusal for too many requests is retried as often as the options say', async () => {
		const refusal = { ...failure('rate_limit'), headers: { 'retry-after': '0.001' } };
		for (const rateLimitRetries of [0, 2]) {
			const { service, titles } = serviceOf({ Sale: () => refusal });
			const parameters = { ...send, options: { rateLimitRetries } };
			expect((await errorOf({ parameters, service })).message).toBe(
				'The push service is receiving too many requests',
			);
			expect(titles).toHaveLength(rateLimitRetries + 1);
		}
	});

	test('nothing is asked for twice where it may have arrived', async () => {
		const { service, titles } = serviceOf({ Sale: lost });
		await errorOf({ parameters: send, service });
		const unspecified = serviceOf({ Sale: () => failure('unspecified') });
		await errorOf({ parameters: send, service: unspecified.service });
		expect([titles.length, unspecified.titles.length]).toEqual([1, 1]);
	});

	test('what becomes too late while its key is claimed is not sent, and its key is free', async () => {
		const now = jest.spyOn(Date, 'now');
		const start = Date.UTC(2030, 0, 1);
		try {
			now.mockReturnValue(start);
			const store = new DeduplicationStore();
			store.beforeRecord = () => now.mockReturnValue(start + 60_000);
			const { service, titles } = serviceOf();
			const parameters = {
				...send,
				additionalFields: { sendAt: '2030-01-01T00:05Z' },
				options: { idempotencyKey: 'one' },
			};
			const error = await errorOf({ parameters, service, store });
			expect(error.message).toMatch(/^Send At is .* less than 5 minutes ahead$/);
			expect([titles, store.entries]).toEqual([[], []]);
		} finally {
			now.mockRestore();
		}
	});

	test('what is too late when its turn comes is not sent', async () => {
		const now = jest.spyOn(Date, 'now');
		const start = Date.UTC(2030, 0, 1);
		try {
			now.mockReturnValue(start);
			const items = titled('a', 'b');
			const { service, titles } = serviceOf({
				a: () => {
					now.mockReturnValue(start + 60_000);
					return created(1);
				},
			});
			const parameters = {
				...sendEach,
				additionalFields: { sendAt: '2030-01-01T00:05Z' },
				options: { maxParallel: 1 },
			};
			expect(shown(await errorOf({ items, parameters, service }))).toMatchObject({
				message: 'Send At is 2030-01-01 00:05 +00:00, which is less than 5 minutes ahead',
				item: 1,
			});
			expect(titles).toEqual(['a']);
			expect((await errorOf({ items, parameters, service })).message).toMatch(/^Send At/);
			expect(titles).toEqual(['a']);
		} finally {
			now.mockRestore();
		}
	});

	test('a user who stops the execution is told so', async () => {
		const stop = new AbortController();
		const service: Service = () => {
			stop.abort();
			return created(1);
		};
		for (const parameters of [send, status]) {
			expect((await errorOf({ parameters, service, signal: stop.signal })).message).toBe(
				'The execution was canceled before all items were done',
			);
		}
	});

	test.each(['rate_limit', 'unspecified'])(
		'a user who stops the execution waits for no pause: after %s',
		async (type) => {
			const stop = new AbortController();
			let asked = 0;
			const service: Service = () => {
				asked += 1;
				setTimeout(() => stop.abort(), 5);
				return { ...failure(type), headers: { 'retry-after': '500' } };
			};
			const error = await errorOf({ parameters: status, service, signal: stop.signal });
			expect(error.message).toBe('The execution was canceled before all items were done');
			expect(asked).toBe(1);
		},
	);
});

describe('a dry run', () => {
	const dry = { options: { dryRun: true } };

	test('shows each request and makes none', async () => {
		const { json, asked } = await execute({ parameters: { ...send, ...dry } });
		expect(json).toEqual([
			{
				audience: 'all',
				title: 'Sale',
				dryRun: true,
				request: {
					method: 'POST',
					url: 'https://push.example/v1/notification/send/all',
					body: { title: 'Sale', message: 'Today', target_url: 'https://shop.example' },
				},
			},
		]);
		expect(asked).toEqual([]);
	});

	test('beside sends counts as nothing sent', async () => {
		const items = titled('a', 'b', 'c');
		const { service } = serviceOf({ c: () => failure('bad_request') });
		const parameters = {
			...sendEach,
			options: { maxParallel: 1, dryRun: '={{ $itemIndex === 0 }}' },
		};
		expect(shown(await errorOf({ items, parameters, service })).description).toMatch(
			/^1 of 3 was sent\. Sent: 1, not sent: 2, unknown: 0\. First to fail: item 2\. /,
		);
	});

	test('shows the request of what was sent before, too', async () => {
		const kept = {};
		await execute({ parameters: send, kept });
		const { json } = await execute({ parameters: { ...send, ...dry }, kept });
		expect(json).toMatchObject([{ dryRun: true }]);
	});
});

describe('a second try of the execution', () => {
	const items = titled('a', 'b', 'c');
	const parameters = { ...sendEach, options: { maxParallel: 1 } };

	test('sends only what was not sent, and gives the first answers again', async () => {
		const kept = {};
		const first = serviceOf({ b: () => failure('bad_request') });
		await errorOf({ items, parameters, service: first.service, kept });
		expect(first.titles).toEqual(['a', 'b']);
		const second = serviceOf();
		const { json } = await execute({ items, parameters, service: second.service, kept });
		expect(second.titles).toEqual(['b', 'c']);
		expect(json.map(({ campaignId }) => campaignId)).toEqual(['1001', '1001', '1002']);
	});

	test('sends the rest where one is unknown, which fails in the same words, unless it is to be sent again', async () => {
		const kept = {};
		const first = serviceOf({ a: lost });
		const unknown = await errorOf({ items, parameters, service: first.service, kept });
		expect(first.titles).toEqual(['a']);
		const second = serviceOf();
		const again = await errorOf({ items, parameters, service: second.service, kept });
		expect(second.titles).toEqual(['b', 'c']);
		const counted = (error: { description?: string | null | undefined }) =>
			error.description?.replace(/^.*unknown: 1/, 'the counts');
		expect([again.message, counted(again)]).toEqual([unknown.message, counted(unknown)]);
		expect(again.description).toContain('Sent: 2, not sent: 0, unknown: 1.');
		const resend = { ...sendEach, options: { resendUnknown: true } };
		const { json } = await execute({ items, parameters: resend, service: second.service, kept });
		expect(second.titles).toEqual(['b', 'c', 'a']);
		expect(json).toHaveLength(3);
	});

	test('waits for what another Retry of it has under way, and gives its answer', async () => {
		const failed = {};
		await errorOf({ parameters: send, service: () => failure('bad_request'), kept: failed });
		const kept = structuredClone(failed);
		let answer = () => {};
		const slow: Service = async () => {
			await new Promise<void>((resolve) => (answer = resolve));
			return created(1);
		};
		const first = execute({ parameters: send, service: slow, kept });
		await new Promise((resolve) => setTimeout(resolve, 5));
		const { service, titles } = serviceOf();
		const second = execute({ parameters: send, service, kept: structuredClone(failed) });
		await new Promise((resolve) => setTimeout(resolve, 5));
		answer();
		expect((await second).json).toEqual((await first).json);
		expect(titles).toEqual([]);
	});

	test('sends to another address, or by another credential, what was sent to the first', async () => {
		const kept = {};
		const { service, titles } = serviceOf();
		await execute({ parameters: send, service, kept });
		await execute({
			parameters: send,
			service,
			kept,
			credentials: { ...credential, apiKey: 'renewed' },
		});
		expect(titles).toHaveLength(1);
		const elsewhere = { ...credential, baseUrl: 'https://other.example' };
		await execute({ parameters: send, service, kept, credentials: elsewhere });
		expect(titles).toHaveLength(2);
		const node = { credentials: { pushCampaignApi: { id: '8', name: 'Other shop' } } };
		await execute({ parameters: send, service, kept, node });
		expect(titles).toHaveLength(3);
	});

	// The parameters as a user writes them, and n8n works them out, anew for each try.
	const changing = {
		...send,
		title: '={{ $json.title }} {{ $now.toMillis() }} {{ Math.random() }}',
	};
	const scheduled = { sendAt: '={{ $now.plus({ days: 1 + Math.ceil(Math.random() * 999) }) }}' };
	const inAttributes: IDataObject = {
		...send,
		operation: 'sendToAttributes',
		attributes: { pairs: [{ name: 'lucky', value: '={{ Math.random() }}' }] },
	};
	test.each<[what: string, count: number, first: ExecuteOptions, second: ExecuteOptions]>([
		['the time in its title', 1, { parameters: changing }, { parameters: changing }],
		[
			'the time in a collection',
			1,
			{ parameters: { ...send, additionalFields: scheduled } },
			{ parameters: { ...send, additionalFields: scheduled } },
		],
		['chance in a list', 1, { parameters: inAttributes }, { parameters: inAttributes }],
		[
			'the time, and other options',
			1,
			{ parameters: { ...changing, options: { timeout: 1 } } },
			{ parameters: { ...changing, options: { timeout: '={{ 1 + 1 }}' } } },
		],
		[
			'the time, and another expression',
			2,
			{ parameters: changing },
			{ parameters: { ...changing, message: 'New' } },
		],
		[
			'the time, and another input item',
			2,
			{ parameters: changing, items: titled('a') },
			{ parameters: changing, items: titled('b') },
		],
		[
			'the same field of the same item',
			1,
			{ parameters: sendEach, items: titled('a') },
			{ parameters: sendEach, items: titled('a') },
		],
		[
			'the same field of another item',
			2,
			{ parameters: sendEach, items: titled('a') },
			{ parameters: sendEach, items: titled('b') },
		],
		[
			'the same content, worked out in another way',
			1,
			{ parameters: sendEach, items: titled('Sale') },
			{ parameters: { ...send, title: '={{ $json.name }}' }, items: [{ json: { name: 'Sale' } }] },
		],
		[
			'fixed content',
			1,
			{ parameters: send, items: titled('a') },
			{ parameters: send, items: titled('b') },
		],
		[
			'the same content, for another audience',
			2,
			{ parameters: send },
			{ parameters: { ...send, operation: 'sendToSegments', segmentIds: '1' } },
		],
		['other fixed content', 2, { parameters: send }, { parameters: { ...send, title: 'New' } }],
		[
			'an expression in its options alone, and other content',
			2,
			{ parameters: { ...send, options: { timeout: '={{ 1 + 1 }}' } } },
			{ parameters: { ...send, title: 'New', options: { timeout: '={{ 1 + 1 }}' } } },
		],
	])('of an item with %s makes %d in all', async (_what, count, first, second) => {
		const kept = {};
		const { service, titles } = serviceOf();
		await execute({ ...first, service, kept });
		await execute({ ...second, service, kept });
		expect(titles).toHaveLength(count);
	});
});

test.each([
	[{}, ['success', 'alreadySent']],
	[{ a: () => failure('bad_request') }, ['notSent', 'notSent']],
])(
	'of two items under one key the first is sent, and the second ends likewise: %j',
	async (faults, ends) => {
		const { service, titles } = serviceOf(faults);
		const parameters = { ...sendEach, options: { idempotencyKey: 'launch' } };
		const run = { items: titled('a', 'b'), parameters, service, continueOnFail: true };
		expect(await outcomeOf(run)).toMatchObject({ outcomes: ends });
		expect(titles).toEqual(['a']);
	},
);

describe('what an earlier execution left claimed under its key', () => {
	const items = titled('a', 'b', 'c');
	const options: IDataObject = { idempotencyKey: '={{ $json.title }}', maxParallel: 1 };

	test.each([false, true])(
		'is told at the end and keeps nothing else from going out: with Continue %p',
		async (continueOnFail) => {
			const store = new DeduplicationStore();
			store.entries = ['key:b', 'unsettled:b'];
			const { service, titles } = serviceOf();
			const run = { items, parameters: { ...sendEach, options }, service, store, continueOnFail };
			const kept = {};
			for (const context of [kept, kept, {}]) {
				if (continueOnFail) {
					const { json } = await execute({ ...run, kept: context });
					expect(json[1]).toMatchObject({ error: { outcome: 'unknown' } });
				} else {
					const { message, context: told } = await errorOf({ ...run, kept: context });
					expect(message).toMatch(/^It is unknown whether this was sent: an earlier execution/);
					expect(told['itemIndex']).toBe(1);
				}
				expect(titles).toEqual(['a', 'c']);
			}
			if (continueOnFail) return;
			expect((await errorOf({ ...run, kept: {} })).description).toMatch(
				/^2 of 3 were sent\. Sent: 0, sent earlier under their keys: 2, not sent: 0, unknown: 1\. /,
			);
		},
	);
});

describe('a send whose time is over is asked for by its key before it is refused', () => {
	const late = '2020-01-01T00:00Z';
	const onTime = '2099-01-01T00:00Z';
	/** Title, key and time of each item. */
	type Item = readonly [title: string, key: string, sendAt: string];
	type More = Omit<ExecuteOptions, 'parameters'> & { readonly options?: IDataObject };
	const lateFirst: readonly Item[] = [
		['late', 'k', late],
		['other', 'o', onTime],
	];
	const [sent, claimed] = [['key:k'], ['key:k', 'unsettled:k']];
	const all = ['late', 'other'];

	async function run(given: readonly Item[], entries: string[], more: More = {}) {
		const store = new DeduplicationStore();
		store.entries = [...entries];
		const { service, titles } = serviceOf();
		const { options, ...rest } = more;
		const outcome = await outcomeOf({
			store,
			service,
			items: given.map(([title, key, sendAt]) => ({ json: { title, key, sendAt } })),
			parameters: {
				...sendEach,
				additionalFields: { sendAt: '={{ $json.sendAt }}' },
				options: { idempotencyKey: '={{ $json.key }}', ...options },
			},
			...rest,
		});
		return { titles, ...outcome, entries: store.entries, writes: store.writes };
	}
	const isOver = /^Send At is .* in the past$/;
	const isUnknown = /^It is unknown whether this was sent: an earlier execution/;
	const goesOn = { continueOnFail: true };
	const resends = { options: { resendUnknown: true } };

	test.each<
		[
			what: string,
			given: readonly Item[],
			entries: string[],
			more: More,
			titles: string[],
			told: RegExp | string[],
			left: string[],
		]
	>([
		['sent before', lateFirst, sent, {}, ['other'], ['alreadySent', 'success'], ['key:k', 'key:o']],
		['new', lateFirst, [], {}, [], isOver, []],
		['new, with Continue', lateFirst, [], goesOn, ['other'], ['notSent', 'success'], ['key:o']],
		['claimed before', lateFirst, claimed, {}, ['other'], isUnknown, [...claimed, 'key:o']],
		['claimed, with Resend Unknown', lateFirst, claimed, resends, [], isOver, claimed],
		[
			'that of several items, and was sent before',
			[...lateFirst, ['late too', 'k', late], ['on time', 'k', onTime]],
			sent,
			{},
			['other'],
			['alreadySent', 'success', 'alreadySent', 'alreadySent'],
			['key:k', 'key:o'],
		],
		[
			'that of several items, and is new',
			[
				['late', 'k', late],
				['late too', 'k', late],
				['on time', 'k', onTime],
			],
			[],
			goesOn,
			['on time'],
			['notSent', 'notSent', 'success'],
			['key:k'],
		],
		[
			'that of an earlier item of the run that is sent now',
			[
				['on time', 'k', onTime],
				['late', 'k', late],
			],
			[],
			{},
			['on time'],
			['success', 'alreadySent'],
			['key:k'],
		],
	])('a key that is %s', async (_what, given, entries, more, titles, told, left) => {
		const came = await run(given, entries, more);
		expect(came.titles).toEqual(titles);
		if (!Array.isArray(told)) expect(came.message).toMatch(told);
		else expect(came.outcomes).toEqual(told);
		expect([...came.entries].sort()).toEqual([...left].sort());
	});

	test('but not in a dry run, which neither claims nor asks', async () => {
		const dry = { options: { dryRun: true } };
		const { message, writes } = await run(lateFirst, sent, dry);
		expect(message).toMatch(isOver);
		expect(writes).toBe(0);
	});

	test('and where n8n can’t write, nothing leaves', async () => {
		const store = new DeduplicationStore();
		store.refusals = [new Error('full')];
		const { titles, message } = await run(lateFirst, [], { store });
		expect(titles).toEqual([]);
		expect(message).toMatch(/^Idempotency Key could not be saved in n8n's database: full/);
	});

	test('after the ledger: Retry gives the first answer again', async () => {
		const now = jest.spyOn(Date, 'now');
		try {
			const kept = {};
			now.mockReturnValue(Date.UTC(2019, 0, 1));
			expect((await run(lateFirst, [], { kept })).titles).toEqual(all);
			now.mockRestore();
			const again = await run(lateFirst, claimed, { kept });
			expect([again.titles, again.outcomes]).toEqual([[], ['success', 'success']]);
		} finally {
			now.mockRestore();
		}
	});

	test('though the clock goes back meanwhile', async () => {
		const now = jest.spyOn(Date, 'now');
		try {
			const store = new DeduplicationStore();
			store.beforeRecord = () => now.mockReturnValue(Date.UTC(2019, 0, 1));
			const { titles, message } = await run(lateFirst, [], { store });
			expect([titles, isOver.test(message)]).toEqual([[], true]);
		} finally {
			now.mockRestore();
		}
	});

	test('some at a time, so that no remembered key is pushed out', async () => {
		const store = new DeduplicationStore();
		const given = Array.from({ length: 500 }, (_, index): Item => [`${index}`, `k${index}`, late]);
		let most = 0;
		store.beforeRecord = () => (most = Math.max(most, store.entries.length));
		await run(given, [], { store });
		expect(most).toBeLessThanOrEqual(400);
		expect(store.entries).toEqual([]);
	});
});

describe('hints', () => {
	test('that can’t be shown hide nothing of what was sent', async () => {
		const { context, warnings } = executeFunctions({
			parameters: { ...send, options: { idempotencyKey: 'k' } },
			addExecutionHints: () => {
				throw new TypeError('x is not a function');
			},
		});
		const [items] = await new PushCampaign().execute.call(context);
		expect(items).toMatchObject([{ json: { campaignId: '1001', status: 'success' } }]);
		expect(warnings).toEqual(['The hints of a run could not be shown: x is not a function']);
	});

	async function hintsOf(options: ExecuteOptions): Promise<string[]> {
		const messages: string[] = [];
		const addExecutionHints = (...hints: NodeExecutionHint[]) => {
			messages.push(...hints.map(({ message }) => message));
		};
		await execute({ ...options, addExecutionHints });
		return messages;
	}
	const scheduled = { ...sendEach, additionalFields: { sendAt: '2099-01-01T00:00Z' } };

	test('count what was accepted now: not what failed, and not what was sent before', async () => {
		const { service } = serviceOf({ b: () => failure('bad_request') });
		const run = { parameters: scheduled, continueOnFail: true, service };
		const two = await hintsOf({ ...run, items: titled('a', 'b', 'c') });
		expect(two.join()).toMatch(/^2 sends are scheduled for 1 Jan 2099 00:00, UTC\. /);
		const one = await hintsOf({ ...run, items: titled('a', 'b') });
		expect(one.join()).toMatch(/^Scheduled for 1 Jan 2099 00:00, UTC\. /);
		const options = { idempotencyKey: 'launch' };
		const store = new DeduplicationStore();
		const keyed = { ...run, store, parameters: { ...scheduled, options } };
		expect(await hintsOf({ ...keyed, items: titled('a', 'c') })).toEqual([
			'1 of 2 was sent earlier under its idempotency key, and not again.',
			expect.stringMatching(/^Scheduled /),
		]);
		expect(await hintsOf({ ...keyed, items: titled('a', 'c') })).toEqual([
			'Nothing was sent: 2 of 2 were sent earlier under their idempotency keys.',
		]);
	});

	test('say that a dry run sent nothing', async () => {
		const options = { dryRun: true };
		expect(await hintsOf({ parameters: { ...send, options } })).toEqual([
			expect.stringMatching(/^Nothing was sent: this was a dry run\./),
		]);
	});
});

describe('the run of the node', () => {
	const twice = async (first: ExecuteOptions, second: ExecuteOptions) => {
		const kept = {};
		const { service, titles } = serviceOf();
		await execute({ parameters: send, service, kept, ...first });
		await execute({ parameters: send, service, kept, ...second });
		return titles.length;
	};
	const tool = { type: 'n8n-nodes-push-campaign.pushCampaignTool' };
	const call = { items: [{ json: { toolCallId: 'x' } }], node: tool };

	test('is another in a loop: the same content is sent again', async () => {
		expect(await twice({ runIndex: 0 }, { runIndex: 1 })).toBe(2);
		expect(await twice({ runIndex: 1 }, { runIndex: 1 })).toBe(1);
	});

	test('is the first where n8n tells none', async () => {
		expect(await twice({ runIndex: null }, { runIndex: 0 })).toBe(1);
		expect(await twice({ runIndex: null }, { runIndex: 1 })).toBe(2);
	});

	test('does not count where an agent names the call, either', async () => {
		expect(await twice({ ...call, runIndex: 0 }, { ...call, runIndex: 1 })).toBe(1);
		expect(await twice({ ...call, runIndex: 1 }, { ...call, runIndex: 1 })).toBe(1);
	});

	test('of an agent’s tool sends other content though its item is the same', async () => {
		const kept = {};
		const { service, titles } = serviceOf();
		const node = { ...tool, parameters: { title: '={{ $json.title }}' } };
		for (const title of ['a', 'b', 'c', 'a']) {
			const parameters = { ...send, title };
			await execute({ items: [{ json: { query: 'x' } }], parameters, service, kept, node });
		}
		expect(titles).toEqual(['a', 'b', 'c']);
	});
});

describe('reads', () => {
	const record = statusRecord('1001', { successfully_sent: 5, delivered: 4, clicked: 2 });
	const answer = { body: JSON.stringify(record) };
	const answerOf: Service = ({ url }) => statusAnswer(url.split('/').at(-1) ?? '');
	const statusEach: IDataObject = { ...status, campaignId: '={{ $json.title }}' };

	test('give the record, simplified or as it came', async () => {
		const { items } = await execute({ parameters: status, service: () => answer });
		expect(items).toMatchObject([
			{ json: { campaignId: '1001', status: 'Sent', clicked: 2 }, pairedItem: { item: 0 } },
		]);
		const raw = { ...status, simplify: false };
		expect((await execute({ parameters: raw, service: () => answer })).json).toEqual([record]);
	});

	test('of the same parameters share a request, not an object', async () => {
		const items = titled('1', '2', '1');
		const { json, asked } = await execute({
			items,
			parameters: statusEach,
			service: answerOf,
		});
		expect(asked.map(({ options }) => options.url.split('/').at(-1))).toEqual(['1', '2']);
		expect(json[2]).toEqual(json[0]);
		expect(json[2]).not.toBe(json[0]);
		const raw = { ...statusEach, simplify: false };
		const whole = await execute({ items, parameters: raw, service: answerOf });
		expect(whole.json[2]).toEqual(whole.json[0]);
		expect(whole.json[2]?.['count']).not.toBe(whole.json[0]?.['count']);
	});

	test('of the same parameters by another credential are another request', async () => {
		const sites = ['push', 'other', 'push'];
		const credentialsFor = (_type: unknown, itemIndex: unknown) => {
			const site = sites[Number(itemIndex)];
			if (site === undefined) return new Error('No such item');
			return { ...credential, baseUrl: `https://${site}.example` };
		};
		const { asked } = await execute({
			parameters: status,
			items: titled('a', 'b', 'c'),
			service: () => statusAnswer('1001'),
			credentialsFor,
		});
		expect(asked.map(({ options }) => new URL(options.url).host).sort()).toEqual([
			'other.example',
			'push.example',
		]);
	});

	test('are all checked before the first', async () => {
		const items = titled('1', '');
		const { context, asked } = executeFunctions({ items, parameters: statusEach });
		await expect(new PushCampaign().execute.call(context)).rejects.toMatchObject({
			message: 'Campaign ID is empty for this item: its expression gave nothing',
			description: 'Check the expression in Campaign ID, and the item that it reads from.',
			context: { itemIndex: 1 },
		});
		expect(asked).toEqual([]);
	});

	test('with Continue what is not valid keeps its place', async () => {
		const items = titled('1001', '', '3');
		const service: Service = ({ url }) => (url.endsWith('/3') ? failure('bad_request') : answer);
		const { json } = await execute({
			items,
			parameters: statusEach,
			service,
			continueOnFail: true,
		});
		expect(json).toMatchObject([
			{ campaignId: '1001' },
			{
				error: {
					message: 'Campaign ID is empty for this item: its expression gave nothing',
					type: 'validation',
				},
			},
			{ error: { type: 'bad_request', httpCode: '400' } },
		]);
	});

	test('are asked for again, twice, where the answer may come later', async () => {
		jest.spyOn(Math, 'random').mockReturnValue(0);
		const tries = { 1: 0, 2: 0 };
		const service: Service = ({ url }) => {
			const id = url.endsWith('/1') ? 1 : 2;
			tries[id] += 1;
			return id === 1 && tries[id] === 3 ? statusAnswer('1') : lost();
		};
		const items = titled('1', '2');
		try {
			const options = { items, parameters: statusEach, service, continueOnFail: true };
			const { json } = await execute(options);
			expect(json).toMatchObject([{ campaignId: '1' }, { error: { type: 'network' } }]);
			expect(tries).toEqual({ 1: 3, 2: 3 });
		} finally {
			jest.restoreAllMocks();
		}
	});
});
