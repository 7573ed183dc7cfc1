import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';
import {
	continuing,
	inputOf,
	isObject,
	outputOf,
	runsAt,
	useSimulator,
} from './support/pushCampaign';

// What n8n makes of values on their way into a field. The unit tests hold the rules of each field.

const simulator = useSimulator();
const run = runsAt(simulator);

/** One value of every kind that an expression gives, as it stands in the expression. */
const values = {
	null: 'null',
	undefined: 'undefined',
	empty: '""',
	blank: '" \\n"',
	text: '" text\\u00A0"',
	digits: '"31 "',
	list: '" 31 ,; 007; 31"',
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

/** What is sent for each kind that is taken. */
type Taken = Partial<Record<Kind, unknown>>;

const texts: Taken = {
	text: 'text',
	digits: '31',
	list: '31 ,; 007; 31',
};
const iso = '2033-05-18T09:03:20.000+05:30';
const numbersAsTexts: Taken = { zero: '0', one: '1', minus: '-1', fraction: '1.5' };

const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
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
		name: "'Send At'",
		parameters: additional({ sendAt: value }),
		field: 'send_at',
		taken: { date: '2033-05-18 05:34 +02:00', dateTime: '2033-05-18 09:04 +05:30' },
	},
	{
		name: "'Amount' in 'Expire After'",
		parameters: additional({ expireAfter: { duration: { amount: value, unit: 'h' } } }),
		field: 'expire_push',
		taken: { digits: '31h', one: '1h' },
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
		name: "'Segment IDs'",
		parameters: { operation: 'sendToSegments', segmentIds: value },
		field: 'segment',
		taken: {
			...within({ text: 'text', digits: '31' }, (id) => [id]),
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
		taken: { digits: '31', zero: '0', one: '1' },
	},
];

/** Dry runs of an item for each kind of value; they differ in their titles. */
const dryRuns = async (parameters: INodeParameters) => {
	const given = { title: '=No {{ $json.index }}', options: { dryRun: true }, ...parameters };
	const input = inputOf(...kinds.map((_kind, index) => ({ index: String(index) })));
	return outputOf(await run(given, input, continuing));
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

test('Expire At is sent as the minutes that are left when the request leaves', async () => {
	const expireAt = '={{ $now.plus({ hours: 2, seconds: 50 }) }}';
	await run(additional({ expireAt }));
	expect(simulator().requests[0]?.json).toMatchObject({ expire_push: '120m' });
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
	const [row] = await dryRuns(additional({ expireAfter: { duration: {} } }));
	expect(row).toMatchObject({ request: { body: { expire_push: '28d' } } });
});
