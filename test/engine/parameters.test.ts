import fc from 'fast-check';
import { DateTime } from 'luxon';
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import { anyCodePoints, anyWebUrl } from '../support/text';
import {
	content,
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	sendOperations,
	sendsAt,
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
const words = matching(/^\S/);
const sentence = matching(/\.$/);

describe('a value that is refused', () => {
	/** One at the first level of the parameters, one deep inside. */
	const places: ReadonlyArray<{
		readonly parameters: INodeParameters;
		readonly bad: IDataObject[string];
		readonly good: IDataObject[string];
		readonly field: string;
	}> = [
		{
			parameters: { operation: 'sendToSubscriber', subscriberId: '={{ $json.value }}' },
			bad: 2 ** 53 + 2,
			good: '5001',
			field: 'Subscriber ID',
		},
		{
			parameters: {
				actionButtons: {
					button: [
						{ title: 'Go', url: 'https://a.example' },
						{ title: 'Go', url: '={{ $json.value }}' },
					],
				},
			},
			bad: 'a.example',
			good: 'https://a.example',
			field: 'URL of button 2 in Action Buttons',
		},
	];

	test.each(places)(
		'for $field is an error with item and field, and fails alone with Continue',
		async ({ parameters, bad, good, field }) => {
			const input = [good, bad, good].map((value, place) => ({ json: { value, place } }));
			const stopped = await runWorkflow(chain([push(parameters)]), { ...surroundings(), input });
			const failure = failureOf(stopped);
			expect(failure).toMatchObject({
				name: 'NodeOperationError',
				itemIndex: 1,
				cause: 'configuration-invalid',
			});
			expect(failure.message.startsWith(field)).toBe(true);
			expect(failure.description).toMatch(
				/^Sent: 0, not sent: 3, unknown: 0\. First to fail: item 1\. /,
			);
			expect(simulator().requests).toHaveLength(0);

			const going = push(parameters, { onError: 'continueRegularOutput' });
			const continued = await runWorkflow(chain([going]), { ...surroundings(), input });
			expect(continued.status).toBe('success');
			expect(outputOf(continued)).toStrictEqual([
				expect.objectContaining({ status: 'success' }),
				{
					error: { message: words, description: sentence, type: 'validation', outcome: 'notSent' },
				},
				expect.objectContaining({ status: 'success' }),
			]);
			expect(sendsAt(simulator())).toHaveLength(2);
		},
	);

	test.each([
		['a missing title', { title: '' }],
		['a missing subscriber', { operation: 'sendToSubscriber', subscriberId: '' }],
	])('n8n itself does not start with %s', async (_name, parameters) => {
		const run = runWorkflow(chain([push(parameters)]), {
			credentials: credentialsFor(simulator()),
		});
		await expect(run).rejects.toThrow('issues');
		expect(simulator().requests).toHaveLength(0);
	});

	test('with the error output the bad item alone goes there, beside its input', async () => {
		const workflow = chain([
			push({ title: '={{ $json.title.trim() }}' }, { onError: 'continueErrorOutput' }),
			{ name: 'Sent', type: 'n8n-nodes-base.noOp' },
		]);
		workflow.nodes.push(nodeFrom({ name: 'Failed', type: 'n8n-nodes-base.noOp' }));
		connect(workflow, 'Push Campaign', 'Failed', 1);
		const run = await runWorkflow(workflow, {
			credentials: credentialsFor(simulator()),
			input: inputOf({ title: 'a', customer: 7 }, { title: '', customer: 8 }, { customer: 9 }),
		});
		expect(itemsOf(run, 'Sent')).toMatchObject([{ json: { campaignId: '1001' } }]);
		const error = {
			message: 'Title is empty for this item: its expression gave nothing',
			description: sentence,
			type: 'validation',
			outcome: 'notSent',
		};
		expect(itemsOf(run, 'Failed').map(({ json }) => json)).toStrictEqual([
			{ title: '', customer: 8, error },
			{ customer: 9, error },
		]);
		expect(titlesAt(simulator())).toStrictEqual(['a']);
	});
});

const requestOf = async (parameters: INodeParameters) => {
	const run = await runWorkflow(chain([push(parameters)]), surroundings());
	expect(run.data.resultData.error).toBeUndefined();
	expect(sendsAt(simulator())).toHaveLength(1);
	return sendsAt(simulator())[0];
};
const required = {
	title: content.title,
	message: content.message,
	target_url: content.targetUrl,
};
const audienceBody = {
	sendToAll: {},
	sendToAttributes: { attribute: { plan: 'pro' } },
	sendToSegments: { segment: ['31'] },
	sendToSubscriber: { sid: '5001' },
};

test.each(sendOperations)(
	'$operation sends nothing that is left over from another operation, or was never filled in',
	async ({ operation, parameters }) => {
		const request = await requestOf({
			attributes: { pairs: [{ name: 'old', value: 'value' }] },
			attributesJson: '{"older": 1}',
			segmentIds: '99',
			subscriberId: '9999',
			campaignId: '77',
			...parameters,
			operation,
			// What the editor gives for a button that was added and never filled in.
			actionButtons: { button: [{ title: '', url: '' }] },
			additionalFields: {
				name: ' ',
				iconUrl: '',
				expireAfter: {},
				utmParameters: { parameters: { source: '', medium: '' } },
			},
		});
		expect(request?.json).toStrictEqual({ ...required, ...audienceBody[operation] });
	},
);

test('a run tells in a hint when it sends, and that a dry run sent nothing', async () => {
	const hintsOf = async (parameters: INodeParameters) => {
		const run = await runWorkflow(chain([push(parameters)], { timezone: 'Europe/Berlin' }), {
			credentials: credentialsFor(simulator()),
		});
		const tasks = Object.values(run.data.resultData.runData).flat();
		return tasks.flatMap(({ hints = [] }) => hints.map(({ message }) => message));
	};
	expect(await hintsOf({})).toEqual([]);
	expect(await hintsOf({ additionalFields: { sendAt: '2099-12-24T09:00:00' } })).toEqual([
		expect.stringMatching(/^Scheduled for 24 Dec 2099 09:00, Europe\/Berlin\. /),
	]);
	expect(await hintsOf({ options: { dryRun: true } })).toEqual([
		expect.stringMatching(/^Nothing was sent: this was a dry run\..*<b>Summer sale<\/b>/),
	]);
	const refused = { title: 'x'.repeat(101), additionalFields: { sendAt: '2099-12-24T09:00:00' } };
	expect(await hintsOf(refused)).toEqual([]);
});

test('IDs keep every digit, and stand in a path encoded once', async () => {
	const id = '12345678901234567890';
	simulator().addFault({
		match: { path: 'send/all' },
		action: { kind: 'respond', body: `{"status":"success","description":"Created","ID":${id}}` },
	});
	expect(outputOf(await runWorkflow(chain([push()]), surroundings()))).toMatchObject([
		{ campaignId: id },
	]);
	const campaignId = 'a/b?c=d#e %ä🌷';
	simulator().addCampaign({ id: campaignId });
	const read = push({ operation: 'getStatus', campaignId });
	expect(outputOf(await runWorkflow(chain([read]), surroundings()))).toMatchObject([
		{ campaignId },
	]);
	const encoded = 'a%2Fb%3Fc%3Dd%23e%20%25%C3%A4%F0%9F%8C%B7';
	expect(simulator().requests.at(-1)?.path).toBe(`/v1/notification/status/id/${encoded}`);
});

describe('Send At', () => {
	test('is read as n8n makes a DateTime, in the timezone of the workflow, and put out', async () => {
		const sendAt =
			'={{ $now.set({ year: 2099, month: 7, day: 1, hour: 12, minute: 29, second: 1 }) }}';
		const run = await runWorkflow(
			chain([push({ additionalFields: { sendAt } })], { timezone: 'America/New_York' }),
			surroundings(),
		);
		const text = '2099-07-01 12:30 -04:00';
		expect(sendsAt(simulator())[0]?.json).toMatchObject({ send_at: text });
		expect(outputOf(run)).toMatchObject([{ sendAt: text }]);
	});

	test('5 minutes ahead, the seconds rounded up, is accepted by node and service', async () => {
		const sendAt = DateTime.utc().plus({ minutes: 5, seconds: 2 }).toISO();
		const request = await requestOf({ additionalFields: { sendAt } });
		expect(request?.answered).toMatchObject({ status: 200, type: null });
	});
});

describe('the credential of a service elsewhere', () => {
	const custom = useSimulator({
		pathPrefix: '/push/site-7',
		keyHeader: 'X-Api-Key',
		tokenHeader: 'X-Api-Token',
	});
	const names = {
		headerNames: 'custom',
		apiKeyHeader: 'X-Api-Key',
		authTokenHeader: 'X-Api-Token',
	};

	test('takes an address with a prefix, and other names of the headers', async () => {
		const run = await runWorkflow(chain([push()]), {
			credentials: credentialsFor(custom(), { ...names, baseUrl: `${custom().url}//` }),
			input: inputOf({}, {}, {}),
		});
		expect(run.status).toBe('success');
		expect(custom().requests).toHaveLength(3);
		for (const { path, headers } of custom().requests) {
			expect(path).toBe('/push/site-7/v1/notification/send/all');
			expect(headers).toMatchObject({ 'x-api-key': 'demo-key', 'x-api-token': 'demo-token' });
			expect(headers).not.toHaveProperty('servicekey');
			expect(headers).not.toHaveProperty('serviceauthtoken');
		}
	});

	test('shows the prefix in a dry run, and no header', async () => {
		const run = await runWorkflow(chain([push({ options: { dryRun: true } })]), {
			credentials: credentialsFor(custom(), names),
		});
		expect(outputOf(run)).toStrictEqual([
			{
				audience: 'all',
				title: content.title,
				dryRun: true,
				request: {
					method: 'POST',
					url: `${custom().origin}/push/site-7/v1/notification/send/all`,
					body: required,
				},
			},
		]);
		expect(custom().requests).toHaveLength(0);
	});
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
const leftOut: Taken = { null: undefined, undefined: undefined, empty: undefined };
const numbers: Taken = { zero: 0, one: 1, minus: -1, fraction: 1.5 };
const booleans: Taken = { true: true, false: false };
const sentAt = { date: '2096-10-02 09:07 +02:00', dateTime: '2096-10-02 12:37 +05:30' };

const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
const option = (name: string): INodeParameters => ({ options: { [name]: value } });
const button = (part: INodeParameters): INodeParameters => ({
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
	['Target URL', { targetUrl: value }, 'target_url', urls],
	['Campaign Name', additional({ name: value }), 'name', { ...leftOut, ...textsInside }],
	['Auto Hide', additional({ autoHide: value }), 'auto_hide', { true: 1, false: 0 }],
	['Send At', additional({ sendAt: value }), 'send_at', sentAt],
	[
		'Expire After',
		additional({ expireAfter: { duration: { amount: value, unit: 'h' } } }),
		'expire_push',
		{ one: '1h' },
	],
	[
		'Title of button 1 in Action Buttons',
		button({ title: value }),
		'action_buttons',
		within(textsInside, (title) => [{ ...go, title }]),
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
		within(
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
		['null', 'undefined', 'empty', 'true', 'false'],
	],
	['Dry Run', option('dryRun'), ['true', 'false']],
	['Max Parallel Requests', option('maxParallel'), ['one']],
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

const escape = (text: string) => text.replace(/[()]/g, '\\$&');
