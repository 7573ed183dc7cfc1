import type { INodeProperties } from 'n8n-workflow';

import type { Field, ItemParameters } from '../n8n/parameters';
import { splitTemplate } from '../n8n/template';
import { namesIn } from '../service/json';
import { clip, isBlankText, quote } from '../service/text';
import { judge } from '../texts/judge';
import { toMeant } from '../texts/meant';
import type { Use } from '../texts/parts';
import type { SendOperation } from './operation';
import { sendProperties, toolNotice } from './sendFields';
import { readText, requireText } from './textFields';
import {
	entriesOf,
	fieldOf,
	groupIn,
	invalid,
	isBlank,
	missing,
	orUndefined,
	readChoice,
	readRequired,
	requireDigits,
	sourceOf,
	textProperty,
} from './values';

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

const pairName = textProperty('Name', 'name', { required: true });
const pairValue = textProperty('Value', 'value', { required: true });

const attributes: INodeProperties = {
	displayName: 'Attributes',
	name: 'attributes',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add Attribute',
	default: { pairs: [{ name: '', value: '' }] },
	required: true,
	displayOptions: { show: { specifyAttributes: ['keypair'] } },
	description: 'Subscribers with any one of these get it (OR, not AND)',
	options: [{ displayName: 'Attribute', name: 'pairs', values: [pairName, pairValue] }],
};

const exampleJson = '{"plan": "pro", "city": "Oslo"}';
const writeIt = `Write it like ${exampleJson}.`;

const attributesJson: INodeProperties = {
	displayName: 'Attributes (JSON)',
	name: 'attributesJson',
	type: 'json',
	default: '',
	required: true,
	placeholder: `e.g. ${exampleJson}`,
	displayOptions: { show: { specifyAttributes: ['json'] } },
	description: 'JSON object of names and values: subscribers with any one of these get it',
};

type Attribute = readonly [name: string, value: string | number | boolean];

/** @throws InvalidInput if nothing of the text is visible, or nobody meant it */
const checkText = (item: ItemParameters, field: Field, text: string, use: Use): string =>
	requireText(item, field, toMeant(sourceOf(item, field), text, use));

/** What an attribute may be compared with. Specification, Audience fields. */
function checkValue(item: ItemParameters, field: Field, value: unknown): Attribute[1] {
	if (typeof value === 'boolean') return value;
	if (typeof value === 'string') return checkText(item, field, value, 'attribute');
	if (isBlank(value)) throw missing(item, field);
	if (typeof value === 'number' && Number.isFinite(value)) {
		requireDigits(field, value);
		return value;
	}
	throw invalid(field, `is not a text, a number or a boolean: ${quote(value)}`);
}

/** The service knows one value for each name. */
function requireOnce(field: Field, names: readonly string[]): void {
	const seen = new Set<string>();
	for (const name of names) {
		const fix = 'Keep one of them, or send once for each value.';
		if (seen.has(name)) throw invalid(field, `has the name "${name}" twice`, fix);
		seen.add(name);
	}
}

function fromPairs(item: ItemParameters): Attribute[] {
	const list = groupIn(fieldOf(attributes), 'pairs');
	return entriesOf(item, list, 'attribute').map((entry) => {
		const [name, value] = [fieldOf(pairName, entry), fieldOf(pairValue, entry)];
		const text = requireText(item, name, readText(item, name, 'parameter'));
		return [text, checkValue(item, value, item.get(value))];
	});
}

/** What closes a text of JSON, or can't stand in one. */
const endOfText = /["\\\p{Cc}]/u;

const isJson = (text: string): boolean =>
	orUndefined((): unknown => JSON.parse(text)) !== undefined;

/**
 * Checks that what fills in JSON is a value in it, and no more: else whoever writes a form's text adds an attribute.
 * @throws InvalidInput if a part is more, or can't be told apart from what stands around it
 */
function checkFilledIn(item: ItemParameters, field: Field): void {
	const pieces = splitTemplate(item.expression(field) ?? '');
	// A pair of braces alone gives the whole value.
	if (pieces.every((piece) => 'code' in piece || isBlankText(piece.literal))) return;
	const parts = [...item.parts(field)];
	let before = '';
	let isInText = false;
	for (const piece of pieces) {
		if ('literal' in piece) {
			before = piece.literal;
			isInText = isInText !== (before.split('"').length % 2 === 0);
			continue;
		}
		const gave = parts.shift()?.text;
		const isValue = (text: string) =>
			isInText ? !endOfText.test(text) : !/:\s*$/.test(before) || isJson(text);
		if (gave !== undefined && isValue(gave)) continue;
		const what = `has a part that may be more than a value in JSON, ${clip(`{{${piece.code}}}`)}`;
		throw invalid(field, what, 'Give an object instead, such as {{ { plan: $json.plan } }}.');
	}
}

function fromJson(item: ItemParameters): Attribute[] {
	const field = fieldOf(attributesJson);
	const given = readRequired(item, field);
	if (typeof given === 'string') judge(sourceOf(item, field), given, 'parameter');
	checkFilledIn(item, field);
	const parsed = typeof given === 'string' ? orUndefined((): unknown => JSON.parse(given)) : given;
	if (parsed === undefined) throw invalid(field, `is not valid JSON: ${quote(given)}`, writeIt);
	if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
		throw invalid(field, `is not a set of names and values: ${quote(parsed)}`, writeIt);
	}
	const entries: Array<[string, unknown]> = Object.entries(parsed);
	const attributes = entries.map(([entered, value]): Attribute => {
		const name = checkText(item, field, entered, 'parameter');
		return [name, checkValue(item, { ...field, label: `${name} in ${field.label}` }, value)];
	});
	if (typeof given === 'string') requireOnce(field, namesIn(given));
	return attributes;
}

/** Specification, POST send/attribute. */
export const sendToAttributes: SendOperation = {
	resource: 'campaign',
	audience: 'attributes',
	option: {
		name: 'Send to Attributes',
		value: 'sendToAttributes',
		action: 'Send campaign to subscribers with attributes',
		description: 'Send a notification to the subscribers with any one of some attributes',
	},
	properties: [
		toolNotice('every subscriber with these attributes'),
		specifyAttributes,
		attributes,
		attributesJson,
		...sendProperties('attributes'),
	],
	select(item) {
		const way = readChoice(item, fieldOf(specifyAttributes), specifyAttributes);
		const field = fieldOf(way === 'json' ? attributesJson : attributes);
		const given = way === 'json' ? fromJson(item) : fromPairs(item);
		if (given.length === 0) throw invalid(field, 'has no attribute', 'Add one, with its value.');
		requireOnce(
			field,
			given.map(([name]) => name),
		);
		return { attribute: Object.fromEntries(given) };
	},
};
