import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	inputOf,
	isObject,
	matching,
	outputOf,
	titled,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';

// What n8n makes of values on their way into a field. The unit tests hold the rules of each field.

const simulator = useSimulator();

/** One value of every kind that an expression gives, as it stands in the expression. */
const values = {
	null: 'null',
	undefined: 'undefined',
	empty: '""',
	blank: '" \\n"',
	text: '" text\\u00A0"',
	digits: '"31 "',
	longDigits: '"9007199254740993"',
	list: '" 31 ,; 007; 31"',
	jsonArray: `'[31, "32"]'`,
	json: `'{"a":" 1 "}'`,
	zero: '0',
	one: '1',
	minus: '-1',
	fraction: '1.5',
	notANumber: 'NaN',
	huge: '2 ** 60',
	true: 'true',
	false: 'false',
	emptyArray: '[]',
	array: '["31 "]',
	mixedArray: '["31", 32]',
	emptyObject: '({})',
	object: '({ a: " 1 " })',
	nestedObject: '({ a: { b: 1 } })',
	date: 'new Date(2e12)',
	invalidDate: 'new Date(NaN)',
	dateTime: 'DateTime.fromMillis(2e12, { zone: "Asia/Kolkata" })',
};
type Kind = keyof typeof values;
const isKind = (kind: string): kind is Kind => kind in values;
const kinds = Object.keys(values).filter(isKind);
const value = `={{ [${Object.values(values).join(', ')}][$json.index] }}`;

/** What is sent for each kind that is taken; `undefined` for one that is left out. */
type Taken = Partial<Record<Kind, unknown>>;

const nothing: Taken = {
	...{ null: undefined, undefined, empty: undefined, blank: undefined },
	// WordPress's words for it.
	...{ false: undefined, emptyArray: undefined },
};
const texts: Taken = {
	text: 'text',
	digits: '31',
	longDigits: '9007199254740993',
	list: '31 ,; 007; 31',
	jsonArray: '[31, "32"]',
	json: '{"a":" 1 "}',
};
const iso = '2033-05-18T09:03:20.000+05:30';
const numbersAsTexts: Taken = { zero: '0', one: '1', minus: '-1', fraction: '1.5' };

const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
const go = { title: 'Go', url: 'https://a.example' };
const within = (taken: Taken, wrap: (sent: unknown) => unknown): Taken =>
	Object.fromEntries(Object.entries(taken).map(([kind, sent]) => [kind, wrap(sent)]));

interface Row {
	/** The field's name in messages. */
	readonly name: string;
	readonly parameters: INodeParameters;
	/** What it becomes in the body. */
	readonly field: string;
	readonly taken: Taken;
}

const rows: Row[] = [
	{
		name: "'Message'",
		parameters: { message: value },
		field: 'message',
		taken: { ...texts, ...numbersAsTexts, dateTime: iso },
	},
	{
		name: "'Auto Hide'",
		parameters: additional({ autoHide: value }),
		field: 'auto_hide',
		taken: { true: 1, false: 0 },
	},
	{
		name: "'Send At'",
		parameters: additional({ sendAt: value }),
		field: 'send_at',
		taken: { date: '2033-05-18 05:34 +02:00', dateTime: '2033-05-18 09:04 +05:30' },
	},
	{
		name: "'Timezone'",
		parameters: additional({ sendAt: '2035-05-17 09:30', sendAtTimezone: value }),
		field: 'send_at',
		taken: within(nothing, () => '2035-05-17 09:30 +02:00'),
	},
	{
		name: "'Amount' in 'Expire After'",
		parameters: additional({ expireAfter: { duration: { amount: value, unit: 'h' } } }),
		field: 'expire_push',
		taken: { digits: '31h', one: '1h' },
	},
	{
		name: "'Title' in button 1 of 'Action Buttons'",
		parameters: { actionButtons: { button: [{ ...go, title: value }] } },
		field: 'action_buttons',
		taken: within({ ...texts, ...numbersAsTexts, dateTime: iso }, (title) => [{ ...go, title }]),
	},
	{
		name: "'Value' in attribute 1 of 'Attributes'",
		parameters: {
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'plan', value }] },
		},
		field: 'attribute',
		taken: within(
			{
				...texts,
				...{ zero: 0, one: 1, minus: -1, fraction: 1.5, true: true, false: false },
			},
			(plan) => ({ plan }),
		),
	},
	{
		name: "'Attributes (JSON)'",
		parameters: { operation: 'sendToAttributes', specifyAttributes: 'json', attributesJson: value },
		field: 'attribute',
		taken: { json: { a: '1' }, object: { a: '1' } },
	},
	{
		name: "'Segment IDs'",
		parameters: { operation: 'sendToSegments', segmentIds: value },
		field: 'segment',
		taken: {
			...within({ text: 'text', digits: '31', longDigits: '9007199254740993' }, (id) => [id]),
			list: ['31', '007'],
			zero: [0],
			one: [1],
			array: ['31'],
			mixedArray: ['31', 32],
		},
	},
	{
		name: "'Subscriber ID'",
		parameters: { operation: 'sendToSubscriber', subscriberId: value },
		field: 'sid',
		taken: { digits: '31', longDigits: '9007199254740993', zero: '0', one: '1' },
	},
];

