import fc from 'fast-check';
import type { INodeParameters } from 'n8n-workflow';
import { z } from 'zod';
import { anyCodePoints } from '../support/text';
import { credentialsFor, inputOf, outputOf, push, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// Answers of all kinds over real HTTP, through n8n's helper: none breaks a run, and nothing in an item is invented.

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
	fc.constantFrom('', ' ', '-1', '1.5', '1e3', '0x10', '٣', '12 ', '9007199254740993'),
	fc.jsonValue(),
);
const counters = {
	total_attempts: count,
	successfully_sent: count,
	failed_to_send: count,
	delivered: count,
	clicked: count,
	closed: count,
};
const text = fc.oneof(
	{ weight: 4, arbitrary: fc.string({ minLength: 1 }) },
	anyCodePoints(),
	fc.jsonValue(),
);
/** Stands for the item that the answer is for. */
const askedFor = 'the-one-that-was-asked-for';
const record = fc.record(
	{
		notification_status: text,
		notification_id: fc.oneof({ weight: 6, arbitrary: fc.constant(askedFor) }, text),
		count: fc.oneof({ weight: 6, arbitrary: fc.record(counters) }, fc.jsonValue()),
	},
	{ requiredKeys: ['notification_id'] },
);
const receipt = fc.record(
	{
		status: fc.oneof({ weight: 6, arbitrary: fc.constant('success') }, text),
		description: text,
		ID: fc.oneof(fc.nat(), fc.nat().map(String), fc.jsonValue()),
	},
	{ requiredKeys: ['status'] },
);
const failure = fc.record(
	{
		status: fc.constant('failure'),
		type: fc.oneof(fc.constantFrom('invalid_value', 'constructor', '__proto__'), text),
		description: text,
	},
	{ requiredKeys: ['status'] },
);

const body = fc
	.oneof(
		{
			weight: 5,
			arbitrary: fc.oneof(record, receipt, failure).map((value) => JSON.stringify(value)),
		},
		fc.json(),
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
	.chain((whole) =>
		fc.oneof(
			{ weight: 9, arbitrary: fc.constant(whole) },
			fc.nat({ max: whole.length }).map((length) => whole.slice(0, length)),
		),
	)
	// What is refused for too many requests is waited for.
	.filter((whole) => !whole.includes('rate_limit'));

const json = 'application/json';
const answer: fc.Arbitrary<Answer> = fc.record({
	status: fc.oneof(
		{ weight: 8, arbitrary: fc.constant(200) },
		fc.constantFrom(201, 202, 206, 300, 302, 304, 400, 401, 404, 418, 500, 502, 503, 599),
	),
	headers: fc.oneof(
		{ weight: 8, arbitrary: fc.constant({ 'content-type': json }) },
		fc.constantFrom<Record<string, string>>(
			{},
			{ 'content-type': 'text/html; charset=iso-8859-1' },
			{ 'content-type': `${json}; charset=utf-16le` },
			{ 'content-type': 'image/png' },
			{ 'content-type': 'application/xml' },
			{ 'content-type': '' },
			{ 'content-type': json, 'content-encoding': 'gzip' },
			{ 'content-type': json, 'content-encoding': 'br' },
			{ 'content-type': json, 'retry-after': 'soon' },
		),
	),
	body,
});

// The shortest pauses before a read is asked again.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => jest.restoreAllMocks());

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

function expectReadable(error: unknown, isSend: boolean): void {
	const { message, outcome } = errorShape.parse(error);
	expect(message).not.toMatch(suspicious);
	expect(outcome !== undefined).toBe(isSend);
}

/** What a program that trusts nothing reads from an answer. */
function read(written: string): unknown {
	try {
		const value: unknown = JSON.parse(written.replace(/^\uFEFF/, ''));
		return value;
	} catch {
		return undefined;
	}
}

/** Gives each item of a run an answer of its own: what comes out is an error that can be read, or as expected. */
async function expectItems(
	parameters: INodeParameters,
	expected: (said: unknown, id: string) => object,
): Promise<void> {
	let taken = 0;
	const isSend = parameters['operation'] === 'sendToAll';
	const answers = fc.array(answer, { minLength: batch, maxLength: batch });
	const property = fc.asyncProperty(answers, async (drawn) => {
		simulator().reset();
		const given = drawn.map((each, index) => {
			const id = `item-${index}_`;
			return { ...each, id, body: each.body.replaceAll(askedFor, id) };
		});
		for (const { id, ...respond } of given) {
			const match = isSend ? { bodyIncludes: `"${id}"` } : { path: `/id/${id}` };
			simulator().addFault({ match, times: 0, action: { kind: 'respond', ...respond } });
		}
		const workflow = chain([push(parameters, { onError: 'continueRegularOutput' })]);
		const run = await runWorkflow(workflow, {
			credentials: credentialsFor(simulator()),
			input: inputOf(...given.map(({ id }) => ({ id }))),
		});
		expect(run.status).toBe('success');
		const items = outputOf(run);
		expect(items).toHaveLength(batch);
		if (isSend) expect(simulator().requests).toHaveLength(batch);
		given.forEach(({ id, status, body: written }, index) => {
			const item = items[index] ?? {};
			if ('error' in item) return expectReadable(item['error'], isSend);
			taken += 1;
			expect(String(status)).toMatch(/^2/);
			return expect(item).toStrictEqual(expected(read(written), id));
		});
	});
	await fc.assert(property, { numRuns: runs, endOnFailure: true });
	expect(taken).toBeGreaterThan(0);
}

const success = z.object({
	status: z.literal('success'),
	description: z.string(),
	ID: z.union([z.string(), z.number()]),
});

test('a send is an item or an error that can be read, whatever is answered', async () => {
	await expectItems({ operation: 'sendToAll', title: '={{ $json.id }}' }, (said, id) => {
		const { ID, ...told } = success.parse(said);
		return { ...told, campaignId: String(ID).trim(), audience: 'all', title: id };
	});
}, 600_000);

const wholeNumber = z
	.union([z.string().regex(/^\d+$/), z.number()])
	.transform(Number)
	.refine((value) => Number.isSafeInteger(value) && value >= 0);
const isBlank = (value: unknown) =>
	value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
const givenOrNot = z.preprocess((value) => (isBlank(value) ? null : value), wholeNumber.nullable());
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const statusRecord = z.object({
	notification_status: z.preprocess(
		(value) => (isBlank(value) ? null : value),
		z.string().nullable(),
	),
	count: z.preprocess(
		(value) => (value === undefined || value === null || isEmptyList(value) ? {} : value),
		z.object({
			total_attempts: givenOrNot,
			successfully_sent: givenOrNot,
			failed_to_send: givenOrNot,
			delivered: givenOrNot,
			clicked: givenOrNot,
			closed: givenOrNot,
		}),
	),
});
const share = (part: number | null, whole: number | null) =>
	part === null || whole === null || whole === 0 ? null : Math.round((part / whole) * 1e4) / 1e4;

test('a status record is read as it is, or is an error: no number is invented', async () => {
	await expectItems({ operation: 'getStatus', campaignId: '={{ $json.id }}' }, (said, id) => {
		const { notification_status: status, count: counted } = statusRecord.parse(said);
		return {
			campaignId: id,
			status,
			totalAttempts: counted.total_attempts,
			successfullySent: counted.successfully_sent,
			failedToSend: counted.failed_to_send,
			delivered: counted.delivered,
			clicked: counted.clicked,
			closed: counted.closed,
			deliveryRate: share(counted.delivered, counted.successfully_sent),
			clickRate: share(counted.clicked, counted.delivered),
		};
	});
}, 600_000);
