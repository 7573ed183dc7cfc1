import fc from 'fast-check';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { anyCodePoints, anyWebUrl } from '../support/text';
import { runPoll } from './support/poll';
import {
	credentialsFor,
	failureOf,
	inputOf,
	isObject,
	outputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { itemsOf, runWorkflow } from './support/run';
import { chain, connect, nodeFrom } from './support/workflow';

// What n8n makes of parameters on their way into a request, and of those that are refused; the rules of the
// fields are told in the unit tests of the schemas and of the operations.

const simulator = useSimulator();
const surroundings = () => ({ credentials: credentialsFor(simulator()) });
const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

test.each([
	{ name: 'a missing title', parameters: { title: '' } },
	{
		name: 'a missing subscriber',
		parameters: { operation: 'sendToSubscriber', subscriberId: '' },
	},
])('n8n itself does not start with $name', async ({ parameters }) => {
	const run = runWorkflow(chain([push(parameters)]), surroundings());
	await expect(run).rejects.toThrow('issues');
});

test('with the error output the bad item alone goes there, beside its input', async () => {
	const workflow = chain([
		push({ title: '={{ $json.title.trim() }}' }, { onError: 'continueErrorOutput' }),
		{ name: 'Sent', type: 'n8n-nodes-base.noOp' },
	]);
	workflow.nodes.push(nodeFrom({ name: 'Failed', type: 'n8n-nodes-base.noOp' }));
	connect(workflow, 'Push Campaign', 'Failed', 1);
	const run = await runWorkflow(workflow, {
		...surroundings(),
		input: inputOf({ title: 'a', customer: 7 }, { title: '', customer: 8 }, { customer: 9 }),
	});
	expect(itemsOf(run, 'Sent')).toMatchObject([{ json: { campaignId: '1001' } }]);
	const error = {
		message: 'Title is empty for this item: its expression returned nothing',
		description: matching(/\.$/),
		type: 'validation',
		outcome: 'notSent',
	};
	expect(itemsOf(run, 'Failed').map(({ json }) => json)).toStrictEqual([
		{ title: '', customer: 8, error },
		{ customer: 9, error },
	]);
	expect(titlesAt(simulator())).toStrictEqual(['a']);
});

test('IDs keep every digit, and stand in a path encoded once', async () => {
	const body = '{"status":"success","description":"Created","ID":12345678901234567890}';
	simulator().addFault({ action: { kind: 'respond', body } });
	const sent = await runWorkflow(chain([push()]), surroundings());
	expect(outputOf(sent)).toMatchObject([{ campaignId: '12345678901234567890' }]);

	const campaignId = 'a/b?c=d#e %ä🌷';
	simulator().addCampaign({ id: campaignId });
	const read = push({ operation: 'getStatus', campaignId });
	expect(outputOf(await runWorkflow(chain([read]), surroundings()))).toMatchObject([
		{ campaignId },
	]);
	const encoded = 'a%2Fb%3Fc%3Dd%23e%20%25%C3%A4%F0%9F%8C%B7';
	expect(simulator().requests.at(-1)?.path).toBe(`/v1/notification/status/id/${encoded}`);
});

const headers = { apiKeyHeader: 'X-Api-Key', authTokenHeader: 'X-Api-Token' };
const custom = useSimulator({
	pathPrefix: '/push/site-7',
	keyHeader: headers.apiKeyHeader,
	tokenHeader: headers.authTokenHeader,
});

test('the credential takes an address with a prefix, and other names of the headers', async () => {
	const credential = { ...headers, headerNames: 'custom', baseUrl: `${custom().url}//` };
	const run = await runWorkflow(chain([push()]), {
		credentials: credentialsFor(custom(), credential),
	});
	expect(outputOf(run)).toMatchObject([{ status: 'success' }]);
	const [request] = custom().requests;
	expect(request?.path).toBe('/push/site-7/v1/notification/send/all');
	expect(request?.headers).toMatchObject({ 'x-api-key': 'demo-key', 'x-api-token': 'demo-token' });
	expect(request?.headers).not.toHaveProperty('servicekey');
	expect(request?.headers).not.toHaveProperty('serviceauthtoken');
});

/** One value of every kind that an expression can give, as it stands in the expression. */
const values = {
	null: 'null',
	undefined: 'undefined',
	empty: '""',
	text: '"text"',
	digits: '"31"',
	longDigits: '"9007199254740993"',
	list: '" 31 ,; 007\\n 31"',
	jsonArray: `'[31, "32"]'`,
	url: '"https://a.example/x"',
	httpUrl: '"http://a.example/x"',
	json: `'{"a":1}'`,
	zero: '0',
	one: '1',
	minus: '-1',
	fraction: '1.5',
	notANumber: 'NaN',
	infinite: 'Infinity',
	huge: '2 ** 60',
	true: 'true',
	false: 'false',
	emptyArray: '[]',
	array: '["31"]',
	mixedArray: '["31", 32]',
	nestedArray: '[["31"]]',
	emptyObject: '({})',
	object: '({ a: 1 })',
	nestedObject: '({ a: { b: 1 } })',
	date: 'new Date(4e12)',
	invalidDate: 'new Date(NaN)',
	dateTime: 'DateTime.fromMillis(4e12, { zone: "Asia/Kolkata" })',
	pattern: '/x/',
};
type Kind = keyof typeof values;
const isKind = (kind: string): kind is Kind => kind in values;
const kinds = Object.keys(values).filter(isKind);
const value = `={{ [${Object.values(values).join(', ')}][$json.index] }}`;

/** What is sent of each kind that is taken. */
type Taken = Partial<Record<Kind, unknown>>;

const urls: Taken = { url: 'https://a.example/x', httpUrl: 'http://a.example/x' };
const texts: Taken = {
	text: 'text',
	digits: '31',
	longDigits: '9007199254740993',
	list: ' 31 ,; 007\n 31',
	jsonArray: '[31, "32"]',
	...urls,
	json: '{"a":1}',
};
/** Inside a collection n8n itself makes ISO text of a Luxon DateTime. */
const textsInside: Taken = { ...texts, dateTime: '2096-10-02T12:36:40.000+05:30' };
/** A number in a text is taken as its text. */
const numbersAsTexts: Taken = {
	zero: '0',
	one: '1',
	minus: '-1',
	fraction: '1.5',
	huge: '1152921504606847000',
};
const leftOut: Taken = { null: undefined, undefined: undefined, empty: undefined };
const numbers: Taken = { zero: 0, one: 1, minus: -1, fraction: 1.5 };
const booleans: Taken = { true: true, false: false };
const sentAt = { date: '2096-10-02 09:07 +02:00', dateTime: '2096-10-02 12:37 +05:30' };

const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
const button = (part: INodeParameters): INodeParameters => ({
	actionButtons: { button: [{ title: 'Go', url: 'https://a.example', ...part }] },
});
const pair = (part: INodeParameters): INodeParameters => ({
	operation: 'sendToAttributes',
	attributes: { pairs: [{ name: 'plan', value: 'pro', ...part }] },
});

/** What is taken inside another value: as the part of a button, or as a pair's name or value. */
const within = (taken: Taken, wrap: (sent: unknown) => unknown): Taken =>
	Object.fromEntries(Object.entries(taken).map(([kind, sent]) => [kind, wrap(sent)]));
const go = { title: 'Go', url: 'https://a.example' };

interface Row {
	/** The field's name in the editor. */
	readonly name: string;
	readonly parameters: INodeParameters;
	/** What it becomes in the request. */
	readonly field: string;
	/** What is sent for each kind of value that the field takes. */
	readonly taken: Taken;
}

const rows: Row[] = [
	{
		name: 'Title',
		parameters: { title: value },
		field: 'title',
		taken: { ...texts, ...numbersAsTexts },
	},
	{
		name: 'Campaign Name',
		parameters: additional({ name: value }),
		field: 'name',
		taken: { ...leftOut, ...textsInside, ...numbersAsTexts },
	},
	{
		name: 'Auto Hide',
		parameters: additional({ autoHide: value }),
		field: 'auto_hide',
		taken: { true: 1, false: 0 },
	},
	{ name: 'Send At', parameters: additional({ sendAt: value }), field: 'send_at', taken: sentAt },
	{
		name: 'Expire After',
		parameters: additional({ expireAfter: { duration: { amount: value, unit: 'h' } } }),
		field: 'expire_push',
		taken: { digits: '31h', one: '1h' },
	},
	{
		name: 'Title of button 1 in Action Buttons',
		parameters: button({ title: value }),
		field: 'action_buttons',
		taken: within({ ...textsInside, ...numbersAsTexts }, (title) => [{ ...go, title }]),
	},
	{
		name: 'Value of pair 1 in Attributes',
		parameters: pair({ value }),
		field: 'attribute',
		taken: within({ ...textsInside, ...numbers, ...booleans }, (plan) => ({ plan })),
	},
	{
		name: 'Attributes (JSON)',
		parameters: { operation: 'sendToAttributes', specifyAttributes: 'json', attributesJson: value },
		field: 'attribute',
		taken: { json: { a: 1 }, object: { a: 1 } },
	},
	{
		name: 'Segment IDs',
		parameters: { operation: 'sendToSegments', segmentIds: value },
		field: 'segment',
		taken: {
			...within({ text: 'text', digits: '31', ...urls }, (id) => [id]),
			longDigits: ['9007199254740993'],
			list: ['31', '007'],
			jsonArray: [31, '32'],
			zero: [0],
			one: [1],
			array: ['31'],
			mixedArray: ['31', 32],
		},
	},
	{
		name: 'Subscriber ID',
		parameters: { operation: 'sendToSubscriber', subscriberId: value },
		field: 'sid',
		taken: { digits: '31', longDigits: '9007199254740993', zero: '0', one: '1' },
	},
	{
		name: 'Campaign ID',
		parameters: { operation: 'getStatus', campaignId: value },
		field: 'path',
		taken: within(
			{
				text: 'text',
				digits: '31',
				longDigits: '9007199254740993',
				...urls,
				json: '{"a":1}',
				zero: '0',
				one: '1',
			},
			(id) => encodeURIComponent(String(id)),
		),
	},
];

test.each(rows)(
	'$name sends what it takes as it should, and names itself for the rest',
	async ({ name, parameters, field, taken }) => {
		const inOrder = { options: { maxParallel: 1 }, ...parameters };
		const node = push(inOrder, { onError: 'continueRegularOutput' });
		const run = await runWorkflow(chain([node], { timezone: 'Europe/Berlin' }), {
			...surroundings(),
			input: inputOf(...kinds.map((_kind, index) => ({ index }))),
		});
		const sent = simulator().requests.map(({ json, path }) =>
			field === 'path' ? path.split('/').at(-1) : isObject(json) && json[field],
		);
		expect(sent).toEqual(kinds.filter((kind) => kind in taken).map((kind) => taken[kind]));

		const items = outputOf(run);
		expect(items).toHaveLength(kinds.length);
		items.forEach(({ error }, index) => {
			const kind = kinds[index];
			if (kind === undefined || kind in taken) return;
			expect(error).toMatchObject({
				type: 'validation',
				message: matching(new RegExp(`^${name.replace(/[()]/g, '\\$&')} `)),
			});
		});
	},
);

// n8n empties it before a node sees it. The collections of a send are in host/notMeant.
test.each(['campaignChanged', 'subscribersChanged'])(
	'Options of the trigger on %s that are written as one expression are refused by name',
	async (event) => {
		const parameters = { event, campaignIds: '1001', options: '={{ { minimumChange: 100 } }}' };
		await expect(
			runPoll(parameters, { ...surroundings(), activation: 'activate' }),
		).rejects.toThrow('Options is written as one expression, which n8n does not pass on');
		expect(simulator().requests).toEqual([]);
	},
);

describe('what nobody meant is not sent:', () => {
	/** Sends an item with another node in the workflow that has not run. */
	const sendOne = async (json: IDataObject, parameters: INodeParameters) =>
		await runWorkflow(chain([push({ ...parameters })]), {
			...surroundings(),
			input: inputOf(json),
		});
	const notRun = "={{ $('Not run').first().json.id }}";

	test.each([
		{
			name: 'a text with an empty part beside a list',
			json: { name: null, tags: ['a'] },
			parameters: { title: '=Hello {{ $json.name }}: {{ $json.tags }}' },
			message: 'Title has an empty part: {{ $json.name }} returned nothing: "Hello : a"',
		},
		{
			name: 'an address with an empty part beside a number that changes',
			json: { slug: '' },
			parameters: { targetUrl: '=https://shop.example/{{ $json.slug }}?t={{ Date.now() }}' },
			message: 'Target URL has an empty part: {{ $json.slug }} returned nothing',
		},
		{
			name: 'a name whose parts are all empty',
			json: {},
			parameters: { additionalFields: { name: '={{ $json.a }}{{ $json.b }}' } },
			message: 'Campaign Name has an empty part: {{ $json.a }} returned nothing',
		},
		{
			name: 'an idempotency key with an empty part beside a list',
			json: { tags: ['a'] },
			parameters: { options: { idempotencyKey: '={{ $json.id }}-{{ $json.tags }}' } },
			message: 'Idempotency Key has an empty part: {{ $json.id }} returned nothing',
		},
		{
			name: 'a template that would be cut in two',
			json: {},
			parameters: {
				title: `${'A long title. '.repeat(6)}near {{ $json.city }} and more`,
				options: { shortenTexts: true },
			},
			message: 'Title holds {{ $json.city }} as plain text',
		},
	])('$name', async ({ json, parameters, message }) => {
		expect(failureOf(await sendOne(json, parameters)).message).toContain(message);
		expect(simulator().requests).toEqual([]);
	});

	test('n8n sees that an execution failed, and was not canceled, if its error quotes that word', async () => {
		const run = await sendOne({}, { targetUrl: 'https://canceled example' });
		expect(failureOf(run).message).toContain('Target URL is not a valid');
		expect(run.status).toBe('error');
	});

	test('a dry run goes on, and says which option can’t be evaluated', async () => {
		const options = { dryRun: true, idempotencyKey: notRun };
		const run = await sendOne({}, { options });
		expect(outputOf(run)).toMatchObject([
			{
				dryRun: true,
				error: { message: matching(/^Idempotency Key can't be evaluated: /) },
			},
		]);
	});

	test('a Test Subscriber ID that can’t be evaluated changes nothing in a run that is no test', async () => {
		const run = await sendOne({}, { options: { testSubscriberId: notRun } });
		expect(outputOf(run)).toMatchObject([{ audience: 'all', status: 'success' }]);
	});
});

test('a field that is left over from another operation is not evaluated', async () => {
	const left = additional({ imageUrl: '={{ $("Gone").item.json.url }}' });
	const parameters = { ...pair({}), ...left };
	expect(outputOf(await runWorkflow(chain([push(parameters)]), surroundings()))).toMatchObject([
		{ status: 'success' },
	]);
});

describe('a parameter of text and fields of the input item', () => {
	const anything = fc.oneof(
		anyCodePoints({ maxLength: 40 }),
		anyWebUrl(),
		fc.constant('={{ 1 + 1 }}'),
		fc.constantFrom('', '$&', '\\', '{{', '}}', '`${1}`'),
		fc.jsonValue({ maxDepth: 2 }),
	);
	const items = fc.sample(
		fc.record(
			{ title: anything, page: fc.record({ 'the url': anything }, { requiredKeys: [] }) },
			{ requiredKeys: [] },
		),
		200,
	);

	// The first of which n8n evaluates in any case.
	const input = inputOf({ title: 'First', page: { 'the url': 'https://a.example' } }, ...items);

	async function outcomes(parameters: INodeParameters) {
		const dryRun = { ...parameters, options: { dryRun: true, allowEmptyParts: true } };
		const node = push(dryRun, { onError: 'continueRegularOutput' });
		return outputOf(await runWorkflow(chain([node]), { ...surroundings(), input }));
	}

	const forms: Array<[what: string, written: (title: string, url: string) => INodeParameters]> = [
		['a field alone', (title, url) => ({ title: `={{ ${title} }}`, targetUrl: `={{ ${url} }}` })],
		[
			'text around fields',
			(title, url) => ({
				title: `=A { "$&" } {{ ${title} }}{{${title}}}\n}`,
				targetUrl: `={{ ${url} }}?from=\`{{ ${title} }}\``,
			}),
		],
		[
			'collections',
			(title, url) => ({
				operation: 'sendToAttributes',
				attributes: { pairs: [{ name: 'city', value: `={{ ${title} }}` }] },
				additionalFields: { name: `=For {{ ${title} }}`, imageUrl: `={{ ${url} }}` },
			}),
		],
	];

	test.each(forms)('comes out as n8n evaluates it, whatever it holds: %s', async (_what, form) => {
		const direct = await outcomes(form('$json.title', '$json.page["the url"]'));
		const evaluated = await outcomes(form('($json.title)', '($json.page["the url"])'));
		expect(direct).toHaveLength(201);
		expect(direct).toEqual(evaluated);
		expect(direct.filter(({ error }) => error === undefined).length).toBeGreaterThan(5);
	});
});
