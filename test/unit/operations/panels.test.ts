import { runInNewContext } from 'node:vm';
import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';
import { operations, panelOf } from '../../../nodes/PushCampaign/operations';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import codex from '../../../nodes/PushCampaign/PushCampaign.node.json';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import { content } from './support';

const node = new PushCampaign().description;
const trigger = new PushCampaignTrigger().description;
const credential = new PushCampaignApi();

const isProperty = (option: object): option is INodeProperties => 'type' in option;
/** What is inside of a parameter: the fields of a collection, by the group that they are in. */
function groupsOf({
	options = [],
}: INodeProperties): Array<{ group: string; fields: INodeProperties[] }> {
	return options.flatMap((option) => {
		if ('values' in option) return [{ group: option.name, fields: option.values }];
		return isProperty(option) ? [{ group: '', fields: [option] }] : [];
	});
}

/** The values of a list; empty for anything else. */
const choices = ({ type, options = [] }: INodeProperties) =>
	type === 'options' || type === 'multiOptions'
		? options.flatMap((option) => ('value' in option ? [option.value] : []))
		: [];

/** What a saved workflow depends on of a panel, and the names that users see, one line for each property. */
function outline(properties: readonly INodeProperties[], indent = ''): string[] {
	return properties.flatMap((property) => {
		const { name, displayName, type, required, typeOptions, displayOptions } = property;
		const listed = choices(property);
		const bounds = [typeOptions?.minValue ?? '', typeOptions?.maxValue ?? ''].join('..');
		const line = [
			`${indent}${name}${required ? '*' : ''}`,
			type,
			`= ${JSON.stringify(property.default)}`,
			...(type === 'notice' ? [] : [`"${displayName}"`]),
			...(listed.length === 0 ? [] : [`[${listed.join(', ')}]`]),
			...(bounds === '..' ? [] : [bounds]),
			...(displayOptions === undefined ? [] : [JSON.stringify(displayOptions)]),
		].join(' ');
		const inside = groupsOf(property).flatMap(({ group, fields }) =>
			outline(fields, `${indent}  ${group === '' ? '' : `${group}.`}`),
		);
		return [line, ...inside];
	});
}

// This is the one check that catches a changed panel; `jest -u` accepts a change.
describe('what saved workflows depend on is unchanged', () => {
	test.each(operations.map((operation) => ({ name: operation.option.name, operation })))(
		'in the panel of $name',
		({ operation }) => {
			expect(`\n${outline(operation.properties).join('\n')}\n`).toMatchSnapshot();
		},
	);

	test.each([
		{ name: 'the action node', description: node },
		{ name: 'the trigger', description: trigger },
	])('in the description of $name', ({ description }) => {
		const { name, version, group, inputs, outputs, credentials } = description;
		expect({ name, version, group, inputs, outputs, credentials }).toMatchSnapshot();
	});

	test('in the panel of the trigger', () => {
		expect(`\n${outline(trigger.properties).join('\n')}\n`).toMatchSnapshot();
	});

	test('in the credential', () => {
		expect(credential.name).toBe('pushCampaignApi');
		expect(`\n${outline(credential.properties).join('\n')}\n`).toMatchSnapshot();
	});

	test('in the choice of resource and operation', () => {
		const listed = node.properties.filter(({ name }) => /^(resource|operation)$/.test(name));
		expect(`\n${outline(listed).join('\n')}\n`).toMatchSnapshot();
	});
});

test('a panel is shown for its operation only, and keeps its own conditions', () => {
	const displayOptions = { show: { mode: ['json'] }, hide: { '@version': [1] } };
	const text = sendToAll.properties.find(({ type }) => type === 'string');
	if (text === undefined) throw new TypeError('Send to All has no text');
	const own = { ...sendToAll, properties: [{ ...text, displayOptions }, text] };
	expect(panelOf(own).map((property) => property.displayOptions)).toEqual([
		{
			show: { resource: ['campaign'], operation: ['sendToAll'], mode: ['json'] },
			hide: { '@version': [1] },
		},
		{ show: { resource: ['campaign'], operation: ['sendToAll'] } },
	]);
});

/** Every parameter with all that is inside it, once. */
function everyProperty(properties: readonly INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) => [
		property,
		...everyProperty(groupsOf(property).flatMap(({ fields }) => fields)),
	]);
}
const distinct = new Map(
	[node.properties, trigger.properties, credential.properties]
		.flatMap(everyProperty)
		.filter(({ type }) => type !== 'notice' && type !== 'hidden')
		.map((property) => [JSON.stringify({ ...property, displayOptions: {} }), property] as const),
);

