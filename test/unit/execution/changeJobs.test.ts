import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { NodeError } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { KeyRechecks } from '../../../nodes/PushCampaign/send/keyRechecks';
import {
	created,
	credential,
	DeduplicationStore,
	executeFunctions,
	lost,
	type ExecuteOptions,
	type Service,
	withExpressions,
} from './support';

// Where the rules of sends meet: site, credential, expression, key, Retry, Retry On Fail, an agent's tool, Resend
// Unknown. What n8n does in each case (which execution ID, what it keeps) is shown in test/host.

// They would go on when a test is over.
beforeEach(() => jest.spyOn(KeyRechecks.prototype, 'note').mockReturnValue());
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

const ended = z.object({ status: z.string() });

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
	const store = new DeduplicationStore();
	const came = [];
	for (const each of tries) came.push(await runOnce({ kept, store, ...each }));
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
		const store = new DeduplicationStore();
		store.entries = ['key:k', 'unsettled:k'];
		const again: Try = { ...two, items: [item('a', 'k')], store };
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

	test('a Retry gives the first answer again though n8n’s store does not answer', async () => {
		const store = new DeduplicationStore();
		await runOnce({ ...a, store });
		const kept = {};
		const other = new DeduplicationStore();
		await runOnce({ ...a, kept, store: other });
		other.refusals = [new Error('Locked'), new Error('Locked')];
		expect((await runOnce({ ...retryOf(a), kept, store: other })).ends).toBe('success');
	});

	test('two equal calls of an agent at the same time get one answer, and neither is sent earlier', async () => {
		const call: Try = { ...a, node: { type: 'n8n-nodes-push-campaign.pushCampaignTool' } };
		const same = { kept: {}, store: new DeduplicationStore() };
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

describe('items of one run with the same key', () => {
	const toSubscriber = {
		...content,
		operation: 'sendToSubscriber',
		title: 'Sale',
		subscriberId: '={{ $json.title }}',
		options: { maxParallel: 1, idempotencyKey: 'k' },
	};
	const failing = async (answer: Service) => {
		const { context } = executeFunctions({
			parameters: toSubscriber,
			items: [item('5001'), item('5002')],
			continueOnFail: true,
			service: answer,
			store: new DeduplicationStore(),
		});
		const [items = []] = await new PushCampaign().execute.call(context);
		return items.map(({ json }) => JSON.stringify(json['error']));
	};

	test('the second does not name the subscriber of the first that was refused', async () => {
		const [first, second] = await failing(() => ({
			body: '{"status":"failure","type":"invalid_sid","description":"No subscriber 5001"}',
		}));
		expect(first).toContain('with the ID 5001');
		expect(second).not.toContain('5001');
		expect(second).toMatch(
			/"message":"This was not sent, because an earlier item with the idempotency key \\"k\\" was not sent"/,
		);
		expect(second).toContain('"type":"invalid_sid","httpCode":"404","outcome":"notSent"');
	});

	test('the second is unknown if the first is', async () => {
		const [, second] = await failing(lost);
		expect(second).toMatch(/^\{"message":"It is unknown whether this was sent: an earlier item/);
		expect(second).toContain('"outcome":"unknown"');
	});
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

	test('is temporary, and not about what the user entered, if n8n’s store of keys is locked', async () => {
		const store = new DeduplicationStore();
		store.refusals = Array.from({ length: 9 }, () => new Error('SQLITE_BUSY: database is locked'));
		const { error, asked } = await errorOf({ store });
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
