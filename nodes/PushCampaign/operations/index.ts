import type { INodeProperties } from 'n8n-workflow';

import { keptAsWritten } from './asWritten';
import { getStatus } from './getStatus';
import { getSubscriberCount } from './getSubscriberCount';
import type { Operation, OperationBase, SendOperation } from './operation';
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

/** Every operation of the node, in the order in which users see them. */
export const operations: readonly Operation[] = [...sends, getStatus, getSubscriberCount];

/** The panel of an operation: each parameter is shown for this operation only. */
export const panelOf = ({ resource, option, properties }: OperationBase): INodeProperties[] =>
	properties.flatMap(keptAsWritten).map((property) => ({
		...property,
		displayOptions: {
			...property.displayOptions,
			show: { resource: [resource], operation: [option.value], ...property.displayOptions?.show },
		},
	}));

/** The panels of all operations. */
export const operationProperties: INodeProperties[] = operations.flatMap(panelOf);
