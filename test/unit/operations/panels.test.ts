import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INodeProperties } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import {
	builderHint,
	operationProperties,
	queries,
	sends,
} from '../../../nodes/PushCampaign/operations';
import { toRow } from '../../../nodes/PushCampaign/operations/send';
import { audienceRules } from '../../../nodes/PushCampaign/service/rules';
import { itemOf, prepare, recordingClient } from './support';

const operations = [...sends, ...queries];

/** The properties in a collection, or in the groups of a fixedCollection. */
const inside = ({ options = [] }: INodeProperties): INodeProperties[] =>
	options.flatMap((option) => {
		if ('values' in option) return option.values;
		return 'displayName' in option ? [option] : [];
	});

/** A property with everything in it. */
const withAll = (property: INodeProperties): INodeProperties[] => [
	property,
	...inside(property).flatMap(withAll),
];

const namesOf = (properties: readonly INodeProperties[]) => properties.map(({ name }) => name);

const collectionOf = (properties: readonly INodeProperties[], name: string) =>
	properties.filter((property) => property.name === name).flatMap(inside);

describe('the panel of a send', () => {
	const fillers = {
		auto_hide: 'autoHide',
		name: 'name',
		expire_push: 'expireAfter',
		icon: 'iconUrl',
		image: 'imageUrl',
		send_at: 'sendAt',
	} as const;

	test.each(sends)(
		'offers just what the service accepts: $option.name',
		({ audience, properties }) => {
			const offered = namesOf(collectionOf(properties, 'additionalFields'));
			for (const [field, name] of Object.entries(fillers)) {
				const isAccepted = audienceRules[audience].accepts.some((accepted) => accepted === field);
				expect([name, offered.includes(name)]).toEqual([name, isAccepted]);
			}
			expect(offered).toEqual(
				expect.arrayContaining(['quietHours', 'sendAtTimezone', 'utmParameters']),
			);
		},
	);

	test.each(sends)('has the options of all sends: $option.name', ({ properties }) => {
		expect(namesOf(collectionOf(properties, 'options'))).toEqual([
			...['htmlToText', 'dryRun', 'idempotencyKey', 'shortenTexts', 'testSubscriberId', 'timeout'],
			'unknownOutcome',
		]);
	});

	test('warns of an agent that sends to many, and nobody else', () => {
		const warned = sends.filter(({ properties }) => namesOf(properties).includes('toolNotice'));
		expect(warned.map(({ audience }) => audience)).toEqual(['all', 'attributes', 'segments']);
		const notices = warned.flatMap(({ properties }) =>
			properties.filter(({ name }) => name === 'toolNotice'),
		);
		for (const { displayOptions } of notices) {
			expect(displayOptions).toEqual({ show: { '@tool': [true] } });
		}
	});

	test('has its fields in this order', () => {
		const fields = [
			'title',
			'message',
			'targetUrl',
			'actionButtons',
			'additionalFields',
			'options',
		];
		expect(sends.map(({ properties }) => namesOf(properties))).toEqual([
			['toolNotice', ...fields],
			[
				'toolNotice',
				'specifyAttributes',
				'attributes',
				'attributesJson',
				'attributesNotice',
				...fields,
			],
			['toolNotice', 'segmentIds', ...fields],
			['subscriberId', ...fields],
		]);
	});

	test('takes several buttons and attributes, whole numbers from 1, and a timezone from n8n’s list', () => {
		const all = sends.flatMap(({ properties }) => properties.flatMap(withAll));
		const optionsOf = (wanted: string) => all.find(({ name }) => name === wanted)?.typeOptions;
		expect(optionsOf('actionButtons')).toEqual({ multipleValues: true, sortable: true });
		expect(optionsOf('attributes')).toEqual({ multipleValues: true });
		expect(optionsOf('amount')).toEqual({ minValue: 1, numberPrecision: 0 });
		expect(optionsOf('timeout')).toMatchObject({ minValue: 1 });
		expect(all.find(({ name }) => name === 'sendAtTimezone')).toMatchObject({
			type: 'options',
			typeOptions: { loadOptionsMethod: 'getTimezones' },
			allowArbitraryValues: true,
		});
	});

	test('marks what a send can’t do without', () => {
		const required = sends
			.flatMap(({ properties }) => properties.flatMap(withAll))
			.filter(({ required: isRequired }) => isRequired);
		expect([...new Set(namesOf(required))].sort()).toEqual([
			...['attributes', 'attributesJson', 'message', 'name', 'segmentIds', 'subscriberId'],
			...['targetUrl', 'title', 'url', 'value'],
		]);
	});
});

