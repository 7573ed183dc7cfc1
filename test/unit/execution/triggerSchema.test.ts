import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';
import { triggerEvents } from '../../../nodes/PushCampaign/operations/triggerEvents';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import { pollFunctions, statusAnswer, type Service } from './support';

// n8n looks for the output schema of a node without resource and operation in this file (n8n 2.41.1:
// packages/core/src/nodes-loader/output-schema-resolver.ts, resolveOutputSchemaPath).
const file = join(__dirname, '../../../nodes/PushCampaign/__schema__/v1.0.0.json');

interface Schema {
	readonly type: string | string[];
	readonly properties?: Record<string, Schema> | undefined;
	readonly required?: string[] | undefined;
}
const schema: z.ZodType<Schema> = z.lazy(() =>
	z.strictObject({
		type: z.union([z.string(), z.array(z.string())]),
		properties: z.record(schema).optional(),
		required: z.array(z.string()).optional(),
	}),
);
const { version, ...written } = z
	.object({
		version: z.number(),
		type: z.string(),
		properties: z.record(schema),
		required: z.array(z.string()),
	})
	.parse(JSON.parse(readFileSync(file, 'utf8')));

const isObject = (value: unknown): value is IDataObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of values: every field that one of them has, and the fields that all of them have. */
function schemaOf(values: readonly unknown[]): Schema {
	const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
	const type = types.length === 1 ? (types[0] ?? '') : types.sort().reverse();
	const objects = values.filter(isObject);
	if (objects.length === 0) return { type };
	const names = [...new Set(objects.flatMap((each) => Object.keys(each)))];
	const required = names.filter((name) => objects.every((each) => name in each));
	return {
		type,
		properties: Object.fromEntries(
			names.map((name) => {
				const inner = objects.filter((each) => name in each).map((each) => each[name]);
				return [name, schemaOf(inner)];
			}),
		),
		...(required.length === 0 ? {} : { required }),
	};
}

const record = z.object({ notification_id: z.string() });
const counters = {
	...{ total_attempts: 8, successfully_sent: 7, failed_to_send: 6 },
	...{ delivered: 5, clicked: 4, closed: 3 },
};
const counts = { total_life_time_subscribers: '9', active_subscribers: '8' };
const json = (body: object) => ({ body: JSON.stringify(body) });

/** A service that gives all numbers, or none of those that it may leave out. */
const serviceWith =
	(isComplete: boolean): Service =>
	({ url }) => {
		if (url.endsWith('subscriber_count')) {
			return json(isComplete ? counts : { active_subscribers: '8' });
		}
		const whole = statusAnswer('1', counters);
		if (isComplete) return whole;
		const { notification_id } = record.parse(JSON.parse(String(whole.body)));
		return json({ notification_id, comment: 'The campaign is scheduled' });
	};
const onlyLifetime: Service = () => json({ total_life_time_subscribers: '9' });

/** What an event shows with its widest panel. */
async function itemsOf(event: string, service: Service): Promise<IDataObject[]> {
	const watch = ['status', 'clicked', 'closed', 'delivered', 'failedToSend', 'successfullySent'];
	const parameters = {
		event,
		campaignIds: '1',
		number: 1,
		...(event === 'campaignChanged' ? { watch: [...watch, 'totalAttempts'] } : {}),
	};
	const { context } = pollFunctions({ parameters, service, mode: 'manual' });
	const given = await new PushCampaignTrigger().poll.call(context);
	return given?.flat().map((item) => item.json) ?? [];
}

async function everyItem(): Promise<IDataObject[]> {
	const items: IDataObject[] = [];
	for (const { option } of triggerEvents) {
		for (const isComplete of [true, false]) {
			items.push(...(await itemsOf(option.value, serviceWith(isComplete))));
		}
	}
	items.push(...(await itemsOf('subscribersChanged', onlyLifetime)));
	// After its first event a status changes from a text.
	const changes = { status: { from: 'Scheduled', to: 'Sent' } };
	return [...items, ...items.slice(0, 1).map((item) => ({ ...item, changes }))];
}

test('the output schema of the trigger is that of the items of its four events', async () => {
	expect(written).toEqual(schemaOf(await everyItem()));
	expect(version).toBe(1);
});

test('the fields of the output schema are in the order of the items', async () => {
	const listed = Object.keys(written.properties);
	for (const item of await everyItem()) {
		expect(Object.keys(item)).toEqual(listed.filter((name) => name in item));
	}
});
