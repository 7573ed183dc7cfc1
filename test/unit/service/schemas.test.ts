import * as fc from 'fast-check';
import type { Audience } from '../../../nodes/PushCampaign/service/rules';
import { audiences } from '../../../nodes/PushCampaign/service/rules';
import {
	acceptedFields,
	campaignId,
	checkBody,
	expiry,
	limitsActionButtons,
	subscriberId,
} from '../../../nodes/PushCampaign/service/schemas';
import { countCharacters } from '../../../nodes/PushCampaign/service/text';
import { anyCodePoints, anyWebUrl } from '../../support/text';

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

const findBodyIssues = (audience: Audience, body: unknown) =>
	checkBody(audience, body).issues ?? [];
const isCampaignBody = (audience: Audience, body: unknown) =>
	checkBody(audience, body).body !== undefined;

const bodyOf = (audience: Audience, change: object = {}) => ({
	...common,
	...selections[audience],
	...change,
});
const issuesOf = (audience: Audience, change: object) =>
	findBodyIssues(audience, bodyOf(audience, change)).map(
		({ path, message }) => `${path.join('.')} ${message}`,
	);
const urlOf = (length: number) => 'https://shop.example/'.padEnd(length, 'x');

// Specification, Endpoints and Limits.
test.each([
	['all', ['name', 'image'], true],
	['attributes', ['name'], false],
	['segments', ['name', 'image'], false],
	['subscriber', [], false],
] as const)('what %s may hold beside what it must', (audience, more, isLimited) => {
	const always = ['icon', 'expire_push', 'auto_hide', 'send_at', 'action_buttons'];
	expect(acceptedFields(audience).sort()).toEqual([...always, ...more].sort());
	expect(limitsActionButtons(audience)).toBe(isLimited);
});

describe.each(audiences)('a body for %s', (audience) => {
	test('is fine with what is required, and not without', () => {
		const body = bodyOf(audience);
		expect(findBodyIssues(audience, body)).toEqual([]);
		expect(isCampaignBody(audience, body)).toBe(true);
		for (const name of Object.keys(body)) {
			const rest = Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));
			expect(findBodyIssues(audience, rest)).toMatchObject([{ path: [name] }]);
			expect(isCampaignBody(audience, rest)).toBe(false);
		}
	});

	// Specification, Endpoints.
	test.each(Object.entries(everyOptional))(
		'%s is accepted where the service does',
		(name, value) => {
			const isAccepted = acceptedFields(audience).some((field) => field === name);
			expect(isCampaignBody(audience, bodyOf(audience, { [name]: value }))).toBe(isAccepted);
		},
	);

	test("another audience's field is not accepted", () => {
		for (const other of audiences) {
			if (other === audience || other === 'all') continue;
			expect(isCampaignBody(audience, bodyOf(audience, selections[other]))).toBe(false);
		}
	});

	// Specification, Limits.
	test.each([
		['title', 100],
		['message', 255],
	])('%s: %d characters, an emoji being one', (field, limit) => {
		for (const character of ['x', 'ü', '語', '👍']) {
			expect(issuesOf(audience, { [field]: character.repeat(limit) })).toEqual([]);
			expect(issuesOf(audience, { [field]: character.repeat(limit + 1) })).toEqual([
				`${field} is ${limit + 1} characters long, 1 more than the ${limit} that the service accepts`,
			]);
		}
	});

	test('target_url: 255 characters', () => {
		expect(issuesOf(audience, { target_url: urlOf(255) })).toEqual([]);
		expect(issuesOf(audience, { target_url: urlOf(258) })).toEqual([
			'target_url is 258 characters long, 3 more than the 255 that the service accepts',
		]);
	});

	test('action buttons: limited on send/all alone', () => {
		const button = (title: string, url: string) => ({ action_buttons: [{ title, url }] });
		expect(issuesOf(audience, button('x'.repeat(100), urlOf(100)))).toEqual([]);
		const long = issuesOf(audience, button('x'.repeat(101), urlOf(102)));
		if (audience !== 'all') expect(long).toEqual([]);
		else {
			expect(long).toEqual([
				'action_buttons.0.title is 101 characters long, 1 more than the 100 that the service accepts',
				'action_buttons.0.url is 102 characters long, 2 more than the 100 that the service accepts',
			]);
		}
	});

	test('action buttons: both values, nothing else', () => {
		const of = (buttons: unknown) => issuesOf(audience, { action_buttons: buttons });
		const url = 'https://shop.example';
		expect(of([])).toEqual(['action_buttons is empty']);
		expect(of([{ url }])).toEqual(['action_buttons.0.title is missing']);
		expect(of([{ title: ' ', url }])).toEqual(['action_buttons.0.title is empty']);
		expect(of([{ title: 7, url }])).toEqual(['action_buttons.0.title is not text']);
		expect(of([{ title: 'a' }])).toEqual(['action_buttons.0.url is missing']);
		expect(of([{ title: 'a', url: 'shop' }])).toEqual([
			'action_buttons.0.url is not a valid http:// or https:// address: "shop"',
		]);
		expect(of([{ title: 'a', url, more: 1 }])).toHaveLength(1);
		expect(of({ title: 'a', url })).toHaveLength(1);
	});

	test.each([
		['title', '', 'title is empty'],
		['title', ' \n', 'title is empty'],
		['title', 7, 'title is not text'],
		['message', '\t', 'message is empty'],
		['target_url', '', 'target_url is empty'],
		['target_url', 'shop', 'target_url is not a valid http:// or https:// address: "shop"'],
		[
			'icon',
			'http://shop.example/i.png',
			'icon is not a valid https:// address: "http://shop.example/i.png"',
		],
		['icon', ' ', 'icon is empty'],
	])('%s %j: %s', (field, value, issue) => {
		expect(issuesOf(audience, { [field]: value })).toContain(issue);
	});

	test.each([
		['auto_hide', [0, 1], [2, -1, true, '1', null]],
		['expire_push', ['1m', '90h', '28d'], ['0d', '07d', '1.5d', '7', '7w', 'd', ' 7d', '7d ', 7]],
	])('%s: one of %j, not %j', (field, good, bad) => {
		for (const value of good) expect(issuesOf(audience, { [field]: value })).toEqual([]);
		for (const value of bad) expect(issuesOf(audience, { [field]: value })).toHaveLength(1);
	});

	test('whatever it is given is judged, not thrown at', () => {
		fc.assert(
			fc.property(fc.anything(), fc.dictionary(fc.string(), fc.anything()), (value, change) => {
				expect(Array.isArray(findBodyIssues(audience, value))).toBe(true);
				expect(Array.isArray(findBodyIssues(audience, bodyOf(audience, change)))).toBe(true);
			}),
		);
	});
});