test.each([...distinct.values()].map((property) => ({ ...property, property })))(
	'the field $displayName ($name) has a name, a description and a placeholder in n8n’s style',
	({ property }) => {
		const { displayName, description = '', placeholder = '', type, name } = property;
		expect(displayName).toMatch(/^[A-Z]/);
		expect(`${displayName} ${description}`).not.toMatch(/\b(error|problem|failure|mistake)\b/i);
		if (type === 'boolean') expect(description).toMatch(/^Whether /);
		// One sentence has no full stop, several have one each.
		if (description !== '') expect(/\. [A-Z]/.test(description)).toBe(description.endsWith('.'));
		if (type === 'fixedCollection' || type === 'collection') expect(placeholder).toMatch(/^Add /);
		else if (placeholder !== '') expect(placeholder).toMatch(/^e\.g\. \S/);
		const isFreeText = type === 'string' || type === 'json';
		const isFilledIn = property.default !== '' || property.typeOptions?.password === true;
		if (isFreeText && !isFilledIn) expect(placeholder).not.toBe('');
		const isPlain = /^(resource|operation|options|additionalFields|name|value|unit)$/.test(name);
		if (!isPlain) expect(description).not.toBe('');
	},
);

/** Evaluates an expression without n8n: what stands between the braces is JavaScript. */
function evaluate(expression: string | undefined, values: Record<string, unknown>): unknown {
	const script = /^=\{\{ (.*) \}\}$/s.exec(expression ?? '')?.[1] ?? '';
	return runInNewContext(script, values);
}

test.each(operations.map((operation) => ({ name: operation.option.name, operation })))(
	'the subtitle of $name is its name, with the dry run',
	({ name, operation: { option, kind } }) => {
		const subtitle = (parameters: object) =>
			evaluate(node.subtitle, { $rawParameter: { operation: option.value, ...parameters } });
		expect(subtitle({})).toBe(name);
		expect(subtitle({ options: {} })).toBe(name);
		expect(subtitle({ options: { dryRun: false } })).toBe(name);
		expect(subtitle({ options: { dryRun: '={{ $json.test }}' } })).toBe(name);
		if (kind !== 'read') {
			expect(subtitle({ options: { dryRun: true } })).toBe(`${name} (dry run)`);
		}
	},
);

