import * as fc from 'fast-check';
import type { z } from 'zod/v3';
import type { Audience } from '../../../nodes/PushCampaign/service/rules';
import {
	bodies,
	campaignId,
	expiry,
	firstIssue,
	idList,
	limitsActionButtons,
	segments,
	subscriberId,
} from '../../../nodes/PushCampaign/service/schemas';
import { anyWebUrl } from '../../support/text';

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
const told = (schema: z.ZodTypeAny, value: unknown) => {
	const { error } = schema.safeParse(value);
	return error && firstIssue(error).message;
};
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'x');
const tooLong = (length: number, limit: number) =>
	`is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;

// Specification, Endpoints and Limits.
test.each([
	['all', ['name', 'image'], true],
	['attributes', ['name'], false],
	['segments', ['name', 'image'], false],
	['subscriber', [], false],
] as const)(
	'what %s may hold beside what it must',
	(audience, more: readonly string[], isLimited) => {
		const accepted = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons', ...more];
		for (const [name, value] of Object.entries(everyOptional)) {
			const isAccepted = accepted.includes(name);
			expect(name in bodies[audience].shape).toBe(isAccepted);
			// What is left over from another operation is not sent.
			const { data } = check(audience, { [name]: value });
			expect(data).toEqual({
				...common,
				...selections[audience],
				...(isAccepted ? { [name]: value } : {}),
			});
		}
		expect(limitsActionButtons(audience)).toBe(isLimited);
	},
);

describe.each(['all', 'attributes', 'segments', 'subscriber'] as const)(
	'a body for %s',
	(audience) => {
		test.each(Object.keys({ ...common, ...selections[audience] }))('needs %s', (name) => {
			expect(check(audience, { [name]: undefined }).error?.issues).toMatchObject([
				{ path: [name] },
			]);
		});

		// Specification, Limits.
		test('has limits, counted in characters, an emoji being one', () => {
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

		test('action buttons: limited on send/all alone', () => {
			const button = (title: string, url: string) => ({ action_buttons: [{ title, url }] });
			expect(issuesOf(audience, button('x'.repeat(100), urlOf(100)))).toEqual([]);
			const long = [
				`action_buttons.0.title ${tooLong(101, 100)}`,
				`action_buttons.0.url ${tooLong(102, 100)}`,
			];
			expect(issuesOf(audience, button('x'.repeat(101), urlOf(102)))).toEqual(
				audience === 'all' ? long : [],
			);
		});

		const notWeb = (url: string) => `is not a valid http:// or https:// address: "${url}"`;

		test.each([
			['title', '', 'is empty'],
			['title', ' \n', 'is empty'],
			['title', 7, 'is not text'],
			['title', undefined, 'is missing'],
			['message', '\t', 'is empty'],
			['target_url', '', 'is empty'],
			['target_url', 'shop', notWeb('shop')],
			['icon', 'http://a.example', 'is not a valid https:// address: "http://a.example"'],
			['icon', ' ', 'is empty'],
		])('%s %j: %s', (field, value, issue) => {
			expect(issuesOf(audience, { [field]: value })).toContain(`${field} ${issue}`);
		});

		test.each([
			[{ url: 'https://a.example' }, 'title is missing'],
			[{ title: ' ', url: 'https://a.example' }, 'title is empty'],
			[{ title: 7, url: 'https://a.example' }, 'title is not text'],
			[{ title: 'a' }, 'url is missing'],
			[{ title: 'a', url: 'shop' }, `url ${notWeb('shop')}`],
		])('the button %j: %s', (button, issue) => {
			expect(issuesOf(audience, { action_buttons: [button] })).toEqual([
				`action_buttons.0.${issue}`,
			]);
		});
	},
);

