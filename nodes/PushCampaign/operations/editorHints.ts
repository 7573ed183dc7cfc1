import type { NodeHint } from 'n8n-workflow';

import { audienceRules, maxCharacters } from '../service/rules';
import type { SendOperation } from './operation';
import { sends } from './index';

// Conditions are n8n expressions. They read parameters as they are written: what an expression returns is not
// known while someone types.

const campaignSends = sends.filter(({ audience }) => audienceRules[audience].kind === 'send');

const isOneOf = (among: readonly SendOperation[]) =>
	`${JSON.stringify(among.map(({ option }) => option.value))}.includes($rawParameter["operation"])`;
const rawText = (parameter: string) => `String($rawParameter["${parameter}"] ?? "")`;
const rawTextIn = (collection: string, field: string) =>
	`String($rawParameter["${collection}"]?.${field} ?? "")`;

/** A hint below the panel of every send. Braces stand in brackets: two in a row would end the expression. */
const beside = (message: string, condition: string): NodeHint => ({
	message,
	type: 'warning',
	location: 'ndv',
	displayCondition: `={{ ${isOneOf(sends)} && ${condition} }}`,
});

const tooLong = (parameter: string, displayName: string, limit: number): NodeHint =>
	beside(
		`${displayName} is longer than the ${limit} characters that the service accepts. Shorten it, or add the option Shorten Long Texts.`,
		`!${rawText(parameter)}.startsWith("=") && Array.from(${rawText(parameter)}).length > ${limit} && !$rawParameter["options"]?.shortenTexts`,
	);

/** An expression, an address, or nothing yet. */
const mayBeAddress = (scheme: string) => `/^\\s*(=|${scheme}:\\/\\/|$)/i`;

const notHttps = (displayName: string, field: string): NodeHint =>
	beside(
		`${displayName} must begin with https://. Enter the full address, such as https://www.example.com/icon.png.`,
		`!${mayBeAddress('https')}.test(${rawTextIn('additionalFields', field)})`,
	);

/** The texts of a send as JSON: one that does not begin with an equals sign is set to Fixed. */
const allTexts = `JSON.stringify([${[
	...['title', 'message', 'targetUrl', 'attributes', 'attributesJson', 'segmentIds'],
	...['subscriberId', 'actionButtons', 'additionalFields', 'options'],
]
	.map((parameter) => `$rawParameter["${parameter}"]`)
	.join(', ')}])`;

const manyCampaigns =
	'Each input item is sent as its own campaign, so every subscriber gets one notification per item. To send just one, turn on Execute Once in Settings.';
const areManyCampaigns = `${isOneOf(campaignSends)} && $input.all().length > 1`;
const isSentOnce =
	'["idempotencyKey", "sendOnce"].some((name) => name in ($rawParameter["options"] ?? {}))';

/** What the editor says beside the panel before a run, while someone types. */
export const editorHints: NodeHint[] = [
	{
		message: manyCampaigns,
		type: 'warning',
		location: 'outputPane',
		displayCondition: `={{ ${areManyCampaigns} && ${isSentOnce} }}`,
	},
	{
		message: `${manyCampaigns} If the execution is stopped or n8n crashes, part of them is sent already, and running the workflow again sends that part again. To rule that out, add the option Send Only Once.`,
		type: 'warning',
		location: 'outputPane',
		displayCondition: `={{ ${areManyCampaigns} && !${isSentOnce} }}`,
	},
	tooLong('title', 'Title', maxCharacters.title),
	tooLong('message', 'Message', maxCharacters.message),
	beside(
		'Target URL must begin with https:// or http://. Enter the full address, such as https://www.example.com/page.',
		`!${mayBeAddress('https?')}.test(${rawText('targetUrl')})`,
	),
	beside(
		'The URL of a button must begin with https:// or http://. Enter the full address, such as https://www.example.com/page.',
		`[].concat($rawParameter["actionButtons"]?.button ?? []).some((button) => !${mayBeAddress('https?')}.test(String(button?.url ?? "")))`,
	),
	notHttps('Icon URL', 'iconUrl'),
	notHttps('Image URL', 'imageUrl'),
	beside(
		'A field that is set to Fixed contains {{ }}, which n8n does not evaluate there. Switch the field to Expression.',
		`/(?<!\\\\)"(?!=)(?:[^"\\\\]|\\\\.)*[{][{](?:[^"}\\\\]|\\\\.)*[$]/.test(${allTexts})`,
	),
	beside(
		'Idempotency Key is empty, so the send will fail. Enter an ID of what the notification is about, or remove the option.',
		`$rawParameter["options"]?.idempotencyKey !== undefined && /^=?\\s*([{][{]\\s*[}][}])?\\s*$/.test(${rawTextIn('options', 'idempotencyKey')})`,
	),
];
