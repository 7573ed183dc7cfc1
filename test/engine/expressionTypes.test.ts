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
	nestedArray: '[["31"]]',
	emptyObject: '({})',
	object: '({ a: 1 })',
	nestedObject: '({ a: { b: 1 } })',
	date: 'new Date(4e12)',
	invalidDate: 'new Date(NaN)',
	dateTime: 'DateTime.fromMillis(4e12)',
	pattern: '/x/',
};
type Kind = keyof typeof values;
const kinds = Object.entries(values);
const value = `={{ [${Object.values(values).join(', ')}][$json.index] }}`;

const texts: Kind[] = ['text', 'digits', 'url', 'httpUrl', 'json'];
/** Inside a collection n8n itself makes ISO text of a Luxon DateTime. */
const textsInside: Kind[] = [...texts, 'dateTime'];
const blank: Kind[] = ['null', 'undefined', 'empty'];
const booleans: Kind[] = ['true', 'false'];

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

test.each<[string, INodeParameters, Kind[]]>([
	['Title', { title: value }, texts],
	['Message', { message: value }, texts],
	['Target URL', { targetUrl: value }, ['url', 'httpUrl']],
	['Campaign Name', additional({ name: value }), [...blank, ...textsInside]],
	['Icon URL', additional({ iconUrl: value }), [...blank, 'url']],
	['Image URL', additional({ imageUrl: value }), [...blank, 'url']],
	['Auto Hide', additional({ autoHide: value }), booleans],
	['Send At', additional({ sendAt: value }), ['date', 'dateTime']],
	[
		'Expire After',
		additional({ expireAfter: { duration: { amount: value, unit: 'd' } } }),
		['one'],
	],
	['Expire After', additional({ expireAfter: { duration: { amount: 1, unit: value } } }), []],
	['Title of button 1 in Action Buttons', button({ title: value }), textsInside],
	['URL of button 1 in Action Buttons', button({ url: value }), ['url', 'httpUrl']],
	['Name of pair 1 in Attributes', pair({ name: value }), textsInside],
	[
		'Value of pair 1 in Attributes',
		pair({ value }),
		[...textsInside, 'zero', 'one', 'minus', 'fraction', ...booleans],
	],
	[
		'Attributes (JSON)',
		{ operation: 'sendToAttributes', specifyAttributes: 'json', attributesJson: value },
		['json', 'object'],
	],
	[
		'Segment IDs',
		{ operation: 'sendToSegments', segmentIds: value },
		['text', 'digits', 'url', 'httpUrl', 'zero', 'one', 'array'],
	],
	[
		'Subscriber ID',
		{ operation: 'sendToSubscriber', subscriberId: value },
		['digits', 'zero', 'one'],
	],
	['Campaign ID', { operation: 'getStatus', campaignId: value }, [...texts, 'zero', 'one']],
	[
		'Simplify',
		{ operation: 'getStatus', campaignId: '1', simplify: value },
		['null', 'undefined', ...booleans],
	],
	['Dry Run', option('dryRun'), booleans],
	['Resend Unknown', option('resendUnknown'), booleans],
	['Max Parallel Requests', option('maxParallel'), ['one']],
	['Rate Limit Retries', option('rateLimitRetries'), ['zero', 'one']],
	['Timeout', option('timeout'), ['one']],
])(
	'%s takes what it should, and names itself for the rest: %j',
	async (name, parameters, taken) => {
		const run = await runWorkflow(chain([push(parameters, { onError: 'continueRegularOutput' })]), {
			credentials: credentialsFor(simulator()),
			input: inputOf(...kinds.map((_kind, index) => ({ index }))),
		});
		expect(run.status).toBe('success');
		const items = outputOf(run);
		expect(items).toHaveLength(kinds.length);
		const refused = kinds.flatMap(([kind], index) => {
			const error = items[index]?.['error'];
			if (typeof error !== 'object' || error === null || !('type' in error)) return [];
			return error['type'] === 'validation' ? [{ kind, error }] : [];
		});
		const refusedKinds = new Set(refused.map(({ kind }) => kind));
		expect(kinds.map(([kind]) => kind).filter((kind) => !refusedKinds.has(kind))).toEqual(
			kinds.map(([kind]) => kind).filter((kind) => taken.some((known) => known === kind)),
		);
		for (const { error } of refused) {
			expect(error).toMatchObject({ message: matching(new RegExp(`^${escape(name)} `)) });
		}
	},
);

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
