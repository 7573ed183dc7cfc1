import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { toItemFailure, toProblem } from '../../../nodes/PushCampaign/execution/errors';
import { operations } from '../../../nodes/PushCampaign/operations';
import type { ItemFailure, Operation } from '../../../nodes/PushCampaign/operations/operation';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { content, itemOf, recordingClient } from './support';

// n8n's editor shows these files before a node has run ("Usually outputs the following fields").
// n8n 2.41.1: n8n-core/dist/nodes-loader/output-schema-resolver.js, resolveOutputSchemaPath.

const folder = join(__dirname, '../../../nodes/PushCampaign/__schema__/v1.0.0');

const valueSchema = z.object({
	type: z.union([z.string(), z.array(z.string())]),
	properties: z.record(z.unknown()).optional(),
	required: z.array(z.string()).optional(),
});
// No field is required: with Continue, the items of a run that fails whole hold only why it failed.
const schemaFile = z.strictObject({
	type: z.literal('object'),
	properties: z.record(valueSchema.passthrough()),
	version: z.literal(1),
});

const readSchema = ({ resource, option }: Operation) =>
	schemaFile.parse(
		JSON.parse(readFileSync(join(folder, resource, `${option.value}.json`), 'utf8')),
	);

function typeOf(value: unknown): string {
	if (value === null) return 'null';
	return Array.isArray(value) ? 'array' : typeof value;
}

const audienceParameters: Record<string, object> = {
	sendToAll: {},
	sendToAttributes: { attributes: { pairs: [{ name: 'plan', value: 'pro' }] } },
	sendToSegments: { segmentIds: ['12', 34] },
	sendToSubscriber: { subscriberId: 5001 },
	getStatus: { campaignId: 1001 },
	getSubscriberCount: {},
};
const everything = {
	additionalFields: { name: 'Autumn', sendAt: '2099-05-17T09:30:00Z' },
	options: { idempotencyKey: 7 },
};

const sendAnswer = { status: 'success', description: 'Done', ID: 1001 };
const counters = {
	total_attempts: '10',
	successfully_sent: '8',
	failed_to_send: '2',
	delivered: '4',
	clicked: '1',
	closed: '3',
};
const status = { notification_status: 'Sent', notification_id: '1001' };
const readAnswers: Record<string, object[]> = {
	getStatus: [
		{ ...status, count: counters },
		{ notification_id: '1001', comment: 'The campaign is scheduled' },
	],
	getSubscriberCount: [
		{ total_life_time_subscribers: '120', active_subscribers: '90' },
		{ active_subscribers: '90' },
		{ total_life_time_subscribers: '120' },
	],
};

async function valueOf<Value>(
	result: Promise<{ kind: 'done'; value: Value } | { kind: 'failed' }>,
): Promise<Value> {
	const ended = await result;
	if (ended.kind === 'failed') throw new TypeError('The request failed');
	return ended.value;
}

/** With Continue: what is invalid, what was refused, and what nobody knows. */
function failuresOf({ kind }: Operation): ItemFailure[] {
	const httpCode = '400';
	const problems = [
		toProblem(new InvalidInput('No', ''), false),
		{ ...explain(reasons.canceled, kind), outcome: 'notSent' as const, httpCode },
		{ ...explain(reasons.connectionLost, kind), httpCode },
	];
	return problems.map((problem) => toItemFailure(problem, kind));
}

/** What an item has that failed together with its run. */
const rowOfRun = ({ status: known, error }: ItemFailure): IDataObject => ({
	...(known === undefined ? {} : { status: known }),
	error,
});

/** Every kind of item that an operation returns: with all fields and with as few as possible. */
async function itemsOf(operation: Operation): Promise<IDataObject[]> {
	const name = operation.option.value;
	const parameters = { ...content, ...audienceParameters[name] };
	const items: IDataObject[] = failuresOf(operation).flatMap((failure) => [
		rowOfRun(failure),
		operation.toInvalidItem(itemOf({}), failure),
		operation.prepare(itemOf({ ...parameters, ...everything })).toFailedItem(failure),
	]);
	if (operation.kind === 'read') {
		for (const answer of readAnswers[name] ?? []) {
			const read = operation.prepare(itemOf(parameters));
			items.push(await valueOf(read.perform(recordingClient(answer).client)));
		}
		return items;
	}
	for (const more of [{}, everything]) {
		const change = operation.prepare(itemOf({ ...parameters, ...more }));
		const receipt = await valueOf(change.perform(recordingClient(sendAnswer).client));
		items.push(
			change.toItem(receipt),
			change.toSentEarlierItem(),
			change.toDryRunItem('https://a.example'),
		);
		const testing = { ...parameters, ...more, options: { testSubscriberId: 5001 } };
		const test = operation.prepare(itemOf(testing)).toTest?.();
		if (test !== undefined) items.push(test.toItem(receipt));
	}
	return items;
}

test('every operation has an output schema, and there are no others', () => {
	const files = readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => join(parentPath, name));
	const expected = operations.map(({ resource, option }) =>
		join(folder, resource, `${option.value}.json`),
	);
	expect(files.sort()).toEqual(expected.sort());
});

describe.each(operations.map((operation) => ({ name: operation.option.name, operation })))(
	'the output schema of $name',
	({ operation }) => {
		const schema = readSchema(operation);

		test('allows every item that the operation returns', async () => {
			const { version: _version, ...jsonSchema } = schema;
			const ajv = new Ajv({ allowUnionTypes: true });
			for (const item of await itemsOf(operation)) {
				expect([ajv.validate(jsonSchema, item), ajv.errors]).toEqual([true, null]);
			}
		});

		test('has no field that no item has, and its fields are in the order of the items', async () => {
			const returned = new Set((await itemsOf(operation)).flatMap((item) => Object.keys(item)));
			const listed = Object.keys(schema.properties);
			expect([...returned].sort()).toEqual([...listed].sort());
			for (const item of await itemsOf(operation)) {
				expect(Object.keys(item)).toEqual(listed.filter((name) => name in item));
			}
		});

		test('describes every field that an error may have, and requires those that all have', () => {
			const errors = failuresOf(operation).map(({ error }) => error);
			const { properties = {}, required = [] } = schema.properties['error'] ?? {};
			const fields = Object.keys(properties);
			expect(new Set(errors.flatMap((error) => Object.keys(error)))).toEqual(new Set(fields));
			expect(required).toEqual(fields.filter((name) => errors.every((error) => name in error)));
		});

		test('allows no type that no item has', async () => {
			const items = await itemsOf(operation);
			for (const [name, { type }] of Object.entries(schema.properties)) {
				const seen = new Set(
					items.filter((item) => name in item).map((item) => typeOf(item[name])),
				);
				expect([name, [...seen].sort()]).toEqual([name, [type].flat().sort()]);
			}
		});
	},
);
