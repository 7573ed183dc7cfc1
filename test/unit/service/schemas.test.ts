import * as fc from 'fast-check';
import type { z } from 'zod/v3';
import type { Audience } from '../../../nodes/PushCampaign/service/rules';
import {
	attributes,
	attributeValue,
	bodies,
	campaignId,
	expiry,
	firstIssue,
	idList,
	buttonLimits,
	segments,
	subscriberId,
} from '../../../nodes/PushCampaign/service/schemas';
import { anyWebUrl } from '../../support/text';
import { withAnyValue } from './support';

const common = { title: 'Sale', message: 'Today only', target_url: 'https://shop.example/sale' };
const selections: Record<Audience, object> = {
	all: {},
	attributes: { attribute: { plan: 'pro' } },
	segments: { segment: ['12', 34] },
	subscriber: { sid: '5001' },
};
const everyOptional = {
	name: 'Autumn',
	icon: 'https://shop.example/icon.png',
	image: 'https://shop.example/banner.jpg',
	expire_push: '7d',
	auto_hide: 1,
	send_at: '2030-05-17 09:30 +02:00',
	action_buttons: [{ title: 'Shop', url: 'https://shop.example' }],
};

const check = (audience: Audience, change: object) =>
	bodies[audience].safeParse({ ...common, ...selections[audience], ...change });
const issuesOf = (audience: Audience, change: object) =>
	check(audience, change).error?.issues.map(
		({ path, message }) => `${path.join('.')} ${message}`,
	) ?? [];
/** What a value is refused with. */
const messageOf = (schema: z.ZodTypeAny, value: unknown) => {
	const { error } = schema.safeParse(value);
	return error && firstIssue(error).message;
};
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'x');
const tooLong = (length: number, limit: number) =>
	`is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;

// Specification, Endpoints and Limits.
describe.each([
	{ audience: 'all', more: ['name', 'image'], areButtonsLimited: true },
	{ audience: 'attributes', more: ['name'], areButtonsLimited: false },
	{ audience: 'segments', more: ['name', 'image'], areButtonsLimited: false },
	{ audience: 'subscriber', more: [], areButtonsLimited: false },
] as const)('a body for $audience', ({ audience, more, areButtonsLimited }) => {
	test('holds the optional fields that the service accepts, and no others', () => {
		const shared = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons'];
		const accepted = new Set<string>([...shared, ...more]);
		for (const [name, value] of Object.entries(everyOptional)) {
			const isAccepted = accepted.has(name);
			expect(name in bodies[audience].shape).toBe(isAccepted);
			// What is left over from another operation is not sent.
			const { data } = check(audience, { [name]: value });
			expect(data).toEqual({
				...common,
				...selections[audience],
				...(isAccepted ? { [name]: value } : {}),
			});
		}
		expect(buttonLimits(audience).title).toBe(areButtonsLimited ? 100 : Infinity);
	});

	test('needs every required field', () => {
		for (const name of Object.keys({ ...common, ...selections[audience] })) {
			expect(check(audience, { [name]: undefined }).error?.issues).toMatchObject([
				{ path: [name] },
			]);
		}
	});

	// Specification, Limits.
	test('limits its texts, counted in characters, an emoji being one', () => {
		const limits = {
			title: 100,
			message: 255,
			...('name' in bodies[audience].shape && { name: 100 }),
		};
		for (const [field, limit] of Object.entries(limits)) {
			for (const character of ['x', '語', '👍']) {
				expect(issuesOf(audience, { [field]: character.repeat(limit) })).toEqual([]);
				expect(issuesOf(audience, { [field]: character.repeat(limit + 1) })).toEqual([
					`${field} ${tooLong(limit + 1, limit)}`,
				]);
			}
		}
		expect(issuesOf(audience, { target_url: urlOf(255) })).toEqual([]);
		expect(issuesOf(audience, { target_url: urlOf(258) })).toEqual([
			`target_url ${tooLong(258, 255)}`,
		]);
	});

	test('limits its action buttons only on send/all', () => {
		const button = (title: string, url: string) => ({ action_buttons: [{ title, url }] });
		expect(issuesOf(audience, button('x'.repeat(100), urlOf(100)))).toEqual([]);
		const long = [
			`action_buttons.0.title ${tooLong(101, 100)}`,
			`action_buttons.0.url ${tooLong(102, 100)}`,
		];
		expect(issuesOf(audience, button('x'.repeat(101), urlOf(102)))).toEqual(
			areButtonsLimited ? long : [],
		);
	});
});

describe('a text of a body', () => {
	const notWeb = (url: string) => `is not a valid http:// or https:// address: "${url}"`;
	const button = (part: object) => ({
		action_buttons: [{ title: 'Shop', url: 'https://a.example', ...part }],
	});

	test.each([
		{ name: 'a title is blank', given: { title: ' \n' }, issue: 'title is empty' },
		{ name: 'a title is a number', given: { title: 7 }, issue: 'title is not text: 7' },
		{ name: 'a title is missing', given: { title: undefined }, issue: 'title is missing' },
		{ name: 'a message is a tab', given: { message: '\t' }, issue: 'message is empty' },
		{
			name: 'an address is a word',
			given: { target_url: 'shop' },
			issue: `target_url ${notWeb('shop')}`,
		},
		{
			name: 'an icon is not https',
			given: { icon: 'http://a.example' },
			issue: 'icon is not a valid https:// address: "http://a.example"',
		},
		{
			name: 'a button has no title',
			given: button({ title: undefined }),
			issue: 'action_buttons.0.title is missing',
		},
		{
			name: 'the URL of a button is a word',
			given: button({ url: 'shop' }),
			issue: `action_buttons.0.url ${notWeb('shop')}`,
		},
	])('is refused if $name', ({ given, issue }) => {
		expect(issuesOf('all', given)).toEqual([issue]);
	});
});

