import type { INodeProperties, NodeHint } from 'n8n-workflow';

import { audienceRules, maxCharacters } from '../service/rules';
import { getStatus } from './getStatus';
import { getSubscriberCount } from './getSubscriberCount';
import type { Operation, SendOperation } from './operation';
import { sendToAll } from './sendToAll';
import { sendToAttributes } from './sendToAttributes';
import { sendToSegments } from './sendToSegments';
import { sendToSubscriber } from './sendToSubscriber';

const sends = [sendToAll, sendToAttributes, sendToSegments, sendToSubscriber];

/** Every operation of the node, in the order in which users see them. */
export const operations: readonly Operation[] = [...sends, getStatus, getSubscriberCount];

/** The panels of all operations: each parameter shows with its own operation alone. */
export const operationProperties: INodeProperties[] = operations.flatMap(
	({ resource, option, properties }) =>
		properties.map((property) => ({
			...property,
			displayOptions: {
				show: { resource: [resource], operation: [option.value], ...property.displayOptions?.show },
			},
		})),
);

// Conditions in the words of n8n's expressions. They look at parameters as they are written: what an
// expression gives is not known while someone types.

const campaignSends = sends.filter(({ audience }) => audienceRules[audience].becomesCampaign);

const isOneOf = (among: readonly SendOperation[]) =>
	`${JSON.stringify(among.map(({ option }) => option.value))}.includes($rawParameter["operation"])`;
const written = (parameter: string) => `String($rawParameter["${parameter}"] ?? "")`;

const tooLong = (parameter: string, displayName: string, limit: number): NodeHint => ({
	message: `${displayName} is longer than the ${limit} characters that the service accepts. Shorten it, or add the option Shorten Long Texts.`,
	type: 'warning',
	location: 'ndv',
	displayCondition: `={{ ${isOneOf(sends)} && !${written(parameter)}.startsWith("=") && Array.from(${written(parameter)}).length > ${limit} && !$rawParameter["options"]?.shortenTexts }}`,
});

/** What the editor says beside the panel before a run, while someone types. */
export const nodeHints: NodeHint[] = [
	{
		message:
			'Each input item becomes a campaign of its own. For a single campaign, turn on Execute Once in the settings of this node, unless Execute Once is on already.',
		type: 'warning',
		location: 'outputPane',
		displayCondition: `={{ ${isOneOf(campaignSends)} && $input.all().length > 1 }}`,
	},
	tooLong('title', 'Title', maxCharacters.title),
	tooLong('message', 'Message', maxCharacters.message),
	{
		message: 'Target URL has to begin with https:// or http://, such as https://www.example.com.',
		type: 'warning',
		location: 'ndv',
		displayCondition: `={{ ${isOneOf(sends)} && !/^\\s*(=|https?:\\/\\/|$)/i.test(${written('targetUrl')}) }}`,
	},
];
