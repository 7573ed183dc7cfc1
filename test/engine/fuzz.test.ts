import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { anyCodePoints } from '../support/text';
import { Poller } from './support/poll';
import {
	content,
	credentialsFor,
	failureOf,
	inputOf,
	outputOf,
	push,
	sendsAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

const simulator = useSimulator();
const runs = Number(process.env['FUZZ_RUNS'] ?? 2);
/** Answers of one run of a workflow, so that the pauses between a read's tries run side by side. */
const batch = 50;

interface Answer {
	readonly status: number;
	readonly headers: Record<string, string>;
	readonly body: string;
}

const count = fc.oneof(
	{ weight: 6, arbitrary: fc.nat().map(String) },
	{ weight: 2, arbitrary: fc.nat() },
	fc.constantFrom(
		'',
		' ',
		'-1',
		'1.5',
		'1e3',
		'0x10',
		'٣',
		'12 ',
		'1,000',
		'NaN',
		'9007199254740993',
	),
	fc.constantFrom(-1, 1.5, 2 ** 60, 1e21, null, true, [], {}, ['5']),
	fc.jsonValue(),
);
const counters = fc.record(
	{
		total_attempts: count,
		successfully_sent: count,
		failed_to_send: count,
		delivered: count,
		clicked: count,
		closed: count,
	},
	{ noNullPrototype: true },
);
const goodCounters = fc.record({
	total_attempts: fc.nat().map(String),
	successfully_sent: fc.nat().map(String),
	failed_to_send: fc.nat().map(String),
	delivered: fc.nat().map(String),
	clicked: fc.nat().map(String),
	closed: fc.nat().map(String),
});
const textLike = fc.oneof(
	{ weight: 4, arbitrary: fc.string({ minLength: 1 }) },
	anyCodePoints(),
	fc.jsonValue(),
);
/** Stands for the ID of the campaign that the answer is for. */
const askedFor = 'the-one-that-was-asked-for';
const record = fc.record(
	{
		notification_status: textLike,
		notification_id: fc.oneof({ weight: 6, arbitrary: fc.constant(askedFor) }, textLike, fc.nat()),
		count: fc.oneof(
			{ weight: 4, arbitrary: goodCounters },
			{ weight: 4, arbitrary: counters },
			fc.jsonValue(),
		),
		total_life_time_subscribers: count,
		active_subscribers: count,
	},
	{ requiredKeys: ['notification_status', 'count'] },
);
const receipt = fc.record(
	{
		status: fc.oneof({ weight: 6, arbitrary: fc.constant('success') }, textLike),
		description: textLike,
		ID: fc.oneof(fc.nat(), fc.nat().map(String), fc.jsonValue()),
	},
	{ requiredKeys: ['status'] },
);
const failureBody = fc.record(
	{
		status: fc.constant('failure'),
		type: fc.oneof(
			fc.constantFrom('invalid_value', 'header_invalid', 'constructor', '__proto__', 'toString'),
			textLike,
		),
		description: textLike,
	},
	{ requiredKeys: ['status'] },
);
const isRefusal = (body: string) => body.includes('rate_limit');

const body = fc
	.oneof(
		{ weight: 5, arbitrary: record.map((value) => JSON.stringify(value)) },
		{ weight: 5, arbitrary: receipt.map((value) => JSON.stringify(value)) },
		{ weight: 3, arbitrary: failureBody.map((value) => JSON.stringify(value)) },
		fc.json(),
		fc.string(),
		anyCodePoints(),
		fc.constantFrom(
			'<html><body>Bad gateway</body></html>',
			'['.repeat(50_000),
			`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
			'\uFEFF{"status":"success","description":"With a mark","ID":5}',
			'{"__proto__":{"status":"success"},"description":"","ID":1}',
			'{"status":"success","status":"failure"}',
		),
	)
	.chain((text) =>
		fc.oneof(
			{ weight: 9, arbitrary: fc.constant(text) },
			fc.nat({ max: text.length }).map((length) => text.slice(0, length)),
		),
	)
	.filter((text) => !isRefusal(text));

const answer: fc.Arbitrary<Answer> = fc.record({
	status: fc.oneof(
		{ weight: 8, arbitrary: fc.constant(200) },
		// Not 429, which is waited for.
		fc.constantFrom(201, 202, 206, 300, 302, 304, 400, 401, 404, 418, 500, 502, 503, 599),
	),
	headers: fc.oneof(
		{ weight: 8, arbitrary: fc.constant({ 'content-type': 'application/json' }) },
		fc.constantFrom<Record<string, string>>(
			{},
			{ 'content-type': 'text/html; charset=iso-8859-1' },
			{ 'content-type': 'application/json; charset=utf-16le' },
			{ 'content-type': 'image/png' },
			{ 'content-type': 'application/xml' },
			{ 'content-type': '' },
			{ 'content-type': 'application/json', 'content-encoding': 'gzip' },
			{ 'content-type': 'application/json', 'content-encoding': 'br' },
			{ 'content-type': 'application/json', 'retry-after': 'soon' },
		),
	),
	body,
});
const answers = fc.array(answer, { minLength: batch, maxLength: batch });
const bounds = { numRuns: runs, endOnFailure: true };

// The shortest pauses before a read is asked again.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

/** What a program that trusts nothing reads from the answer. */
function read({ body: text }: Answer): unknown {
	try {
		const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
		return value;
	} catch {
		return undefined;
	}
}
const isGood = ({ status }: Answer) => status >= 200 && status < 300;

const errorShape = z.object({
	message: z.string().regex(/^[A-Z][a-z]*( \S+){2,}/),
	description: z.string().min(10),
	type: z.string().min(1),
	httpCode: z
		.string()
		.regex(/^\d{3}$/)
		.optional(),
	outcome: z.enum(['notSent', 'unknown']).optional(),
});
const suspicious = /undefined|\[object Object\]|TypeError|is not a function|Cannot read|stack size/;

function expectReadable(error: unknown, sent: boolean): void {
	const { message, outcome } = errorShape.parse(error);
	expect(message).not.toMatch(suspicious);
	expect(outcome !== undefined).toBe(sent);
}

async function run(parameters: Parameters<typeof push>[0], given: readonly Answer[]) {
	simulator().reset();
	given.forEach((action, index) => {
		const match = { header: { name: 'content-type' }, path: `/id/item-${index}_` };
		simulator().addFault({ match, times: 0, action: { kind: 'respond', ...action } });
		const bodyIncludes = `"item-${index}_"`;
		simulator().addFault({
			match: { bodyIncludes },
			times: 0,
			action: { kind: 'respond', ...action },
		});
	});
	const done = await runWorkflow(chain([push(parameters, { onError: 'continueRegularOutput' })]), {
		credentials: credentialsFor(simulator()),
		input: inputOf(...given.map((_answer, index) => ({ id: `item-${index}_` }))),
	});
	expect(done.status).toBe('success');
	const items = outputOf(done);
	expect(items).toHaveLength(given.length);
	return items;
}

const success = z.object({ status: z.literal('success'), description: z.string() });
const idText = z.union([z.string(), z.number()]);

test('a send is an item or an error that can be read, whatever is answered', async () => {
	await fc.assert(
		fc.asyncProperty(answers, async (given) => {
			const items = await run({ title: '={{ $json.id }}' }, given);
			expect(sendsAt(simulator())).toHaveLength(batch);
			items.forEach((item, index) => {
				const from = given[index];
				if (from === undefined) throw new Error('No answer for this item');
				if ('error' in item) {
					expectReadable(item['error'], true);
					return;
				}
				const said = success.extend({ ID: idText }).parse(read(from));
				expect(isGood(from)).toBe(true);
				expect(item).toStrictEqual({
					campaignId: String(said.ID).trim(),
					audience: 'all',
					status: 'success',
					description: said.description,
					title: `item-${index}_`,
				});
			});
		}),
		bounds,
	);
}, 600_000);

const wholeNumber = z
	.union([z.string().regex(/^\d+$/), z.number()])
	.transform(Number)
	.refine((value) => Number.isSafeInteger(value) && value >= 0);
const isBlank = (value: unknown) =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
const givenOrNot = z.preprocess((value) => (isBlank(value) ? null : value), wholeNumber.nullable());
const sixCounters = z.object({
	total_attempts: givenOrNot,
	successfully_sent: givenOrNot,
	failed_to_send: givenOrNot,
	delivered: givenOrNot,
	clicked: givenOrNot,
	closed: givenOrNot,
});
const isNothing = (value: unknown) =>
	value === undefined || value === null || (Array.isArray(value) && value.length === 0);

const statusRecord = z.object({
	notification_status: z.string(),
	notification_id: idText,
	count: z.preprocess((value) => (isNothing(value) ? {} : value), sixCounters),
});

const countersOf = (said: z.infer<typeof sixCounters>) => ({
	totalAttempts: said.total_attempts,
	successfullySent: said.successfully_sent,
	failedToSend: said.failed_to_send,
	delivered: said.delivered,
	clicked: said.clicked,
	closed: said.closed,
});

const share = (part: number | null, whole: number | null) =>
	part === null || whole === null || whole === 0 ? null : Math.round((part / whole) * 1e4) / 1e4;

function expectCounters(item: IDataObject, from: Answer): void {
	const {
		count: said,
		notification_id: id,
		notification_status: status,
	} = statusRecord.parse(read(from));
	expect(item).toMatchObject({
		campaignId: String(id).trim(),
		status,
		...countersOf(said),
		deliveryRate: share(said.delivered, said.successfully_sent),
		clickRate: share(said.clicked, said.delivered),
	});
}

test('a status record is read as it is, or is an error: no number is invented', async () => {
	let readings = 0;
	await fc.assert(
		fc.asyncProperty(answers, async (drawn) => {
			const given = drawn.map((one, index) => ({
				...one,
				body: one.body.replaceAll(askedFor, `item-${index}_`),
			}));
			const items = await run({ operation: 'getStatus', campaignId: '={{ $json.id }}' }, given);
			items.forEach((item, index) => {
				const from = given[index];
				if (from === undefined) throw new Error('No answer for this item');
				if ('error' in item) expectReadable(item['error'], false);
				else {
					expectCounters(item, from);
					expect(item).toMatchObject({ campaignId: `item-${index}_` });
					readings += 1;
				}
			});
		}),
		bounds,
	);
	expect(readings).toBeGreaterThan(0);
}, 600_000);

const event = z.object({
	campaignId: z.string(),
	counters: z.record(z.number()),
	changes: z.record(z.object({ from: z.literal(0), to: z.number(), by: z.number() })),
});

test('the trigger emits what was answered, and reports the rest', async () => {
	await fc.assert(
		fc.asyncProperty(answers, async (given) => {
			simulator().reset();
			const ids = given.map((_answer, index) => `item-${index}_`);
			given.forEach((action, index) =>
				simulator().addFault({
					match: { path: `/id/${ids[index] ?? ''}` },
					times: 0,
					action: { kind: 'respond', ...action },
				}),
			);
			const healthy = simulator().addCampaign({ counters: { clicked: 1 } });
			const trigger = new Poller(
				{ campaignIds: [...ids, healthy].join() },
				{ credentials: credentialsFor(simulator()), activation: 'init' },
			);
			const { items, errors } = await trigger.poll();
			expect(items?.at(-1)?.json).toMatchObject({ campaignId: healthy });
			for (const { json } of items?.slice(0, -1) ?? []) {
				const { campaignId, counters: emitted } = event.parse(json);
				const from = given[ids.indexOf(campaignId)];
				if (from === undefined) throw new Error('No answer for this campaign');
				const { count: said } = statusRecord.parse(read(from));
				expect(emitted).toStrictEqual(countersOf(said));
			}
			for (const { name, message } of errors) {
				expect(name).toBe('NodeApiError');
				expect(message).toMatch(/^Campaigns? item-/);
				expect(message).not.toMatch(suspicious);
			}
		}),
		bounds,
	);
}, 600_000);

test('10 MB of text is an error like any other', async () => {
	simulator().addFault({ times: 0, action: { kind: 'big', megabytes: 10 } });
	const run = await runWorkflow(chain([push(content)]), {
		credentials: credentialsFor(simulator()),
	});
	const failed = failureOf(run);
	expect(failed).toMatchObject({ name: 'NodeApiError', httpCode: '200' });
	expect(failed.message.length).toBeLessThan(1000);
	expect(failed.description.length).toBeLessThan(1000);
}, 60_000);