describe('an address', () => {
	const isAccepted = (field: string, url: string) => check('all', { [field]: url }).success;
	const odd = [
		'https:/shop.example',
		'https:///path',
		'https://shop .example',
		'xhttps://a.example',
	];
	const notHttps = [...odd, 'http://shop.example/a.png', 'data:image/png;base64,AA'];

	test.each([
		{
			name: 'of a page may be http or https, with a query, umlauts and a user',
			field: 'target_url',
			isOne: true,
			urls: [
				'HTTPS://Shop.example/a?b=c#d',
				'https://例え.example/ü',
				'https://user:word@a.example/',
				'http://a.example',
			],
		},
		{
			name: 'of a page is refused if a browser could not open it',
			field: 'target_url',
			isOne: false,
			urls: [...odd, 'https://?a', 'https://#a', 'ftp://a.example', ' https://a.b'],
		},
		{ name: 'of an icon must be https', field: 'icon', isOne: false, urls: notHttps },
		{ name: 'of an image must be https', field: 'image', isOne: false, urls: notHttps },
	])('$name', ({ field, isOne, urls }) => {
		for (const url of urls) expect([url, isAccepted(field, url)]).toEqual([url, isOne]);
	});

	test.each(['target_url', 'icon', 'image'].map((field) => ({ field })))(
		'as $field is refused if it holds an invisible character',
		({ field }) => {
			for (const url of ['https://a.example/\u0000', 'https://a\u200b.example']) {
				expect(issuesOf('all', { [field]: url })[0]).toMatch(
					new RegExp(`^${field} holds an invisible character \\(U\\+(0000|200B)\\)$`),
				);
			}
		},
	);

	test('is sent with what joins characters encoded: words and emoji need it', () => {
		const url = 'https://shop.example/می\u200cخواهم?a=👩\u200d🌾';
		const fields = { target_url: url, icon: url, image: url };
		const { data } = check('all', fields);
		const sent = 'https://shop.example/می%E2%80%8Cخواهم?a=👩%E2%80%8D🌾';
		expect(data).toMatchObject({ target_url: sent, icon: sent, image: sent });
		const long = `https://a.example/${'\u200c'.repeat(27)}`;
		expect(issuesOf('all', { target_url: long })).toEqual([`target_url ${tooLong(261, 255)}`]);
	});

	test('that URL has made is accepted', () => {
		fc.assert(fc.property(anyWebUrl(), (url) => url.length > 255 || isAccepted('target_url', url)));
	});
});

