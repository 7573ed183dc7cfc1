import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { digest } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import { defaultTimeoutMs, readKey, readTimeout } from '../operations/options';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import { readable } from '../operations/values';
import type { Send } from '../send/once';
import { sentByItem } from './refusals';
import type { FailedItem, ItemThat } from './runItem';

// What a send is known by, and how it goes out once.

/**
 * Gives the position of an item in the execution: the run of the node, the item's number, and what came in, whatever is
 * edited in the node before a Retry. An agent's tool has none: a call is known by its content.
 */
export function positions(context: IExecuteFunctions) {
	if (isTool(context.getNode())) return () => undefined;
	const run = Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	return (index: number, { input }: ItemParameters): string =>
		`${run}.${index}.${digest(jsonStringify(input, { replaceCircularRefs: true }))}`;
}

/**
 * Reads what an item is sent once under, if it has Send Only Once. A format: saved keys depend on it. What it gives throws
 * InvalidInput and UnusableCredential.
 */
export function keysOf(
	context: IExecuteFunctions,
	connectionOf: (index: number) => Promise<Connection>,
) {
	const nodeId = context.getNode().id;
	return async (index: number, parameters: ItemParameters): Promise<Send['key']> => {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await connectionOf(index);
		return { id, name: `key:${digest(JSON.stringify([nodeId, site, 'entered', id]))}` };
	};
}

type ReadyItem = ItemThat<'ready'>;

/**
 * The send of an item, as it goes out once. A test is no send: nothing remembers it.
 * @param repeats the items that count as sent with it
 */
export function jobOf(item: ReadyItem, repeats: readonly ReadyItem[]): Send {
	const { send, connection, index } = item;
	const { client, site } = connection;
	const content = () => digest(JSON.stringify([site, send.audience, send.body]));
	return {
		position: item.isTest ? undefined : (item.position ?? content()),
		repeats: repeats.map((each) => ({
			position: each.position,
			row: toRow(each.send, sentByItem(index)),
		})),
		key: item.isTest ? undefined : item.key,
		timeoutMs: send.options.timeoutMs,
		refusal: () => lateness(send.timing, Date.now()),
		request: async () => await performSend(client, send),
		toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
	};
}

/** A send that must not go out. It is asked whether it was sent, or may have been: then it is not judged. */
export const refusedJob = ({ position, key, problem, parameters }: FailedItem): Send => ({
	...{ position, key, repeats: [] },
	timeoutMs: readable(() => readTimeout(parameters)) ?? defaultTimeoutMs,
	refusal: () => problem,
	request: async () => await Promise.reject(new Error('It is refused')),
	toRow: () => ({}),
});
