import { getStatus } from './getStatus';
import { getSubscriberCount } from './getSubscriberCount';
import type { QueryOperation, SendOperation } from './operation';
import { sendToAll } from './sendToAll';
import { sendToAttributes } from './sendToAttributes';
import { sendToSegments } from './sendToSegments';
import { sendToSubscriber } from './sendToSubscriber';

/** The operations that send, in the order in which users see them. */
export const sends: readonly SendOperation[] = [
	sendToAll,
	sendToAttributes,
	sendToSegments,
	sendToSubscriber,
];

/** The operations that ask and send nothing, likewise. */
export const queries: readonly QueryOperation[] = [getStatus, getSubscriberCount];