test.each(queries)('the panel of a read has one option: $option.name', ({ properties }) => {
	expect(namesOf(collectionOf(properties, 'options'))).toEqual(['timeout']);
});

/** The defaults of fields, by their paths. */
const defaultsOf = (properties: readonly INodeProperties[], path = ''): Array<[string, unknown]> =>
	properties.flatMap((property) => {
		const own = `${path}${property.name}`;
		const groups = (property.options ?? []).flatMap((option) => {
			if ('values' in option) return defaultsOf(option.values, `${own}.${option.name}.`);
			return 'displayName' in option ? defaultsOf([option], `${own}.`) : [];
		});
		return [[own, property.default], ...groups];
	});

test('saved workflows find each field by its name, with the default that n8n left out of them', () => {
	const fields = operations.flatMap(({ properties }) =>
		properties.filter(({ type }) => type !== 'notice'),
	);
	const empty = [
		...['title', 'message', 'targetUrl', 'attributesJson', 'segmentIds', 'subscriberId'],
		...['attributes.pairs.name', 'attributes.pairs.value'],
		...['actionButtons.button.title', 'actionButtons.button.url'],
		...['name', 'iconUrl', 'imageUrl', 'sendAt', 'sendAtTimezone', 'expireAt'].map(
			(field) => `additionalFields.${field}`,
		),
		...['source', 'medium', 'campaign', 'term', 'content'].map(
			(part) => `additionalFields.utmParameters.parameters.${part}`,
		),
		...['options.idempotencyKey', 'options.testSubscriberId'],
	];
	const noUtm = { source: '', medium: '', campaign: '', term: '', content: '' };
	expect(Object.fromEntries(defaultsOf(fields))).toEqual({
		...Object.fromEntries(empty.map((field) => [field, ''])),
		actionButtons: {},
		additionalFields: {},
		// A switch is on when it is added. n8n's editor drops a group that is added empty.
		'additionalFields.autoHide': true,
		'additionalFields.expireAfter': { duration: { amount: 28, unit: 'd' } },
		'additionalFields.expireAfter.duration.amount': 28,
		'additionalFields.expireAfter.duration.unit': 'd',
		'additionalFields.quietHours': { hours: { from: '21:00', to: '08:00' } },
		'additionalFields.quietHours.hours.from': '21:00',
		'additionalFields.quietHours.hours.to': '08:00',
		'additionalFields.utmParameters': { parameters: noUtm },
		attributes: { pairs: [{ name: '', value: '' }] },
		campaignId: '={{ $json.campaignId }}',
		options: {},
		'options.dryRun': true,
		'options.htmlToText': true,
		'options.shortenTexts': true,
		'options.timeout': 30_000,
		'options.unknownOutcome': 'report',
		simplify: true,
		specifyAttributes: 'keypair',
	});
});

test('saved workflows find each value that they chose from a list', () => {
	const lists = operations
		.flatMap(({ properties }) => properties.flatMap(withAll))
		.filter(({ type, options = [] }) => type === 'options' && options.length > 0);
	const valuesOf = ({ options = [] }: INodeProperties) =>
		options.map((option) => ('value' in option ? option.value : option.name));
	expect(Object.fromEntries(lists.map((list) => [list.name, valuesOf(list)]))).toEqual({
		specifyAttributes: ['keypair', 'json'],
		unit: ['d', 'h', 'm'],
		unknownOutcome: ['countAsSent', 'report', 'resend'],
	});
});