test('name: 100 characters, and not empty', () => {
	expect(issuesOf('segments', { name: '👍'.repeat(100) })).toEqual([]);
	expect(issuesOf('segments', { name: '👍'.repeat(101) })).toEqual([
		'name is 101 characters long, 1 more than the 100 that the service accepts',
	]);
	expect(issuesOf('segments', { name: '' })).toEqual(['name is empty']);
});

test('a text is refused from its limit on, counted by code points', () => {
	fc.assert(
		fc.property(anyCodePoints({ minLength: 200, maxLength: 300 }), (message) => {
			fc.pre(message.trim() !== '');
			const length = [...message].length;
			expect(countCharacters(message)).toBe(length);
			expect(isCampaignBody('all', { ...common, message })).toBe(length <= 255);
		}),
	);
});

describe('addresses of pages', () => {
	const isAccepted = (targetUrl: string) =>
		isCampaignBody('all', { ...common, target_url: targetUrl });

	test.each([
		'http://shop.example',
		'HTTPS://Shop.example/a?b=c#d',
		'https://shop.example:8443/ü',
		'https://例え.example/',
		'https://user:word@shop.example/',
		'https://127.0.0.1',
		'https://shop.example?utm=1',
	])('%s is one', (url) => expect(isAccepted(url)).toBe(true));

	test.each([
		'shop.example',
		'//shop.example',
		'https:shop.example',
		'https:/shop.example',
		'https://',
		'https:///path',
		'https://?a',
		'https://#a',
		'https://shop .example',
		'https://shop.example/a b',
		'https://shop.example/a\tb',
		'https://shop.example\\a',
		'https:\\\\shop.example',
		'https://shop.example:99999',
		'https://%',
		'ftp://shop.example',
		'mailto:shop@shop.example',
		'javascript:alert(1)',
		' https://shop.example',
		'see https://shop.example',
		'xhttps://shop.example',
	])('%s is none', (url) => expect(isAccepted(url)).toBe(false));

	test.each([
		'http://shop.example/a.png',
		'data:image/png;base64,AA',
		'see https://a.example',
		'xhttps://a.example',
	])('%s is no picture', (url) => {
		expect(isCampaignBody('all', { ...common, image: url })).toBe(false);
		expect(isCampaignBody('all', { ...common, icon: url })).toBe(false);
	});

	test('every address that URL makes is one', () => {
		fc.assert(fc.property(anyWebUrl(), (url) => url.length > 255 || isAccepted(url)));
	});
});

