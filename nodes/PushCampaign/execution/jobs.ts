import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { digest } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import { readKey } from '../operations/options';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import type { Ledger } from '../send/ledger';
import { testMark } from '../send/ledger';
import type { Send } from '../send/once';
import { shownBefore } from './duplicates';
import type { KnownItem } from './runItem';

// What a send is known by, and how it goes out once.

/**
 * Gives the position of an item in the execution: the run of the node, the item's number, and what came in, whatever is
 * edited in the node before a Retry.
 */
export function positions(context: IExecuteFunctions) {
	const isOfTool = isTool(context.getNode());
	const run = isOfTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	return (index: number, { input }: ItemParameters, isTest: boolean): string | undefined => {
		if (isOfTool) return undefined;
		const item = digest(jsonStringify(input, { replaceCircularRefs: true }));
		return `${run}.${index}.${item}${isTest ? testMark : ''}`;
	};
}

/**
 * Gives what an item is sent once under, if it has Send Only Once. A format: saved keys depend on it. What it gives throws
 * InvalidInput and UnusableCredential.
 */
export function keyNames(
	context: IExecuteFunctions,
	connectionOf: (index: number) => Promise<Connection>,
) {
	const nodeId = context.getNode().id;
	return async ({ index, parameters }: KnownItem): Promise<string | undefined> => {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await connectionOf(index);
		return `key:${digest(JSON.stringify([nodeId, site, 'entered', id]))}`;
	};
}

/** The send of an item, as it goes out once. */
export function jobOf(
	{ position, choice }: KnownItem,
	send: PreparedSend,
	{ client, site }: Connection,
	key: string | undefined,
	ledger: Ledger,
): Send {
	const { notification, audience, body, options, timing } = send;
	const known = {
		position: position ?? digest(JSON.stringify([site, audience, body])),
		key,
		notification: notification && digest(JSON.stringify([site, notification])),
	};
	const refuseShown = () =>
		ledger.hasShown(known) ? shownBefore(send, position === undefined) : undefined;
	return {
		...known,
		unknownOutcome: choice,
		timeoutMs: options.timeoutMs,
		refusal: () => lateness(timing, Date.now()) ?? refuseShown(),
		request: async () => await performSend(client, send),
		toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
	};
}
