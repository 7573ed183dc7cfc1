import type { INodeProperties } from 'n8n-workflow';

import { queries, sends } from '../../../nodes/PushCampaign/operations';
import { PushCampaign } from '../../../nodes/PushCampaign/PushCampaign.node';
import { audienceRules } from '../../../nodes/PushCampaign/service/rules';

const { builderHint, properties: allProperties } = new PushCampaign().description;
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

	test('warns of an agent that sends to many, and nobody else', () => {
		const notices = sends.flatMap(({ properties }) =>
			properties.filter(({ name }) => name === 'toolNotice'),
		);
		const forTools = { show: { '@tool': [true] } };
		expect(notices.map((each) => each.displayOptions)).toEqual([forTools, forTools, forTools]);
	});

	test('has its fields in this order', () => {
		const content = ['title', 'message', 'targetUrl', 'actionButtons'];
		const fields = [...content, 'additionalFields', 'options'];
		expect(sends.map(({ properties }) => namesOf(properties))).toEqual([
			['toolNotice', ...fields],
			['toolNotice', 'specifyAttributes', 'attributes', 'attributesJson', ...fields],
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

test.each(operations)('the options in the panel are those of $option.name', (operation) => {
	const ofSends = ['htmlToText', 'dryRun', 'idempotencyKey', 'shortenTexts', 'testSubscriberId'];
	expect(namesOf(collectionOf(operation.properties, 'options'))).toEqual(
		'audience' in operation ? [...ofSends, 'timeout'] : ['timeout'],
	);
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
		simplify: true,
		specifyAttributes: 'keypair',
	});
});

describe('every panel', () => {
	const all = operations.flatMap(({ properties }) => properties.flatMap(withAll));

	test('hides nothing', () => {
		expect(all.filter(({ type }) => type === 'hidden')).toEqual([]);
	});

	test('is shown for its operation alone', () => {
		const shown = allProperties
			.filter(({ name }) => name !== 'resource' && name !== 'operation')
			.map(({ displayOptions }) => displayOptions?.show ?? {});
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
	expect(builderHint?.searchHint?.match(/\.(?= [A-Z]|$)/g)).toHaveLength(2);
});
