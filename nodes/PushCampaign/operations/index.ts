import type { IBuilderHint, INodeProperties } from 'n8n-workflow';
import { updateDisplayOptions } from 'n8n-workflow';

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

/** The panels of all operations: each parameter is shown for its operation only. */
export const operationProperties: INodeProperties[] = [...sends, ...queries].flatMap(
	({ resource, option, properties }) =>
		updateDisplayOptions({ show: { resource: [resource], operation: [option.value] } }, properties),
);

/** What n8n's AI workflow builder reads. */
export const builderHint: IBuilderHint = {
	searchHint:
		'Sends web push (browser) notifications to all subscribers of a website, to segments, to subscribers with an attribute or to one, and reads campaign status and subscriber counts. A send reaches real people and cannot be taken back, so build it with the option Dry Run (options.dryRun), which the user removes.',
};