describe('the hints beside the panel', () => {
	/** The first two words of each hint that the editor shows. */
	const hintsFor = (operation: string, parameters: object = {}, items = 1) =>
		(node.hints ?? [])
			.filter(({ displayCondition }) => {
				const isShown = evaluate(displayCondition, {
					$rawParameter: { operation, ...parameters },
					$input: { all: () => Array.from({ length: items }) },
				});
				expect(typeof isShown).toBe('boolean');
				return isShown;
			})
			.map(({ message, type }) => {
				expect(type).toBe('warning');
				return message.split(' ').slice(0, 2).join(' ');
			});

	test.each(operations.map((operation) => ({ name: operation.option.name, operation })))(
		'warn of every mistake while someone fills in $name, and of nothing else',
		({ operation }) => {
			const { value } = operation.option;
			const isSend = operation.kind !== 'read';
			const isToMany = 'audience' in operation && operation.audience !== 'subscriber';
			const wrong = {
				...{ title: 'x'.repeat(101), message: 'x'.repeat(256), targetUrl: 'a.example' },
				actionButtons: { button: [{ title: 'Hello {{ $json.name }}', url: 'a.example' }] },
				additionalFields: { iconUrl: 'http://a.example/a.png', imageUrl: 'a.png' },
				options: { idempotencyKey: ' ' },
			};
			expect(hintsFor(value)).toEqual([]);
			expect(hintsFor(value, content)).toEqual([]);
			expect(hintsFor(value, {}, 2)).toEqual(isToMany ? ['Each input'] : []);
			const urls = ['Target URL', 'The URL', 'Icon URL', 'Image URL'];
			const expected = ['Title is', 'Message is', ...urls, 'A field', 'Idempotency Key'];
			expect(hintsFor(value, wrong)).toEqual(isSend ? expected : []);
		},
	);

	const long = 'x'.repeat(300);
	test.each([
		{
			name: 'accept texts that just fit',
			parameters: { title: 'x'.repeat(100), message: 'x'.repeat(255) },
			hints: [],
		},
		{ name: 'count an emoji once', parameters: { title: '🌷'.repeat(100) }, hints: [] },
		{
			name: 'warn of one emoji too many',
			parameters: { title: '🌷'.repeat(101) },
			hints: ['Title is'],
		},
		{
			name: 'do not judge expressions',
			parameters: {
				title: `=${long}{{ $json.title }}`,
				message: `=${long}`,
				targetUrl: '={{ $json.url }}',
			},
			hints: [],
		},
		{
			name: 'warn of a long title with other options',
			parameters: { title: long, options: {} },
			hints: ['Title is'],
		},
		{
			name: 'warn of a long title with Shorten Long Texts off',
			parameters: { title: long, options: { shortenTexts: false } },
			hints: ['Title is'],
		},
		{
			name: 'accept long texts with Shorten Long Texts',
			parameters: { title: long, message: long, options: { shortenTexts: true } },
			hints: [],
		},
		{
			name: 'accept long texts if an expression decides about shortening',
			parameters: { title: long, options: { shortenTexts: '={{ $json.cut }}' } },
			hints: [],
		},
		{ name: 'accept an address not yet typed', parameters: { targetUrl: ' ' }, hints: [] },
		{
			name: 'accept http:// in capitals after a space',
			parameters: { targetUrl: ' HTTP://a.example' },
			hints: [],
		},
		{
			name: 'warn of an address without https://',
			parameters: { targetUrl: 'www.a.example' },
			hints: ['Target URL'],
		},
		{
			name: 'warn of a missing slash',
			parameters: { targetUrl: 'https:/a.example' },
			hints: ['Target URL'],
		},
		{
			name: 'warn of text in front of https://',
			parameters: { targetUrl: 'x https://a.example' },
			hints: ['Target URL'],
		},
		{
			name: 'accept expressions wherever they are filled in',
			parameters: {
				title: '={{ $json.title }}',
				attributesJson: '={"plan": "{{ $json.plan }}"}',
				actionButtons: { button: [{ title: '={{ $json.go }}', url: '={{ $json.url }}' }, {}] },
				additionalFields: { name: 'a {{ b }} $', iconUrl: '={{ $json.icon }}' },
				options: { idempotencyKey: '={{ $json.id }}' },
			},
			hints: [],
		},
		...[
			{ title: 'Hello "you", {{$json.name}}' },
			{ attributesJson: '{"plan": "{{ $json.plan }}"}' },
			{ additionalFields: { utmParameters: { parameters: { source: '{{ $now }}' } } } },
		].map((parameters) => ({
			name: `warn of an expression in a field that is set to Fixed: ${JSON.stringify(parameters)}`,
			parameters,
			hints: ['A field'],
		})),
		{
			name: 'warn of a key that is an expression with nothing in it',
			parameters: { options: { idempotencyKey: '={{ }}' } },
			hints: ['Idempotency Key'],
		},
		{
			name: 'say nothing of buttons and options that are one expression',
			parameters: { actionButtons: { button: '={{ [] }}' }, options: '={{ {} }}' },
			hints: [],
		},
	])('$name', ({ parameters, hints }) => {
		expect(hintsFor('sendToAll', parameters)).toEqual(hints);
	});
});

test('time zones are chosen from all that there are', async () => {
	const listed = (await new PushCampaign().methods.loadOptions.getTimezones()).map(
		({ name, value }) => {
			expect(name).toBe(value);
			return name;
		},
	);
	expect(listed).toEqual([...new Set(listed)].sort());
	expect(listed).toEqual(
		expect.arrayContaining(['UTC', 'Europe/Berlin', 'Europe/Kyiv', 'Asia/Kolkata']),
	);
	for (const name of listed) expect(IANAZone.isValidZone(name)).toBe(true);
});

/** How n8n's editor searches: all letters of the words, in their order, in a name or an alias. */
const holds = (text: string, words: string) =>
	new RegExp([...words].map((letter) => letter.replace(/\W/, '\\$&')).join('.*'), 'i').test(text);

test.each(
	[
		'push notification',
		'browser notification',
		'browser push',
		'send notification',
		'notify',
		'marketing',
		'web push',
		'send push',
		'mobile push',
		'click rate',
		'webpushr',
	].map((words) => ({ words })),
)('the node is found by "$words"', ({ words }) => {
	expect(codex.alias.filter((name) => holds(name, words))).not.toEqual([]);
});

test('the hints for n8n’s workflow builder hold no expression, and name no node twice', () => {
	const { searchHint = '', relatedNodes = [] } = node.builderHint ?? {};
	const names = relatedNodes.map(({ nodeType }) => nodeType);
	expect(new Set(names).size).toBe(names.length);
	expect(names).toContain('n8n-nodes-push-campaign.pushCampaignTrigger');
	expect(searchHint).toMatch(/Dry Run.*approval/);
	for (const text of [searchHint, ...relatedNodes.map(({ relationHint }) => relationHint)]) {
		expect(text).not.toMatch(/\{\{|^=|\$json/);
	}
});
