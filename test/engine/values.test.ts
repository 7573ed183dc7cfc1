import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { DateTime } from 'luxon';
import type { INodeParameters } from 'n8n-workflow';
import { Expression } from 'n8n-workflow';
import {
	continuing,
	failureOf,
	inputOf,
	isObject,
	outputOf,
	runsAt,
	useSimulator,
} from './support/pushCampaign';

// What n8n makes of values on their way into a field. The unit tests hold the rules of each field.

const simulator = useSimulator();
const run = runsAt(simulator);

/** Values of the kinds that an expression gives, as they stand in the expression. */
const values = {
	null: 'null',
	undefined: 'undefined',
	text: '" 31\\u00A0"',
	number: '31',
	fraction: '1.5',
	notANumber: 'NaN',
	huge: '2 ** 60',
	true: 'true',
	array: '["31 ", 32]',
	object: '({ a: " 1 " })',
	date: 'new Date(2e12)',
	invalidDate: 'new Date(NaN)',
	dateTime: 'DateTime.fromMillis(2e12, { zone: "Asia/Kolkata" })',
};
const kinds = Object.keys(values);
const value = `={{ [${Object.values(values).join(', ')}][$json.index] }}`;
const additional = (fields: INodeParameters): INodeParameters => ({ additionalFields: fields });
const numbersAsTexts = { number: '31', fraction: '1.5' };

/** The field's name in messages, its name in the body, and what is sent for each kind that it takes. */
type Row = [name: string, parameters: INodeParameters, field: string, taken: object];
const rows: Row[] = [
	[
		"'Message'",
		{ message: value },
		'message',
		{ text: '31', ...numbersAsTexts, dateTime: '2033-05-18T09:03:20.000+05:30' },
	],
	[
		"'Send At'",
		additional({ sendAt: value }),
		'send_at',
		{ date: '2033-05-18 05:34 +02:00', dateTime: '2033-05-18 09:04 +05:30' },
	],
];

/** Dry runs of an item for each kind of value; they differ in their titles. */
const dryRuns = async (parameters: INodeParameters) => {
	const given = { title: '=No {{ $json.index }}', options: { dryRun: true }, ...parameters };
	const input = inputOf(...kinds.map((_kind, index) => ({ index: String(index) })));
	return outputOf(await run(given, input, continuing, { mode: 'manual' }));
};

test.each(rows)('%s sends what it takes, and names itself for the rest', async (...row) => {
	const [name, parameters, field, taken] = row;
	const ends = (await dryRuns(parameters)).map(({ request, error }, index) => {
		const body = isObject(request) ? request['body'] : undefined;
		const isRefused = isObject(error) && String(error['message']).includes(name);
		return [kinds[index], isRefused ? 'refused' : isObject(body) && body[field]];
	});
	const refused = Object.fromEntries(kinds.map((kind) => [kind, 'refused']));
	expect(Object.fromEntries(ends)).toEqual({ ...refused, ...taken });
});

test('each field is evaluated once for each item', async () => {
	const render = jest.spyOn(Expression.prototype, 'resolveSimpleParameterValue');
	const of = (name: string) => `={{ "${name} " + $json.n }}`;
	const url = (name: string) => `=https://shop.example/{{ "${name} ".trim() + $json.n }}`;
	const parameters = {
		...{ title: of('title'), message: of('message'), targetUrl: url('target') },
		actionButtons: { button: [{ title: of('button'), url: url('button') }] },
		additionalFields: {
			name: of('name'),
			iconUrl: url('icon'),
			sendAt: '={{ "now" + $json.none }}',
		},
		options: {
			...{ htmlToText: '={{ $json.n > 0 }}', shortenTexts: '={{ $json.n > 1 }}' },
			idempotencyKey: '={{ "key " + $json.n }}',
		},
	};
	await run(parameters, inputOf({ n: 1, none: '' }, { n: 2, none: '' }));
	expect(simulator().requests).toHaveLength(2);
	const times: Record<string, number> = {};
	for (const [value] of render.mock.calls) times[String(value)] = (times[String(value)] ?? 0) + 1;
	render.mockRestore();
	// What the node itself asks for.
	delete times['={{ $runIndex }}'];
	expect(Object.keys(times)).toHaveLength(11);
	expect(new Set(Object.values(times))).toEqual(new Set([2]));
});

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

/** A column of 30 days, of which the first nine have one digit. */
const year = DateTime.now().year + 1;
const days = Array.from({ length: 30 }, (_, index) => DateTime.utc(year, 12, index + 1, 9));

test.each([
	{ format: 'd.M.yyyy HH:mm', letters: 'd.M.yyyy H:mm' },
	// The letters are put in their order by hand.
	{ format: 'M/d/yyyy H:mm', letters: 'M/d/yyyy H:mm' },
])('a calendar of dates such as $format is scheduled as the advice says', async (row) => {
	const input = inputOf(...days.map((day, n) => ({ n, when: day.toFormat(row.format) })));
	const calendar = (sendAt: string) => ({ title: '=No {{ $json.n }}', ...additional({ sendAt }) });
	const { message, description } = failureOf(await run(calendar('={{ $json.when }}'), input));
	expect(message).toMatch(/^'Send At' is no date .* None of these 30 was sent\.$/);
	expect(description).toMatch(/^Write it as 2030-05-17 09:30, or read it, such as with /);
	const [advised = ''] = /\{\{ DateTime.*? \}\}/.exec(description) ?? [];
	const expression = `=${advised.replace('d.M.yyyy H:mm', row.letters)}`;
	const sent = outputOf(await run(calendar(expression), input)).map(({ sendAt }) => sendAt);
	expect(sent).toEqual(days.map((day) => day.toFormat('yyyy-MM-dd HH:mm +01:00')));
});

test('Expire After is 28 days, what the service does by itself, where only the field was added', async () => {
	const [row] = await dryRuns(additional({ expireAfter: { duration: {} } }));
	expect(row).toMatchObject({ request: { body: { expire_push: '28d' } } });
});