/** Dry runs of one item for each kind of value; they differ in their titles. */
const dryRuns = async (parameters: INodeParameters) => {
	const given = { title: '=No {{ $json.index }}', options: { dryRun: true }, ...parameters };
	return outputOf(
		await runWorkflow(workflowOf(given, continuing), {
			credentials: credentialsFor(simulator()),
			input: inputOf(...kinds.map((_kind, index) => ({ index: String(index) }))),
		}),
	);
};

test.each(rows)(
	'$name sends what it takes as it should, and names itself for the rest',
	async ({ name, parameters, field, taken }) => {
		const ends = (await dryRuns(parameters)).map(({ request, error }) => {
			if (isObject(error)) return String(error['message']).includes(name) ? 'refused' : error;
			return { sent: isObject(request) && isObject(request['body']) && request['body'][field] };
		});
		const expected = kinds.map((kind) => (kind in taken ? { sent: taken[kind] } : 'refused'));
		expect(Object.fromEntries(kinds.map((kind, index) => [kind, ends[index]]))).toEqual(
			Object.fromEntries(kinds.map((kind, index) => [kind, expected[index]])),
		);
	},
);

test('a number that has lost its last digits is refused, also as text behind which a blank stands', async () => {
	const lost = Number('9007199254740993123');
	const run = await runWorkflow(
		workflowOf({ operation: 'sendToSegments', segmentIds: '={{ $json.s }} ' }, continuing),
		{ credentials: credentialsFor(simulator()), input: inputOf({ s: [lost] }, { s: lost }) },
	);
	const message = matching(/^'Segment IDs' has a number in .* last digits are lost/);
	expect(outputOf(run)).toMatchObject([{ error: { message } }, { error: { message } }]);
	expect(simulator().requests).toEqual([]);
});

test('Expire At is sent as the minutes that are left when the request leaves', async () => {
	const expireAt = '={{ $now.plus({ hours: 2, seconds: 50 }) }}';
	const run = await runWorkflow(
		workflowOf({ title: '={{ $json.title }}', additionalFields: { expireAt } }),
		{ credentials: credentialsFor(simulator()), input: titled('One', 'Two') },
	);
	expect(run.data.resultData.error).toBeUndefined();
	const bodies = simulator().requests.map(({ json }) => json);
	expect(bodies).toMatchObject([{ expire_push: '120m' }, { expire_push: '120m' }]);
	const expired = { expireAt: '={{ $now.plus({ seconds: 30 }) }}' };
	const [row] = await dryRuns(additional(expired));
	const message = matching(/^'Expire At' is .* less than a minute for what goes out now$/);
	expect(row).toMatchObject({ error: { message } });
});

const today = () => DateTime.now().setZone('Europe/Berlin').startOf('day');
test.each([
	{
		when: 'tomorrow at 9:00',
		sendAt: '={{ $today.plus({ days: 1 }).set({ hour: 9 }) }}',
		then: () => today().plus({ days: 1 }).set({ hour: 9 }),
	},
	{
		when: 'next Monday at 8:00',
		sendAt: "={{ $today.plus({ weeks: 1 }).startOf('week').set({ hour: 8 }) }}",
		then: () =>
			today()
				.plus({ days: 8 - today().weekday })
				.set({ hour: 8 }),
	},
	{
		when: 'in one hour',
		sendAt: '={{ $now.plus({ hours: 1 }) }}',
		then: () => DateTime.now().setZone('Europe/Berlin').plus({ minutes: 61 }).startOf('minute'),
	},
])("the reference's expression for $when gives that time", async ({ sendAt, then }) => {
	const page = readFileSync(join(__dirname, '../../docs/reference.md'), 'utf8');
	expect(page).toContain(`\`${sendAt.slice(1)}\``);
	const before = then();
	const [row] = await dryRuns(additional({ sendAt }));
	const formats = [before, then()].map((date) => date.toFormat('yyyy-MM-dd HH:mm ZZ'));
	expect(formats).toContain(row?.['sendAt']);
});

test('Expire After is 28 days, what the service does by itself, where only the field was added', async () => {
	const expireAfter = { duration: {} };
	const [row] = await dryRuns({ ...additional({ expireAfter }) });
	expect(row).toMatchObject({ request: { body: { expire_push: '28d' } } });
});
