import { runInNewContext } from 'node:vm';
import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';
import { operations } from '../../../nodes/PushCampaign/operations';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import codex from '../../../nodes/PushCampaign/PushCampaign.node.json';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import { content as given } from './support';

const node = new PushCampaign().description;
const trigger = new PushCampaignTrigger().description;

/** Whether a parameter shows for these values of the others. */
function isShown({ displayOptions }: INodeProperties, values: Record<string, string>): boolean {
	return Object.entries(displayOptions?.show ?? {}).every(
		([name, shown]) => shown?.some((value) => value === values[name]) ?? false,
	);
}

const isProperty = (option: object): option is INodeProperties => 'type' in option;
const inner = ({ options = [] }: INodeProperties): INodeProperties[] =>
	options.flatMap((option) => {
		if ('values' in option) return option.values;
		return isProperty(option) ? [option] : [];
	});

const names = (properties: INodeProperties[]) => properties.map(({ name }) => name);
const namesIn = (properties: INodeProperties[], name: string) =>
	properties.filter((property) => property.name === name).flatMap((each) => names(inner(each)));

const content = ['title', 'message', 'targetUrl', 'actionButtons', 'additionalFields'];
const common = [
	...['autoHide', 'expireAfter', 'iconUrl', 'quietHours'],
	...['sendAt', 'sendAtTimezone', 'utmParameters'],
];
const attributes = (field: string) => ['specifyAttributes', field, 'attributesNotice', ...content];

// Specification, Endpoints: what each operation takes.
test.each<[operation: string, mode: string, shown: string[], additional: string[]]>([
	['sendToAll', '', content, [...common, 'name', 'imageUrl']],
	['sendToAttributes', 'keypair', attributes('attributes'), [...common, 'name']],
	['sendToAttributes', 'json', attributes('attributesJson'), [...common, 'name']],
	['sendToSegments', '', ['segmentIds', ...content], [...common, 'name', 'imageUrl']],
	['sendToSubscriber', '', ['subscriberId', ...content], common],
	['getStatus', '', ['campaignId', 'simplify'], []],
	['getSubscriberCount', '', ['simplify'], []],
])('%s (%s) shows its fields and no other', (operation, specifyAttributes, fields, additional) => {
	const { resource = '' } = operations.find(({ option }) => option.value === operation) ?? {};
	const shown = node.properties.filter((property) =>
		isShown(property, { resource, operation, specifyAttributes }),
	);
	expect(names(shown)).toEqual(['resource', 'operation', ...fields, 'options']);
	expect(namesIn(shown, 'additionalFields').sort()).toEqual(additional.sort());
});

/** Every parameter with all that is inside it, once. */
function everyProperty(properties: readonly INodeProperties[]): INodeProperties[] {
	return properties.flatMap((property) => [property, ...everyProperty(inner(property))]);
}
const all = new Map(
	[node.properties, trigger.properties, new PushCampaignApi().properties]
		.flatMap(everyProperty)
		.map((property) => [JSON.stringify(property), property] as const),
);
const named = [...all.values()].map((property) => [property.displayName, property] as const);

test.each(named.filter(([, { type }]) => type !== 'notice'))(
	'%s has words that help',
	(_name, property) => {
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

// Saved workflows hold names, values and defaults, users know the words: `jest -u` takes a change over.
test.each([
	['the node', new PushCampaign()],
	['the trigger', new PushCampaignTrigger()],
	['the credential', new PushCampaignApi()],
])('%s is as it was', (_name, type) => {
	const { documentationUrl: _publishersOwn, ...seen } = { documentationUrl: '', ...type };
	expect(seen).toMatchSnapshot();
});

/** Evaluates an expression without n8n: what stands between the braces is JavaScript. */
function evaluate(expression: string | undefined, values: Record<string, unknown>): unknown {
	const script = /^=\{\{ (.*) \}\}$/s.exec(expression ?? '')?.[1] ?? '';
	return runInNewContext(script, values);
}

test.each(operations.map((operation) => [operation.option.name, operation] as const))(
	'the subtitle of %s is its name, with the dry run',
	(name, { option, kind }) => {
		const subtitle = (parameters: object) =>
			evaluate(node.subtitle, { $rawParameter: { operation: option.value, ...parameters } });
		expect(subtitle({})).toBe(name);
		expect(subtitle({ options: {} })).toBe(name);
		expect(subtitle({ options: { dryRun: false } })).toBe(name);
		expect(subtitle({ options: { dryRun: '={{ $json.test }}' } })).toBe(name);
		if (kind === 'send') {
			expect(subtitle({ options: { dryRun: true } })).toBe(`${name} (dry run)`);
		}
	},
);

describe('hints', () => {
	/** What the editor says beside the panel of an operation. */
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

	test.each(operations.map((operation) => [operation.option.value, operation] as const))(
		'point out what is amiss while someone fills in %s',
		(value, operation) => {
			const isSend = operation.kind === 'send';
			const isToMany = 'audience' in operation && operation.audience !== 'subscriber';
			const amiss = { title: 'x'.repeat(101), message: 'x'.repeat(256), targetUrl: 'a.example' };
			expect(hintsFor(value)).toEqual([]);
			expect(hintsFor(value, given)).toEqual([]);
			expect(hintsFor(value, {}, 2)).toEqual(isToMany ? ['Each input'] : []);
			const told = ['Title is', 'Message is', 'Target URL'];
			expect(hintsFor(value, amiss)).toEqual(isSend ? told : []);
		},
	);

	const long = 'x'.repeat(300);
	test.each<[parameters: object, told: string[]]>([
		[{ title: 'x'.repeat(100), message: 'x'.repeat(255) }, []],
		[{ title: '🌷'.repeat(100) }, []],
		[{ title: '🌷'.repeat(101) }, ['Title is']],
		// What an expression gives is not known.
		[
			{ title: `=${long}{{ $json.title }}`, message: `=${long}`, targetUrl: '={{ $json.url }}' },
			[],
		],
		[{ title: long, options: {} }, ['Title is']],
		[{ title: long, options: { shortenTexts: false } }, ['Title is']],
		[{ title: long, message: long, options: { shortenTexts: true } }, []],
		[{ title: long, options: { shortenTexts: '={{ $json.cut }}' } }, []],
		[{ targetUrl: ' ' }, []],
		[{ targetUrl: ' HTTP://a.example' }, []],
		[{ targetUrl: 'www.a.example' }, ['Target URL']],
		[{ targetUrl: 'https:/a.example' }, ['Target URL']],
		[{ targetUrl: 'x https://a.example' }, ['Target URL']],
	])('of %j are %j', (parameters, told) => {
		expect(hintsFor('sendToAll', parameters)).toEqual(told);
	});
});

test('timezones are chosen from all that there are', async () => {
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

test.each([
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
])('the node is found by "%s"', (words) => {
	expect(codex.alias.filter((name) => holds(name, words))).not.toEqual([]);
});
