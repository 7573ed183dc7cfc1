import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INodeProperties } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';

import {
	builderHint,
	operationProperties,
	reads,
	sends,
} from '../../../nodes/PushCampaign/operations';
import { toRow } from '../../../nodes/PushCampaign/operations/send';
import { audienceRules } from '../../../nodes/PushCampaign/service/rules';
import { prepare } from './support';

const operations = [...sends, ...reads];

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

	test('warns of an agent that sends to many', () => {
		const warned = sends.filter(({ properties }) => namesOf(properties).includes('toolNotice'));
		expect(warned.map(({ audience }) => audience)).toEqual(['all', 'attributes', 'segments']);
	});
});

test.each(reads)('the panel of a read has one option: $option.name', ({ properties }) => {
	expect(namesOf(collectionOf(properties, 'options'))).toEqual(['timeout']);
});

describe('every panel', () => {
	const all = operations.flatMap(({ properties }) => properties.flatMap(withAll));

	test('hides nothing', () => {
		expect(all.filter(({ type }) => type === 'hidden')).toEqual([]);
	});

	test('is shown for its operation alone', () => {
		const shown = operationProperties.map(({ displayOptions }) => displayOptions?.show ?? {});
		expect(shown.every((show) => show['operation']?.length === 1)).toBe(true);
		expect(shown).toContainEqual({
			resource: ['campaign'],
			operation: ['sendToAttributes'],
			specifyAttributes: ['json'],
		});
	});

	test('describes each field in one short sentence', () => {
		for (const { description = '', name } of all) {
			expect([name, description]).toEqual([name, expect.stringMatching(/^[^.]{0,84}$/)]);
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

	test('turns a switch on when it is added', () => {
		const inCollections = operations.flatMap(({ properties }) =>
			properties.filter(({ type }) => type === 'collection').flatMap(inside),
		);
		const switches = inCollections.filter(({ type }) => type === 'boolean');
		expect(switches.map((property) => property.default)).not.toContain(false);
	});

	test("has groups in collections that n8n's editor does not drop", () => {
		const collections = operations.flatMap(({ properties }) =>
			properties.filter(({ type }) => type === 'collection').flatMap(inside),
		);
		const groups = collections.filter(({ type }) => type === 'fixedCollection');
		expect(groups.map((group) => group.default)).not.toContainEqual({});
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
		const file = join(folder, 'campaign', `${send.option.value}.json`);
		const { properties } = jsonParse<{ properties: object }>(readFileSync(file, 'utf8'));
		expect(Object.keys(properties)).toEqual(Object.keys(row));
	});
});
