import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { AttributeValue } from '../service/schemas';
import { attributes, attributeValue, firstIssue } from '../service/schemas';
import type { ItemParameters } from './parameters';
import { check, invalid, required, toFields } from './parameters';
import { sendOperation } from './send';
import { campaignProperties } from './sendFields';

const displayOptions = { show: { resource: ['campaign'], operation: ['sendToAttributes'] } };
const showFor = (specifyAttributes: string) => ({
	displayOptions: { show: { ...displayOptions.show, specifyAttributes: [specifyAttributes] } },
});

const specifyAttributes = {
	displayName: 'Specify Attributes',
	name: 'specifyAttributes',
	type: 'options',
	default: 'keypair',
	displayOptions,
	options: [
		{ name: 'Using Fields Below', value: 'keypair' },
		{ name: 'Using JSON', value: 'json' },
	],
	description: 'How to enter the attributes',
} satisfies INodeProperties;

const attributePairs = {
	displayName: 'Attributes',
	name: 'attributes',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Attribute',
	default: { pairs: [{ name: '', value: '' }] },
	required: true,
	...showFor('keypair'),
	description: 'Whom to send to',
	options: [
		{
			displayName: 'Attribute',
			name: 'pairs',
			values: [
				{
					displayName: 'Name',
					name: 'name',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. plan',
				},
				{
					displayName: 'Value',
					name: 'value',
					type: 'string',
					default: '',
					required: true,
					placeholder: 'e.g. pro',
				},
			],
		},
	],
} satisfies INodeProperties;

const attributesJson = {
	displayName: 'Attributes (JSON)',
	name: 'attributesJson',
	type: 'json',
	default: '',
	required: true,
	placeholder: 'e.g. {"plan": "pro", "city": "Oslo"}',
	...showFor('json'),
	description: 'Whom to send to, as a JSON object of names and values',
} satisfies INodeProperties;

const anyOneIsEnough = {
	displayName:
		'Any one of these attributes is enough (OR, not AND). With plan = pro and city = Oslo, everyone with plan = pro gets the notification, and everyone in Oslo.',
	name: 'attributesNotice',
	type: 'notice',
	default: '',
	displayOptions,
} satisfies INodeProperties;

const pairList = z.array(z.record(z.string(), z.unknown()));

/** Checks names and values; what is wrong with one value names it. */
function checkAttributes(
	given: unknown,
	displayName: string,
	advice: string,
): Record<string, AttributeValue> {
	const result = attributes.safeParse(given);
	if (result.success) return result.data;
	const { path, message } = firstIssue(result.error);
	const [name] = path;
	if (name === undefined) throw invalid(displayName, message, advice);
	throw invalid(displayName, `has a value for "${name}" that ${message}`);
}

function fromPairs(value: unknown): Record<string, AttributeValue> {
	const { displayName } = attributePairs;
	const { pairs = [] } = toFields(value, displayName);
	const list = pairList.safeParse(pairs);
	if (!list.success) throw invalid(displayName, 'is not a list of names and values');
	const given = new Map<string, unknown>();
	for (const [index, pair] of list.data.entries()) {
		const position = `of pair ${index + 1} in ${displayName}`;
		const name = required(pair['name'], `Name ${position}`);
		if (typeof name !== 'string') throw invalid(`Name ${position}`, 'is not text');
		if (given.has(name)) throw nameTwice(name);
		given.set(name, check(attributeValue, pair['value'], `Value ${position}`));
	}
	const advice = 'Add at least one attribute with its name and value.';
	return checkAttributes(Object.fromEntries(given), displayName, advice);
}

const nameTwice = (name: string) =>
	invalid(
		attributePairs.displayName,
		`has the name "${name}" twice`,
		'The service knows one value per name. Keep one of them, or send once for each value.',
	);

/** Every text of a JSON document, with the colon behind it where it is a name. */
const jsonText = /"[^"\\]*(?:\\.[^"\\]*)*"\s*:?/g;

/** JSON keeps the last of several equal names without a word. */
function findNameTwice(json: string): string | undefined {
	const seen = new Set<string>();
	for (const [token] of json.matchAll(jsonText)) {
		if (!token.endsWith(':')) continue;
		const name = String(JSON.parse(token.slice(0, -1)));
		if (seen.has(name)) return name;
		seen.add(name);
	}
	return undefined;
}

const jsonAdvice = 'Write it like {"plan": "pro", "city": "Oslo"}.';

function fromJson(value: unknown): Record<string, AttributeValue> {
	const { displayName } = attributesJson;
	let parsed = required(value, displayName);
	if (typeof value === 'string') {
		try {
			parsed = JSON.parse(value);
		} catch {
			throw invalid(displayName, 'is not valid JSON', jsonAdvice);
		}
	}
	const checked = checkAttributes(parsed, displayName, jsonAdvice);
	const repeated = typeof value === 'string' ? findNameTwice(value) : undefined;
	if (repeated !== undefined) throw nameTwice(repeated);
	return checked;
}

function selectAttributes(item: ItemParameters): Record<string, AttributeValue> {
	const mode = item.get(specifyAttributes) ?? specifyAttributes.default;
	if (mode === 'json') return fromJson(item.get(attributesJson));
	if (mode === 'keypair') return fromPairs(item.get(attributePairs));
	throw invalid(specifyAttributes.displayName, 'is neither "keypair" nor "json"');
}

/** Specification, POST send/attribute. */
export const sendToAttributes = sendOperation({
	resource: 'campaign',
	audience: 'attributes',
	option: {
		name: 'Send to Attributes',
		value: 'sendToAttributes',
		action: 'Send campaign to subscribers with attributes',
		description: 'Send a notification to the subscribers who have any one of the given attributes',
	},
	properties: campaignProperties('attributes', displayOptions, [
		specifyAttributes,
		attributePairs,
		attributesJson,
		anyOneIsEnough,
	]),
	select: (item) => ({ attribute: selectAttributes(item) }),
	identify: (_selection, { campaignId }) => ({ campaignId }),
});