const lost = 'is too large for a number, its last digits are lost already';

describe('a list of IDs', () => {
	test('holds texts and whole numbers', () => {
		for (const ids of [[], ['12', 34, 0, ' padded ', 'a-1_b']]) {
			expect(idList.parse(ids)).toEqual(ids);
		}
	});

	test.each([
		{
			name: 'other types',
			message: 'holds an ID that is neither text nor a whole number',
			ids: [{}, -1, 1.5, null, ['12'], Number.NaN],
		},
		{ name: 'a number that has lost digits', message: lost, ids: [2 ** 53] },
		{
			name: 'a blank inside an ID',
			message: 'holds "2 3", which is not one ID',
			ids: ['2 3', ' 2 \n3 '],
		},
		{ name: 'an empty ID', message: 'holds "", which is not one ID', ids: ['', ' '] },
		...['(', ']', '"', '«'].map((mark) => ({
			name: `the character ${mark}`,
			message: `holds "1${mark}2", which is not one ID`,
			ids: [`1${mark}2`],
		})),
	])('refuses $name', ({ message, ids }) => {
		for (const id of ids) expect(messageOf(idList, ['1', id])).toMatch(withAnyValue(message));
	});

	test('is an array', () => {
		expect(messageOf(idList, '12')).toBe('is neither text, nor a number, nor an array: "12"');
	});
});

const fullAddress = 'Enter the full address, such as https://www.example.com/page.';
const shorten = 'Shorten it, or turn on Shorten Long Texts in the options.';

describe('a refused value comes with advice:', () => {
	test.each<{ name: string; schema: z.ZodTypeAny; value: unknown; advice: string | undefined }>([
		{
			name: 'the full address for a word',
			schema: bodies.all,
			value: { ...common, target_url: 'shop' },
			advice: fullAddress,
		},
		{
			name: 'shortening for a long title',
			schema: bodies.all,
			value: { ...common, title: 'x'.repeat(256) },
			advice: shorten,
		},
		{
			name: 'a shorter address for a long one',
			schema: bodies.all,
			value: { ...common, target_url: urlOf(256) },
			advice: 'Enter a shorter address.',
		},
		{
			name: 'separators for two IDs in one',
			schema: idList,
			value: ['12 34'],
			advice:
				'Separate IDs by commas, semicolons or line breaks, or use an expression that returns an array.',
		},
		{
			name: 'an ID for an empty list of segments',
			schema: segments,
			value: [],
			advice: "Enter at least one segment ID from your push service's dashboard.",
		},
		{
			name: 'digits for a subscriber',
			schema: subscriberId,
			value: 'x',
			advice: 'Enter the ID of one subscriber: digits only, such as 5001.',
		},
		{
			name: 'one item for each campaign',
			schema: campaignId,
			value: '1,2',
			advice: 'Use one item for each campaign.',
		},
	])('$name', ({ schema, value, advice }) => {
		const { error } = schema.safeParse(value);
		expect(error && firstIssue(error).advice).toBe(advice);
	});
});

test.each([
	{ of: 'a subscriber ID', schema: subscriberId, value: -5, message: 'is not a number: -5' },
	{ of: 'a subscriber ID', schema: subscriberId, value: true, message: 'is not a number: true' },
	{ of: 'a campaign ID', schema: campaignId, value: '..', message: 'is not a campaign ID: ".."' },
	{
		of: 'segments',
		schema: segments,
		value: [{ id: 1 }],
		message: 'holds an ID that is neither text nor a whole number: {"id":1}',
	},
	{
		of: 'an attribute',
		schema: attributeValue,
		value: 2 ** 53,
		message: `${lost}: 9007199254740992`,
	},
	{
		of: 'attributes',
		schema: attributes,
		value: { a: [1] },
		message: 'is not a text, a number or a boolean: [1]',
	},
	{
		of: 'an expiry',
		schema: expiry,
		value: { amount: 1, unit: 'weeks' },
		message: 'is not minutes, hours or days: "weeks"',
	},
])('the refused value $value of $of is quoted', ({ schema, value, message }) => {
	const { error } = schema.safeParse(value);
	expect(error && firstIssue(error).message).toBe(message);
});

