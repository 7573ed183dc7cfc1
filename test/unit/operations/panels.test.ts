import { runInNewContext } from 'node:vm';
import { IANAZone } from 'luxon';
import type { INodeProperties } from 'n8n-workflow';
import { PushCampaignApi } from '../../../credentials/PushCampaignApi.credentials';
import { operations } from '../../../nodes/PushCampaign/operations';
import type { Parameter } from '../../../nodes/PushCampaign/operations/parameters';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import codex from '../../../nodes/PushCampaign/PushCampaign.node.json';
import { PushCampaignTrigger } from '../../../nodes/PushCampaign/PushCampaignTrigger.node';
import { content, itemOf } from './support';

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

const panel = (resource: string, operation: string, specifyAttributes = 'keypair') =>
	node.properties.filter((property) =>
		isShown(property, { resource, operation, specifyAttributes }),
	);
const names = (properties: INodeProperties[]) => properties.map(({ name }) => name);
const namesIn = (properties: INodeProperties[], name: string) =>
	properties.filter((property) => property.name === name).flatMap((each) => names(inner(each)));

const head = ['resource', 'operation'];
const sharedFields = [
	'title',
	'message',
	'targetUrl',
	'actionButtons',
	'additionalFields',
	'options',
];
const common = ['autoHide', 'expireAfter', 'iconUrl', 'sendAt', 'sendAtTimezone', 'utmParameters'];
const sendOptions = [
	'dryRun',
	'idempotencyKey',
	'maxParallel',
	'rateLimitRetries',
	'resendUnknown',
	'shortenTexts',
	'timeout',
];
const readOptions = ['maxParallel', 'rateLimitRetries', 'timeout'];

const sendPanels: Array<[string, string, string[], string[]]> = [
	['sendToAll', 'keypair', [], ['name', 'imageUrl']],
	[
		'sendToAttributes',
		'keypair',
		['specifyAttributes', 'attributes', 'attributesNotice'],
		['name'],
	],
	[
		'sendToAttributes',
		'json',
		['specifyAttributes', 'attributesJson', 'attributesNotice'],
		['name'],
	],
	['sendToSegments', 'keypair', ['segmentIds'], ['name', 'imageUrl']],
	['sendToSubscriber', 'keypair', ['subscriberId'], []],
];

test.each(sendPanels)(
	'%s (%s) shows its fields and no other',
	(operation, specify, audience, additional) => {
		const shown = panel('campaign', operation, specify);
		expect(names(shown)).toEqual([...head, ...audience, ...sharedFields]);
		expect(namesIn(shown, 'additionalFields').sort()).toEqual([...common, ...additional].sort());
		expect(namesIn(shown, 'options')).toEqual(sendOptions);
	},
);

const readPanels: Array<[string, string, string[]]> = [
	['campaign', 'getStatus', ['campaignId', 'simplify', 'options']],
	['site', 'getSubscriberCount', ['simplify', 'options']],
];

test.each(readPanels)('%s %s shows its fields and no other', (resource, operation, fields) => {
	const shown = panel(resource, operation);
	expect(names(shown)).toEqual([...head, ...fields]);
	expect(namesIn(shown, 'options')).toEqual(readOptions);
});

test('every operation has its panel here', () => {
	const panels = [
		...sendPanels.map(([operation]) => operation),
		...readPanels.map(([, operation]) => operation),
	];
	expect([...new Set(panels)]).toEqual(operations.map(({ option }) => option.value));
});

test('the node offers its operations in their order', () => {
	const values = node.properties
		.filter(({ name }) => name === 'operation')
		.map(({ default: first, options = [] }) => [
			first,
			...options.flatMap((option) => ('value' in option ? [option.value] : [])),
		]);
	const sends = ['sendToAll', 'sendToAttributes', 'sendToSegments', 'sendToSubscriber'];
	expect(values).toEqual([
		['sendToAll', ...sends, 'getStatus'],
		['getSubscriberCount', 'getSubscriberCount'],
	]);
	expect(node).toMatchObject({ name: 'pushCampaign', version: 1, usableAsTool: true });
	expect(node.properties[0]?.default).toBe('campaign');
});

