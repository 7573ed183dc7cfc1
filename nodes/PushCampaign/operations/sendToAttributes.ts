import type { INodeProperties } from 'n8n-workflow';

import type { AttributeValue } from '../service/schemas';
import { attributes, attributeValue } from '../service/schemas';
import { quote } from '../service/text';
import { requiredText } from '../service/textSchemas';
import type { Judge, TextField } from './judgeText';
import { fieldOf } from './judgeText';
import { check, invalid, required, textProperty, toEntries } from './parameters';
import { sendOperation, toolNotice } from './send';

const specifyAttributes = {
	displayName: 'Specify Attributes',
	name: 'specifyAttributes',
	type: 'options',
	default: 'keypair',
	options: [
		{ name: 'Using Fields Below', value: 'keypair' },
		{ name: 'Using JSON', value: 'json' },
	],
	description: 'How to enter the attributes',
} satisfies INodeProperties;

const pairPart = (displayName: string, name: string, placeholder: string) =>
	textProperty({ displayName, name, required: true, placeholder });
const pairName = pairPart('Name', 'name', 'e.g. plan');
const pairValue = pairPart('Value', 'value', 'e.g. pro');

const attributePairs = {
	displayName: 'Attributes',
	name: 'attributes',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Attribute',
	default: { pairs: [{ name: '', value: '' }] },
	required: true,
	displayOptions: { show: { specifyAttributes: ['keypair'] } },
	description: 'Whom to send to',
	options: [{ displayName: 'Attribute', name: 'pairs', values: [pairName, pairValue] }],
} satisfies INodeProperties;

const exampleJson = '{"plan": "pro", "city": "Oslo"}';

const attributesJson = {
	displayName: 'Attributes (JSON)',
	name: 'attributesJson',
	type: 'json',
	default: '',
	required: true,
	placeholder: `e.g. ${exampleJson}`,
	displayOptions: { show: { specifyAttributes: ['json'] } },
	description: 'Whom to send to, as a JSON object of names and values',
} satisfies INodeProperties;

const oneValue =
	'The service knows one value per name. Keep one of them, or send once for each value.';

function fromPairs(value: unknown, judge: Judge) {
	const { displayName } = attributePairs;
	const given = new Map<string, AttributeValue>();
	for (const [index, pair] of toEntries(value, 'pairs', displayName).entries()) {
		const fieldOf = (part: INodeProperties): TextField => ({
			displayName: `${part.displayName} of pair ${index + 1} in ${displayName}`,
			path: `${attributePairs.name}.pairs[${index}].${part.name}`,
		});
		const [nameField, valueField] = [fieldOf(pairName), fieldOf(pairValue)];
		const entered = check(requiredText, pair[pairName.name], nameField.displayName);
		const name = judge(entered, nameField).trim();
		if (given.has(name)) throw invalid(displayName, `has the name "${name}" twice`, oneValue);
		const compared = check(attributeValue, pair[pairValue.name], valueField.displayName);
		given.set(name, judge(compared, valueField));
	}
	if (given.size > 0) return Object.fromEntries(given);
	throw invalid(displayName, 'is empty', 'Add at least one attribute with its name and value.');
}

/** Every text of a JSON document, with the colon behind it if it is a name. */
const jsonText = /"[^"\\]*(?:\\.[^"\\]*)*"\s*:?/g;

const countNames = (json: string) =>
	[...json.matchAll(jsonText)].filter(([text]) => text.endsWith(':')).length;

function fromJson(value: unknown, judge: Judge) {
	const field = fieldOf(attributesJson);
	const { displayName, path } = field;
	judge(value, field);
	let parsed = required(value, displayName);
	if (typeof value === 'string') {
		try {
			parsed = JSON.parse(value);
		} catch {
			throw invalid(
				displayName,
				`is not valid JSON: ${quote(value)}`,
				`Write it like ${exampleJson}.`,
			);
		}
	}
	const nameOf = (name: string | number) => `${displayName} at "${name}"`;
	const checked = check(attributes, parsed, displayName, ([name]) =>
		name === undefined ? undefined : nameOf(name),
	);
	for (const [name, compared] of Object.entries(checked)) {
		judge(name, field);
		judge(compared, { displayName: nameOf(name), path });
	}
	// JSON.parse keeps the last of several equal names.
	if (typeof value === 'string' && countNames(value) > Object.keys(checked).length) {
		throw invalid(displayName, 'has a name twice', oneValue);
	}
	return checked;
}

/** Specification, POST send/attribute. */
export const sendToAttributes = sendOperation({
	audience: 'attributes',
	option: {
		name: 'Send to Attributes',
		value: 'sendToAttributes',
		action: 'Send campaign to subscribers with attributes',
		description: 'Send a notification to the subscribers who have any one of the given attributes',
	},
	properties: [
		toolNotice('every subscriber with these attributes'),
		specifyAttributes,
		attributePairs,
		attributesJson,
		{
			displayName:
				'Any one of these attributes is enough (OR, not AND). With plan = pro and city = Oslo, everyone with plan = pro gets the notification, and everyone in Oslo.',
			name: 'attributesNotice',
			type: 'notice',
			default: '',
		},
	],
	select(item, judge) {
		const mode = item.get(specifyAttributes) ?? specifyAttributes.default;
		if (mode === 'json') return { attribute: fromJson(item.get(attributesJson), judge) };
		if (mode === 'keypair') return { attribute: fromPairs(item.get(attributePairs), judge) };
		const what = `is neither "keypair" nor "json": ${quote(mode)}`;
		throw invalid(specifyAttributes.displayName, what);
	},
});
