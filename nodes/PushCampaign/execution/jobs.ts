import type { IDataObject } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { digest } from '../n8n/connection';
import type { PreparedSend } from '../operations/operation';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import type { Send } from '../send/once';
import type { KnownItem } from './runItem';

// What a send is known by, and how it goes out once.

/** The run of the node, the item's number, and what came in: whatever is edited in the node before a Retry. */
export function positionOf(runIndex: number, index: number, input: Readonly<IDataObject>): string {
	const item = digest(jsonStringify(input, { replaceCircularRefs: true }));
	return `${runIndex}.${index}.${item}`;
}

/** What an item is sent once under. A format: saved keys depend on it. */
export const keyOf = (nodeId: string, site: string, id: string): string =>
	`key:${digest(JSON.stringify([nodeId, site, 'entered', id]))}`;

/** The send of an item, as it goes out once. */
export function jobOf(
	{ position, choice }: KnownItem,
	send: PreparedSend,
	{ client, site }: Connection,
	key: string | undefined,
): Send {
	const { notification, audience, body, options, timing } = send;
	return {
		position: position ?? digest(JSON.stringify([site, audience, body])),
		key,
		notification: notification && digest(JSON.stringify([site, notification])),
		unknownOutcome: choice,
		timeoutMs: options.timeoutMs,
		checkTime: () => lateness(timing, Date.now()),
		request: async () => await performSend(client, send),
		toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
	};
}