// Specification, Audience fields.
describe('attributes', () => {
	const of = (attribute: unknown) =>
		findBodyIssues('attributes', { ...common, attribute }).map(
			({ path, message }) => `${path.join('.')} ${message}`,
		);

	test.each([
		[{ plan: 'pro', age: 7, share: 0.5, vip: true, note: '' }],
		[{ big: Number.MAX_SAFE_INTEGER, small: Number.MIN_SAFE_INTEGER }],
		[JSON.parse('{"__proto__": "x"}')],
		[{ constructor: 'x', ' plan ': 'y' }],
	])('%j is fine', (attribute) => expect(of(attribute)).toEqual([]));

	test.each([
		[{}, 'attribute is empty'],
		[{ '': 'x' }, 'attribute has an attribute without a name'],
		[{ plan: 'pro', ' ': 'x' }, 'attribute has an attribute without a name'],
		[null, 'attribute is not a set of names and values'],
		['plan', 'attribute is not a set of names and values'],
		[['plan'], 'attribute is not a set of names and values'],
	])('%j: %s', (attribute, issue) => expect(of(attribute)).toEqual([issue]));

	test.each<[message: string, values: unknown[]]>([
		[
			'is not a text, a number or a boolean',
			[{ a: 1 }, [1], null, undefined, Infinity, -Infinity, NaN, 1n],
		],
		[
			'is a number too large to be exact, its last digits are lost already: give it as text',
			[2 ** 53, -(2 ** 53), 1e300],
		],
	])('%s: %p', (message, values) => {
		for (const value of values) {
			expect(of({ plan: value })).toEqual([`attribute.plan ${message}`]);
		}
	});
});

test('segments are texts and whole numbers', () => {
	const of = (segment: unknown) => issuesOf('segments', { segment });
	expect(of(['12', 34, 0, ' padded '])).toEqual([]);
	expect(of([])).toEqual(['segment is empty']);
	expect(of('12')).toEqual(['segment is neither text, nor a number, nor an array']);
	for (const id of [{}, '', ' ', -1, 1.5, null, ['12'], Infinity, NaN]) {
		expect(of([id])).toEqual(['segment.0 holds an ID that is neither text nor a whole number']);
	}
	expect(of([2 ** 53])).toEqual([
		'segment.0 holds an ID that lost digits as a number: give it as text',
	]);
	expect(of(['1', '2 3'])).toEqual(['segment holds "2 3", which is not one ID']);
});

// What helps is told where it can be told.
test.each([
	['all', { target_url: 'www.example.com' }, 'Write https://www.example.com instead.'],
	['all', { target_url: '//a.example/b' }, 'Write https://a.example/b instead.'],
	['all', { icon: 'http://a.example/i.png' }, 'Write https://a.example/i.png instead.'],
	...['shop', 'me@shop.example', 'mailto:me@a.example', 'a.example/a b', 'localhost:80'].map(
		(target_url) =>
			[
				'all',
				{ target_url },
				'Give a whole address, such as https://www.example.com/page.',
			] as const,
	),
	...(['title', 'message', 'name'] as const).map(
		(field) =>
			[
				'all',
				{ [field]: 'x'.repeat(256) },
				'Shorten it, or turn on Shorten Long Texts in the options.',
			] as const,
	),
	[
		'all',
		{ target_url: urlOf(256) },
		'Give a shorter address. UTM Parameters count towards its length, where there are any.',
	],
	['segments', { segment: ['12 34'] }, 'Separate IDs by commas and leave out all else: 12, 34.'],
	['segments', { segment: ['[a-1'] }, 'Separate IDs by commas and leave out all else: a-1.'],
	[
		'segments',
		{ segment: ['{"id": 12}'] },
		'Separate IDs by commas, semicolons or line breaks, or give an array by an expression.',
	],
	[
		'segments',
		{ segment: ['()'] },
		'Separate IDs by commas, semicolons or line breaks, or give an array by an expression.',
	],
	[
		'segments',
		{ segment: [] },
		'Give at least one segment ID, from the dashboard of your push service.',
	],
] as const)('a body for %s with %j is refused with what to do: %s', (audience, change, advice) => {
	expect(findBodyIssues(audience, bodyOf(audience, change))[0]?.advice).toBe(advice);
});

