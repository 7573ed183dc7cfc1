import { getStatus } from './getStatus';
import { getSubscriberCount } from './getSubscriberCount';
import type { Operation } from './operation';
import { sendToAll } from './sendToAll';
import { sendToAttributes } from './sendToAttributes';
import { sendToSegments } from './sendToSegments';
import { sendToSubscriber } from './sendToSubscriber';

/** Every operation of the node, in the order in which users see them. */
export const operations: readonly Operation[] = [
	sendToAll,
	sendToAttributes,
	sendToSegments,
	sendToSubscriber,
	getStatus,
	getSubscriberCount,
];