describe('addresses of pages', () => {
	const isAccepted = (field: string, url: string) => check('all', { [field]: url }).success;

	const web = [
		'HTTPS://Shop.example/a?b=c#d',
		'https://例え.example/ü',
		'https://user:word@a.example/',
	];
	const odd = [
		'https:/shop.example',
		'https:///path',
		'https://shop .example',
		'xhttps://a.example',
	];

	test.each<[field: string, are: boolean, urls: string[]]>([
		['target_url', true, web],
		['target_url', false, [...odd, 'https://?a', 'https://#a', 'ftp://a.example', ' https://a.b']],
		['icon', false, [...odd, 'http://shop.example/a.png', 'data:image/png;base64,AA']],
		['image', false, [...odd, 'http://shop.example/a.png', 'data:image/png;base64,AA']],
	])('for %s: %j for %j', (field, are, urls) => {
		for (const url of urls) expect([url, isAccepted(field, url)]).toEqual([url, are]);
	});

	test('every address that URL makes is one', () => {
		fc.assert(fc.property(anyWebUrl(), (url) => url.length > 255 || isAccepted('target_url', url)));
	});
});

const lost = 'is too large for a number, its last digits are lost already: enter it as text';

// Specification, Audience fields.
describe('attributes', () => {
	const of = (attribute: unknown) => issuesOf('attributes', { attribute });

	test.each<object>([
		{ plan: 'pro', age: 7, share: 0.5, vip: true, note: '' },
		{ big: Number.MAX_SAFE_INTEGER, small: Number.MIN_SAFE_INTEGER },
		{ constructor: 'x', ' plan ': 'y', ['__proto__']: 'z' },
	])('%j is fine', (attribute) => expect(of(attribute)).toEqual([]));

	test.each([
		[{}, 'is empty'],
		[{ '': 'x' }, 'has an attribute without a name'],
		[{ plan: 'pro', ' ': 'x' }, 'has an attribute without a name'],
		[null, 'is not a set of names and values'],
		['plan', 'is not a set of names and values'],
		[['plan'], 'is not a set of names and values'],
	])('%j: %s', (attribute, issue) => expect(of(attribute)).toEqual([`attribute ${issue}`]));

	test.each<[message: string, values: unknown[]]>([
		[
			'is not a text, a number or a boolean',
			[{ a: 1 }, [1], null, undefined, Infinity, -Infinity, NaN, 1n],
		],
		[lost, [2 ** 53, -(2 ** 53), 1e300]],
	])('%s: %p', (message, values) => {
		for (const plan of values) expect(of({ plan })).toEqual([`attribute.plan ${message}`]);
	});
});

describe('a list of IDs', () => {
	test('holds texts and whole numbers', () => {
		for (const ids of [[], ['12', 34, 0, ' padded ', 'a-1_b']]) {
			expect(idList.parse(ids)).toEqual(ids);
		}
	});

	test.each<[message: string, ids: unknown[]]>([
		['holds an ID that is neither text nor a whole number', [{}, -1, 1.5, null, ['12'], NaN]],
		[lost, [2 ** 53]],
		['holds "2 3", which is not one ID', ['2 3', ' 2 \n3 ']],
		['holds "", which is not one ID', ['', ' ']],
		...Array.from('()[]{}"\'`“”„‘’«»', (mark): [string, unknown[]] => [
			`holds "1${mark}2", which is not one ID`,
			[`1${mark}2`],
		]),
	])('%s: %j', (message, ids) => {
		for (const id of ids) expect(told(idList, ['1', id])).toBe(message);
	});

	test('is an array', () => {
		expect(told(idList, '12')).toBe('is neither text, nor a number, nor an array');
	});
});

// What helps is told where it can be told.
const whole = 'Enter the full address, such as https://www.example.com/page.';
const shorten = 'Shorten it, or turn on Shorten Long Texts in the options.';
const shorter = 'Enter a shorter address.';
const separate =
	'Separate IDs by commas, semicolons or line breaks, or use an expression that returns an array.';