const lost = 'is a number too large to be exact, its last digits are lost already: give it as text';

test.each(['5001a', 'a5001', ''])('a body for the subscriber %j is none', (sid) => {
	expect(isCampaignBody('subscriber', { ...common, sid })).toBe(false);
});

describe("a subscriber's ID", () => {
	test.each([
		['5001', '5001'],
		[5001, '5001'],
		[0, '0'],
		[' 5001 ', '5001'],
		['007', '007'],
		[Number.MAX_SAFE_INTEGER, '9007199254740991'],
		['123456789012345678901234567890', '123456789012345678901234567890'],
	])('%j is %s', (value, id) => expect(subscriberId.parse(value)).toBe(id));

	test.each<[message: string, refused: unknown[]]>([
		['is not a number', [null, true, {}, ['5']]],
		['is not a number: ""', ['', ' ']],
		['is not a number: "5a"', ['5a', ' 5a ']],
		['is not a number: "-5"', ['-5', -5]],
		['is not a number: "٥"', ['٥']],
		['is not a number: "a@b.com"', ['a@b.com']],
		[lost, [2 ** 53, 1e21]],
	])('%s: %j', (message, refused) => {
		for (const value of refused) {
			expect(subscriberId.safeParse(value).error?.issues[0]?.message).toBe(message);
		}
	});

	test('no digit is lost', () => {
		fc.assert(
			fc.property(fc.bigInt({ min: 0n }), (id) => {
				expect(subscriberId.parse(String(id))).toBe(String(id));
				const asNumber = subscriberId.safeParse(Number(id));
				expect(asNumber.success).toBe(id <= BigInt(Number.MAX_SAFE_INTEGER));
				if (asNumber.success) expect(asNumber.data).toBe(String(id));
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
		['__proto__', '__proto__'],
		[Number.MAX_SAFE_INTEGER, '9007199254740991'],
		['12345678901234567890', '12345678901234567890'],
		['a/b?c', 'a/b?c'],
		['📣', '📣'],
	])('%j is %s', (value, id) => expect(campaignId.parse(value)).toBe(id));

	test.each<[message: string, refused: unknown[]]>([
		['is not a campaign ID', ['', ' ', '.', '..', '\ud83d']],
		['is neither text nor a whole number', [null, true, ['1'], -1, 1.5]],
		['holds more than one ID: "1001, 1002"', ['1001, 1002', ' 1001,\n1002 ']],
		['holds more than one ID: "1001;1002"', ['1001;1002']],
		['holds more than one ID: "1001 1002"', ['1001 1002']],
		[lost, [2 ** 53]],
	])('%s: %j', (message, refused) => {
		for (const value of refused) {
			expect(campaignId.safeParse(value).error?.issues[0]?.message).toBe(message);
		}
	});
});

// Specification, Notification / campaign, expire_push.
describe('an expiry', () => {
	test.each([
		{ amount: 1, unit: 'm' },
		{ amount: 90, unit: 'h' },
		{ amount: Number.MAX_SAFE_INTEGER, unit: 'd' },
	])('%j is one', (value) => expect(expiry.parse(value)).toEqual(value));

	test.each([0, -1, 1.5, 2 ** 53, NaN, Infinity, '7', null])('no amount is %p', (amount) => {
		expect(expiry.safeParse({ amount, unit: 'd' }).error?.issues[0]?.message).toBe(
			'is not a whole number from 1',
		);
	});

	test.each(['w', 'D', '', 7, null, undefined])('no unit is %p', (unit) => {
		expect(expiry.safeParse({ amount: 1, unit }).error?.issues[0]?.message).toBe(
			'is not minutes, hours or days',
		);
	});
});
