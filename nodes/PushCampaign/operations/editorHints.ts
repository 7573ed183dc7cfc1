import type { NodeHint } from 'n8n-workflow';

import { audienceRules, maxCharacters } from '../service/rules';
import type { SendOperation } from './operation';
import { sends } from './index';

// Conditions are n8n expressions. They read parameters as they are written: what an expression returns is not
// known while someone types.

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
export const editorHints: NodeHint[] = [
	{
		message:
			'Each input item is sent as its own campaign, so every subscriber gets one notification per item. To send just one, turn on Execute Once in Settings.',
		type: 'warning',
		location: 'outputPane',
		displayCondition: `={{ ${isOneOf(campaignSends)} && $input.all().length > 1 }}`,
	},
	tooLong('title', 'Title', maxCharacters.title),
	tooLong('message', 'Message', maxCharacters.message),
	{
		message:
			'Target URL must begin with https:// or http://. Enter the full address, such as https://www.example.com/page.',
		type: 'warning',
		location: 'ndv',
		displayCondition: `={{ ${isOneOf(sends)} && !/^\\s*(=|https?:\\/\\/|$)/i.test(${written('targetUrl')}) }}`,
	},
];