describe('every panel', () => {
	const all = operations.flatMap(({ properties }) => properties.flatMap(withAll));

	test('hides nothing', () => {
		expect(all.filter(({ type }) => type === 'hidden')).toEqual([]);
	});

	test('is shown for its operation alone', () => {
		const shown = operationProperties.map(({ displayOptions }) => displayOptions?.show ?? {});
		expect(shown.every((show) => show['operation']?.length === 1)).toBe(true);
		for (const way of ['keypair', 'json']) {
			expect(shown).toContainEqual({
				resource: ['campaign'],
				operation: ['sendToAttributes'],
				specifyAttributes: [way],
			});
		}
	});

	test('describes each field in one short sentence', () => {
		for (const { description = '', name } of all) {
			expect([name, description]).toEqual([name, expect.stringMatching(/^[^.]{0,84}$/)]);
		}
	});

	test("has placeholders and words as n8n's own panels have them", () => {
		for (const { displayName, description = '', placeholder = '', type, default: initial } of all) {
			expect(`${displayName} ${description}`).not.toMatch(/\b(error|problem|failure|mistake)s?\b/i);
			if (placeholder !== '') expect(placeholder).toMatch(/^(e\.g\. |Add )\S/);
			const isEmptyText = (type === 'string' || type === 'json') && initial === '';
			const isAttribute = ['Name', 'Value'].includes(displayName);
			if (isEmptyText && !isAttribute) expect([displayName, placeholder]).not.toContain('');
		}
	});

	test('lists its fields in their order', () => {
		for (const { properties } of operations) {
			for (const collection of properties.filter(({ type }) => type === 'collection')) {
				const shown = inside(collection).map(({ displayName }) => displayName);
				expect(shown).toEqual([...shown].sort());
			}
		}
	});
});

test("what n8n's workflow builder reads is two sentences", () => {
	expect(builderHint.searchHint?.match(/\.(?= [A-Z]|$)/g)).toHaveLength(2);
});

describe('an output schema', () => {
	const folder = join(__dirname, '../../../nodes/PushCampaign/__schema__/v1.0.0');

	test('is there for each operation', () => {
		const files = ['campaign', 'site'].flatMap((resource) =>
			readdirSync(join(folder, resource)).map((file) => `${resource}/${file}`),
		);
		const expected = operations.map(({ resource, option }) => `${resource}/${option.value}.json`);
		expect(files.sort()).toEqual(expected.sort());
	});

	type Types = Record<string, { readonly type: string | string[]; readonly enum?: string[] }>;
	const schemaOf = (path: string) =>
		jsonParse<{ properties: Types }>(readFileSync(join(folder, path), 'utf8')).properties;
	const typeOf = (value: unknown) => (value === null ? 'null' : typeof value);

	/** The fields of items in their order, each with the types that its values have. */
	function typesIn(items: readonly object[]): Array<[name: string, types: string[]]> {
		const types = new Map<string, Set<string>>();
		for (const [name, value] of items.flatMap((item) => Object.entries(item))) {
			types.set(name, (types.get(name) ?? new Set()).add(typeOf(value)));
		}
		return [...types].map(([name, found]) => [name, [...found].sort()]);
	}
	const declaredIn = (properties: Types) =>
		Object.entries(properties).map(([name, { type }]) => [name, [type].flat().sort()]);

	test.each(sends)('has the fields of an item, in their order: $option.name', (send) => {
		const parameters = {
			attributes: { pairs: [{ name: 'plan', value: 'pro' }] },
			segmentIds: 12,
			subscriberId: 5001,
			additionalFields: { name: 'x', sendAt: '2030-05-17 09:30' },
			options: { idempotencyKey: 'a' },
		};
		const { isCampaign } = audienceRules[send.audience];
		const row = toRow(prepare(parameters, {}, send), {
			...(isCampaign && { campaignId: '1001' }),
			status: 'success',
			description: 'Created',
		});
		const properties = schemaOf(`campaign/${send.option.value}.json`);
		expect(declaredIn(properties)).toEqual(typesIn([row]));
		expect(properties['audience']?.enum).toEqual([row['audience']]);
	});

	const counts = {
		total_attempts: '10',
		successfully_sent: '8',
		failed_to_send: '2',
		delivered: '4',
		clicked: '1',
		closed: '3',
	};
	const unknown = Object.fromEntries(Object.keys(counts).map((name) => [name, '']));
	const status = { notification_status: 'Sent', notification_id: '1001' };
	const answersTo: Record<string, object[]> = {
		getStatus: [
			{ ...status, count: counts },
			{ notification_id: '1001', count: unknown },
		],
		getSubscriberCount: [
			{ total_life_time_subscribers: '120', active_subscribers: '' },
			{ total_life_time_subscribers: '', active_subscribers: '90' },
		],
	};

	test.each(queries)('has the fields of an item, in their order: $option.name', async (read) => {
		const items: object[] = [];
		for (const answer of answersTo[read.option.value] ?? []) {
			const { client } = recordingClient(answer);
			const result = await read.prepare(itemOf({ campaignId: '1001' })).perform(client);
			if (result.answered) items.push(result.value);
		}
		const properties = schemaOf(`${read.resource}/${read.option.value}.json`);
		expect(declaredIn(properties)).toEqual(typesIn(items));
	});
});