test('the trigger has three parameters', () => {
	expect(names(trigger.properties)).toEqual(['campaignIds', 'counters', 'options']);
	expect(namesIn(trigger.properties, 'options')).toEqual(['minimumChange', 'reaches']);
	expect(trigger).toMatchObject({ name: 'pushCampaignTrigger', version: 1, polling: true });
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
		const isPlain = [
			'resource',
			'operation',
			'options',
			'additionalFields',
			'name',
			'value',
			'unit',
		];
		if (!isPlain.includes(name)) expect(description).not.toBe('');
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

test('a tool that reaches many subscribers says so, and no other', () => {
	const notices = (operation: string) =>
		node.properties.filter(
			({ name, displayOptions }) =>
				name === 'toolNotice' && displayOptions?.show?.['operation']?.includes(operation),
		);
	for (const { option, ...operation } of operations) {
		const isToMany = 'audience' in operation && operation.audience !== 'subscriber';
		expect(notices(option.value)).toHaveLength(isToMany ? 1 : 0);
		for (const { type, displayOptions } of notices(option.value)) {
			expect(type).toBe('notice');
			expect(displayOptions?.show).toEqual({
				'@tool': [true],
				resource: ['campaign'],
				operation: [option.value],
			});
		}
	}
});

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
			expect(hintsFor(value, content)).toEqual([]);
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

	test('point to the way out', () => {
		const words = (node.hints ?? []).map(({ message }) => message).join();
		for (const way of ['Execute Once', 'Shorten Long Texts', 'https://www.example.com']) {
			expect(words).toContain(way);
		}
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
		expect.arrayContaining(['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata']),
	);
	for (const name of listed) expect(IANAZone.isValidZone(name)).toBe(true);
});

test('an option that makes a send harmless is on when it is added, one that does not is off', () => {
	const added = (option: string) =>
		panel('campaign', 'sendToAll')
			.filter(({ name }) => name === 'options')
			.flatMap(inner)
			.find(({ name }) => name === option)?.default;
	expect([added('dryRun'), added('shortenTexts'), added('resendUnknown')]).toEqual([
		true,
		true,
		false,
	]);
});

test('nothing that may be left out is marked as required', () => {
	const required = [...all.values()]
		.filter((property) => property.required === true)
		.map(({ name }) => name);
	const ofSends = ['title', 'message', 'targetUrl', 'segmentIds', 'subscriberId'];
	const ofAttributes = ['attributes', 'name', 'value', 'attributesJson'];
	const ofCredential = ['baseUrl', 'apiKey', 'authToken', 'apiKeyHeader', 'authTokenHeader'];
	expect(new Set(required)).toEqual(
		new Set([...ofSends, ...ofAttributes, 'campaignId', 'campaignIds', ...ofCredential]),
	);
});

const collections = node.properties.filter(({ type }) => type === 'collection');
const fixedCollections = new Map(
	collections
		.flatMap(inner)
		.filter(({ type }) => type === 'fixedCollection')
		.map((property) => [property.name, property] as const),
);

test.each([...fixedCollections])(
	'%s, inside a collection, begins with its fields, not empty: the editor drops what is empty',
	(_name, { default: first, options = [] }) => {
		const [group] = options;
		if (group === undefined || !('values' in group)) throw new TypeError('It has no fields');
		const value: unknown = Object.getOwnPropertyDescriptor(first, group.name)?.value;
		const blank = group.values.map(({ name, default: given }) => [name, given]);
		expect(value).toEqual(Object.fromEntries(blank));
	},
);

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

describe.each(operations.map((operation) => [operation.option.value, operation] as const))(
	'%s',
	(_name, operation) => {
		test('names each parameter in its errors as the panel does', () => {
			const shownAs = new Map<string, string>();
			const asked = new Set<string>();
			for (const { name, displayName, type } of operation.properties) {
				if (type !== 'notice') shownAs.set(name, displayName);
			}
			for (const specifyAttributes of ['keypair', 'json']) {
				const parameters = itemOf({
					...content,
					specifyAttributes,
					attributes: { pairs: [{ name: 'plan', value: 'pro' }] },
					attributesJson: '{"plan": "pro"}',
					segmentIds: '12',
					subscriberId: '5001',
					campaignId: '1001',
				});
				const recording = {
					...parameters,
					get: (parameter: Parameter) => {
						asked.add(parameter.name);
						expect(parameter.displayName).toBe(shownAs.get(parameter.name));
						return parameters.get(parameter);
					},
				};
				operation.prepare(recording);
			}
			expect([...asked].sort()).toEqual([...shownAs.keys()].sort());
		});
	},
);