describe('a subscriber ID', () => {
	test.each([
		{ name: 'may be text', value: '5001', id: '5001' },
		{ name: 'is trimmed', value: ' 5001 ', id: '5001' },
		{ name: 'keeps leading zeros', value: '007', id: '007' },
		{ name: 'may be a number', value: 0, id: '0' },
	])('$name', ({ value, id }) => {
		expect(subscriberId.parse(value)).toBe(id);
	});

	test.each([
		{ message: 'is not a number', values: [null, true, {}, ['5'], -5, 1.5] },
		{ message: 'is not a number: ""', values: ['', ' '] },
		{ message: 'is not a number: "5a"', values: ['5a', ' 5a '] },
		{ message: 'is not a number: "a5"', values: ['a5'] },
		{ message: 'is not a number: "-5"', values: ['-5'] },
		{ message: 'is not a number: "٥"', values: ['٥'] },
	])('is refused with: $message', ({ message, values }) => {
		for (const value of values)
			expect(messageOf(subscriberId, value)).toMatch(withAnyValue(message));
	});

	test('loses no digit, or is refused', () => {
		fc.assert(
			fc.property(fc.bigInt({ min: 0n }), (id) => {
				expect(subscriberId.parse(String(id))).toBe(String(id));
				const isExact = id <= BigInt(Number.MAX_SAFE_INTEGER);
				expect(messageOf(subscriberId, Number(id))).toBe(
					isExact ? undefined : `${lost}: ${Number(id)}`,
				);
			}),
		);
	});
});

describe('a campaign ID', () => {
	test.each([
		{ name: 'may be text', value: '1001', id: '1001' },
		{ name: 'may be a number', value: 1001, id: '1001' },
		{ name: 'may be zero', value: 0, id: '0' },
		{ name: 'is trimmed', value: ' abc-1 ', id: 'abc-1' },
		{ name: 'may be three dots', value: '...', id: '...' },
		{ name: 'may have a blank in it', value: 'x1 2', id: 'x1 2' },
		{ name: 'may have characters of a path', value: 'a/b?c', id: 'a/b?c' },
		{ name: 'may be an emoji', value: '📣', id: '📣' },
	])('$name', ({ value, id }) => {
		expect(campaignId.parse(value)).toBe(id);
	});

	test.each([
		{ message: 'is not a campaign ID', values: ['', ' ', '.', '..', '\ud83d'] },
		{ message: 'is neither text nor a whole number', values: [null, true, ['1'], -1, 1.5] },
		{
			message: 'holds more than one ID: "1001, 1002"',
			values: ['1001, 1002', ' 1001,\n1002 '],
		},
		{ message: 'holds more than one ID: "1001;1002"', values: ['1001;1002'] },
		{ message: 'holds more than one ID: "1001 1002"', values: ['1001 1002', '1001  1002'] },
		{ message: lost, values: [2 ** 53] },
	])('is refused with: $message', ({ message, values }) => {
		for (const value of values) expect(messageOf(campaignId, value)).toMatch(withAnyValue(message));
	});
});

// Specification, Notification / campaign, expire_push.
describe('an expiry', () => {
	test.each([
		{ given: { amount: 1, unit: 'm' }, text: '1m' },
		{ given: { amount: '90', unit: 'h' }, text: '90h' },
		{ given: { amount: Number.MAX_SAFE_INTEGER, unit: 'd' }, text: '9007199254740991d' },
	])('is written as $text', ({ given, text }) => {
		expect(expiry.parse(given)).toBe(text);
	});

	test.each([
		{ message: 'is not a whole number from 1: 0', values: [{ amount: 0, unit: 'd' }] },
		{ message: 'is empty', values: [{ amount: null, unit: 'd' }, { unit: 'd' }] },
		{
			message: 'is not minutes, hours or days',
			values: ['w', 'D', '', 7, null, undefined].map((unit) => ({ amount: 1, unit })),
		},
		{ message: 'is not an amount and a unit', values: [7, 'd'] },
	])('is refused because it $message', ({ message, values }) => {
		for (const value of values) expect(messageOf(expiry, value)).toMatch(withAnyValue(message));
	});
});
