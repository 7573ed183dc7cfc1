import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { credentialsFor, inputOf, outputOf, push, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();

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
const leftOut: Taken = { null: undefined, undefined: undefined, empty: undefined };
const numbers: Taken = { zero: 0, one: 1, minus: -1, fraction: 1.5 };
const booleans: Taken = { true: true, false: false };
const sentAt = { date: '2096-10-02 09:07 +02:00', dateTime: '2096-10-02 12:37 +05:30' };

const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
const option = (name: string): INodeParameters => ({ options: { [name]: value } });
const button = (part: INodeParameters) =>
	additional({
		actionButtons: { button: [{ title: 'Go', url: 'https://a.example', ...part }] },
	});
const pair = (part: INodeParameters): INodeParameters => ({
	operation: 'sendToAttributes',
	attributes: { pairs: [{ name: 'plan', value: 'pro', ...part }] },
});
const inOrder = { maxParallel: 1 };
const isObject = (given: unknown): given is Record<string, unknown> =>
	typeof given === 'object' && given !== null;

/** What is taken inside another value: as the part of a button, or as a pair's name or value. */
const within = (taken: Taken, wrap: (sent: unknown) => unknown): Taken =>
	Object.fromEntries(Object.entries(taken).map(([kind, sent]) => [kind, wrap(sent)]));
const go = { title: 'Go', url: 'https://a.example' };

test.each<[name: string, parameters: INodeParameters, field: string, taken: Taken]>([
	['Title', { title: value }, 'title', texts],
	['Message', { message: value }, 'message', texts],
	['Target URL', { targetUrl: value }, 'target_url', urls],
	['Campaign Name', additional({ name: value }), 'name', { ...leftOut, ...textsInside }],
	['Icon URL', additional({ iconUrl: value }), 'icon', { ...leftOut, url: urls.url }],
	['Image URL', additional({ imageUrl: value }), 'image', { ...leftOut, url: urls.url }],
	['Auto Hide', additional({ autoHide: value }), 'auto_hide', { true: 1, false: 0 }],
	['Send At', additional({ sendAt: value }), 'send_at', sentAt],
	[
		'Expire After',
		additional({ expireAfter: { duration: { amount: value, unit: 'h' } } }),
		'expire_push',
		{ one: '1h' },
	],
	[
		'Expire After',
		additional({ expireAfter: { duration: { amount: 1, unit: value } } }),
		'expire_push',
		{},
	],
	[
		'Title of button 1 in Action Buttons',
		button({ title: value }),
		'action_buttons',
		within(textsInside, (title) => [{ ...go, title }]),
	],
	[
		'URL of button 1 in Action Buttons',
		button({ url: value }),
		'action_buttons',
		within(urls, (url) => [{ ...go, url }]),
	],
	[
		'Name of pair 1 in Attributes',
		pair({ name: value }),
		'attribute',
		within(textsInside, (name) => ({ [String(name)]: 'pro' })),
	],
	[
		'Value of pair 1 in Attributes',
		pair({ value }),
		'attribute',
		within({ ...textsInside, ...numbers, ...booleans }, (plan) => ({ plan })),
	],
	[
		'Attributes (JSON)',
		{ operation: 'sendToAttributes', specifyAttributes: 'json', attributesJson: value },
		'attribute',
		{ json: { a: 1 }, object: { a: 1 } },
	],
	[
		'Segment IDs',
		{ operation: 'sendToSegments', segmentIds: value },
		'segment',
		{
			...within({ text: 'text', digits: '31', ...urls }, (id) => [id]),
			longDigits: ['9007199254740993'],
			list: ['31', '007'],
			jsonArray: [31, '32'],
			zero: [0],
			one: [1],
			array: ['31'],
			mixedArray: ['31', 32],
		},
	],
	[
		'Subscriber ID',
		{ operation: 'sendToSubscriber', subscriberId: value },
		'sid',
		{ digits: '31', longDigits: '9007199254740993', zero: '0', one: '1' },
	],
	[
		'Campaign ID',
		{ operation: 'getStatus', campaignId: value },
		'path',
		within({ ...texts, list: ' 31 ,; 007\n 31'.trim(), zero: '0', one: '1' }, (id) =>
			encodeURIComponent(String(id)),
		),
	],
])(
	'%s sends what it takes as it should, and names itself for the rest (%#)',
	async (name, parameters, field, taken) => {
		await expectTaken(name, { options: inOrder, ...parameters }, Object.keys(taken));
		const sent = simulator().requests.map(({ json, path }) =>
			field === 'path' ? path.split('/').at(-1) : isObject(json) && json[field],
		);
		expect(sent).toEqual(kinds.filter((kind) => kind in taken).map((kind) => taken[kind]));
	},
);

test.each<[name: string, parameters: INodeParameters, taken: Kind[]]>([
	[
		'Simplify',
		{ operation: 'getStatus', campaignId: '1', simplify: value },
		['null', 'undefined', 'true', 'false'],
	],
	['Dry Run', option('dryRun'), ['true', 'false']],
	['Resend Unknown', option('resendUnknown'), ['true', 'false']],
	['Max Parallel Requests', option('maxParallel'), ['one']],
	['Rate Limit Retries', option('rateLimitRetries'), ['zero', 'one']],
	['Timeout', option('timeout'), ['one']],
])('%s takes what it should, and names itself for the rest (%#)', expectTaken);

/** Gives the parameters every kind of value, and sees which are taken, and that the rest is called by its name. */
async function expectTaken(name: string, parameters: INodeParameters, taken: string[]) {
	const node = push(parameters, { onError: 'continueRegularOutput' });
	const run = await runWorkflow(chain([node], { timezone: 'Europe/Berlin' }), {
		credentials: credentialsFor(simulator()),
		input: inputOf(...kinds.map((_kind, index) => ({ index }))),
	});
	expect(run.status).toBe('success');
	const refused = outputOf(run).map(({ error }) =>
		typeof error === 'object' && error !== null && 'type' in error && error['type'] === 'validation'
			? error
			: undefined,
	);
	expect(refused).toHaveLength(kinds.length);
	expect(kinds.filter((_kind, index) => refused[index] === undefined)).toEqual(
		kinds.filter((kind) => taken.includes(kind)),
	);
	for (const error of refused.filter((each) => each !== undefined)) {
		expect(error).toMatchObject({ message: matching(new RegExp(`^${escape(name)} `)) });
	}
}

describe('a field of the input item', () => {
	const anything = fc.oneof(
		fc.string({ unit: 'binary', maxLength: 40 }),
		fc.webUrl(),
		fc.constant('={{ 1 + 1 }}'),
		fc.jsonValue({ maxDepth: 2 }),
	);
	const items = fc.sample(
		fc.record(
			{ title: anything, page: fc.record({ 'the url': anything }, { requiredKeys: [] }) },
			{ requiredKeys: [] },
		),
		200,
	);

	/** What becomes of all items, the first of which n8n evaluates in any case. */
	async function outcomes(parameters: INodeParameters) {
		const dryRun = { dryRun: true };
		const run = await runWorkflow(
			chain([push({ ...parameters, options: dryRun }, { onError: 'continueRegularOutput' })]),
			{
				credentials: credentialsFor(simulator()),
				input: inputOf({ title: 'First', page: { 'the url': 'https://a.example' } }, ...items),
			},
		);
		expect(run.status).toBe('success');
		return outputOf(run);
	}

	test('comes out as n8n evaluates it, whatever it holds', async () => {
		const direct = await outcomes({
			title: '={{ $json.title }}',
			targetUrl: '={{ $json.page["the url"] }}',
		});
		const evaluated = await outcomes({
			title: '={{ ($json.title) }}',
			targetUrl: '={{ ($json.page["the url"]) }}',
		});
		expect(direct).toHaveLength(201);
		expect(direct).toEqual(evaluated);
		expect(direct.filter(({ error }) => error === undefined).length).toBeGreaterThan(5);
	});
});

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);
const escape = (text: string) => text.replace(/[()]/g, '\\$&');