test.each<[z.ZodTypeAny, value: unknown, advice: string | undefined]>([
	[bodies.all, { ...common, target_url: 'shop' }, whole],
	[bodies.all, { ...common, title: 'x'.repeat(256) }, shorten],
	[bodies.all, { ...common, message: 'x'.repeat(256) }, shorten],
	[bodies.all, { ...common, name: 'x'.repeat(256) }, shorten],
	[bodies.all, { ...common, target_url: urlOf(256) }, shorter],
	[bodies.all, { ...common, title: 7 }, undefined],
	[idList, ['12 34'], separate],
	[segments, [], "Enter at least one segment ID from your push service's dashboard."],
	[subscriberId, 'x', 'Enter the ID of one subscriber: digits only, such as 5001.'],
	[campaignId, '1,2', 'Use one item for each campaign.'],
])('%# %j is refused with what to do: %s', (schema, value, advice) => {
	const { error } = schema.safeParse(value);
	expect(error && firstIssue(error).advice).toBe(advice);
});

describe("a subscriber's ID", () => {
	test.each([
		['5001', '5001'],
		[' 5001 ', '5001'],
		['007', '007'],
		[0, '0'],
	])('%j is %s', (value, id) => expect(subscriberId.parse(value)).toBe(id));

	test.each<[message: string, refused: unknown[]]>([
		['is not a number', [null, true, {}, ['5'], -5, 1.5]],
		['is not a number: ""', ['', ' ']],
		['is not a number: "5a"', ['5a', ' 5a ']],
		['is not a number: "a5"', ['a5']],
		['is not a number: "-5"', ['-5']],
		['is not a number: "٥"', ['٥']],
	])('%s: %j', (message, refused) => {
		for (const value of refused) expect(told(subscriberId, value)).toBe(message);
	});

	test('no digit is lost', () => {
		fc.assert(
			fc.property(fc.bigInt({ min: 0n }), (id) => {
				expect(subscriberId.parse(String(id))).toBe(String(id));
				const isExact = id <= BigInt(Number.MAX_SAFE_INTEGER);
				expect(told(subscriberId, Number(id))).toBe(isExact ? undefined : lost);
			}),
		);
	});
});

describe("a campaign's ID", () => {
	test.each([
		['1001', '1001'],
		[1001, '1001'],
		[0, '0'],
		[' abc-1 ', 'abc-1'],
		['...', '...'],
		['x1 2', 'x1 2'],
		['a/b?c', 'a/b?c'],
		['📣', '📣'],
	])('%j is %s', (value, id) => expect(campaignId.parse(value)).toBe(id));

	test.each<[message: string, refused: unknown[]]>([
		['is not a campaign ID', ['', ' ', '.', '..', '\ud83d']],
		['is neither text nor a whole number', [null, true, ['1'], -1, 1.5]],
		['holds more than one ID: "1001, 1002"', ['1001, 1002', ' 1001,\n1002 ']],
		['holds more than one ID: "1001;1002"', ['1001;1002']],
		['holds more than one ID: "1001 1002"', ['1001 1002', '1001  1002']],
		[lost, [2 ** 53]],
	])('%s: %j', (message, refused) => {
		for (const value of refused) expect(told(campaignId, value)).toBe(message);
	});
});

// Specification, Notification / campaign, expire_push.
describe('an expiry', () => {
	test.each([
		[{ amount: 1, unit: 'm' }, '1m'],
		[{ amount: 90, unit: 'h' }, '90h'],
		[{ amount: Number.MAX_SAFE_INTEGER, unit: 'd' }, '9007199254740991d'],
	])('%j is %s', (value, text) => expect(expiry.parse(value)).toBe(text));

	test.each<[message: string, refused: unknown[]]>([
		[
			'is not a whole number from 1',
			[0, -1, 1.5, 2 ** 53, NaN, Infinity, '7', null].map((amount) => ({ amount, unit: 'd' })),
		],
		[
			'is not minutes, hours or days',
			['w', 'D', '', 7, null, undefined].map((unit) => ({ amount: 1, unit })),
		],
		['is not an amount and a unit', [7, 'd']],
	])('%s: %j', (message, refused) => {
		for (const value of refused) expect(told(expiry, value)).toBe(message);
	});
});
