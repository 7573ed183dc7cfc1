import { sends } from '../../../nodes/PushCampaign/operations';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { content, contentBody, prepare, refusalOf } from './support';

const everyone = {
	attributes: { pairs: [{ name: 'plan', value: 'pro' }] },
	segmentIds: '12',
	subscriberId: '5001',
};

const bodyOf = (parameters: object, operation: SendOperation = sendToAll) =>
	prepare({ ...everyone, ...parameters }, {}, operation).body;

const optionalFields = {
	name: 'Newsletter readers',
	iconUrl: 'https://shop.example/icon.png',
	imageUrl: 'https://shop.example/banner.jpg',
	expireAfter: { duration: { amount: 7, unit: 'd' } },
	autoHide: true,
	sendAt: '2030-05-17 09:30',
};
const actionButtons = { button: [{ title: 'Shop', url: 'https://shop.example/now' }] };
const common = {
	...contentBody,
	icon: 'https://shop.example/icon.png',
	expire_push: '7d',
	send_at: '2030-05-17 09:30 +00:00',
	action_buttons: actionButtons.button,
};
const name = 'Newsletter readers';
const image = 'https://shop.example/banner.jpg';

test.each([
	{ operation: 'sendToAll', body: { ...common, auto_hide: 1, name, image } },
	{
		operation: 'sendToAttributes',
		body: { ...common, auto_hide: 0, name, attribute: { plan: 'pro' } },
	},
	{ operation: 'sendToSegments', body: { ...common, auto_hide: 0, name, image, segment: ['12'] } },
	{ operation: 'sendToSubscriber', body: { ...common, auto_hide: 0, sid: '5001' } },
])('$operation sends what the service accepts, and leaves out the rest', ({ operation, body }) => {
	const [send] = sends.filter(({ option }) => option.value === operation);
	expect(bodyOf({ actionButtons, additionalFields: optionalFields }, send)).toEqual(body);
});

test('what is left over from another operation is not even read', () => {
	const name = "={{ $('Not there').item.json.name }}";
	const additionalFields = { name, imageUrl: 'not an address' };
	expect(bodyOf({ segmentIds: '', additionalFields }, sendToSubscriber)).toEqual({
		...contentBody,
		sid: '5001',
	});
});

describe('a text', () => {
	test.each([
		['without blanks around it', ' \n\u00A0Sale\t', 'Sale'],
		['without blanks that would count', `${' '.repeat(20)}${'x'.repeat(95)}\n`, 'x'.repeat(95)],
		['as the digits of a number', 20, '20'],
		['without halves of characters', 'Sale \ud83c\udf37 \ud83c', 'Sale 🌷'],
		['without control characters', '\u001BSa\u0000le\u0007 \u007Fno\u0090w', 'Sale now'],
		[
			'with what old pages write in Windows-1252',
			'\u0093Don\u0092t\u0094 \u0096 only 5\u0080',
			'“Don’t” – only 5€',
		],
		['with what has a meaning in other scripts', 'Sale!\u200F', 'Sale!\u200F'],
		['with the ends of flags', '🏴\u{E0067}\u{E0062}\u{E007F}', '🏴\u{E0067}\u{E0062}\u{E007F}'],
		['with as many characters as code points', '🌷'.repeat(100), '🌷'.repeat(100)],
	])('is sent %s', (_name, title, sent) => {
		expect(bodyOf({ title }).title).toBe(sent);
	});

	test.each([
		{ field: 'title', limit: 100 },
		{ field: 'message', limit: 255 },
	])('that is longer than $limit characters is refused: $field', ({ field, limit }) => {
		expect(refusalOf(() => bodyOf({ [field]: 'x'.repeat(limit + 1) }))).toMatch(
			`is ${limit + 1} characters long, 1 more than the ${limit} that the service accepts`,
		);
	});

	test.each([
		['', "'Title' is missing"],
		[undefined, "'Title' is missing"],
		['\u200B \u2060\u00AD', "'Title' is missing"],
		['=', "'Title' is missing"],
		['={{ $json.title }}', "'Title': {{ $json.title }} gave nothing"],
		[false, "'Title' is missing"],
		[[], "'Title' is missing"],
		['\u200F\u0007', "'Title' is missing"],
	])('is refused if nothing of it is visible, or it is none: %j', (title, refusal) => {
		expect(refusalOf(() => bodyOf({ title }))).toBe(refusal);
	});
});

test('a title, a name and a title of a button are one line, a message keeps its lines', () => {
	const text = `Summer\n${' '.repeat(120)}sale\u00A0 now`;
	const button = { title: text, url: 'https://shop.example' };
	const fields = { additionalFields: { name: text }, actionButtons: { button: [button] } };
	expect(bodyOf({ title: text, message: 'One\n\nTwo', ...fields })).toEqual({
		...contentBody,
		title: 'Summer sale now',
		message: 'One\n\nTwo',
		name: 'Summer sale now',
		action_buttons: [{ ...button, title: 'Summer sale now' }],
	});
});

describe('a URL', () => {
	test.each([
		['http://shop.example', 'http://shop.example'],
		[' https://bücher.example/ä?q=a+b#top\n', 'https://bücher.example/ä?q=a+b#top'],
		['\u202Ahttps://shop.example/a\u202C', 'https://shop.example/a'],
		['\u200E\u00ADhttps://shop.example/a\u200F\u3164', 'https://shop.example/a'],
		['https://a.example/می\u200cخ?a=👩\u200d🌾', 'https://a.example/می\u200cخ?a=👩\u200d🌾'],
	])('is sent as it was entered: %s', (url, sent) => {
		expect(bodyOf({ targetUrl: url }).target_url).toBe(sent);
	});

	test.each(['shop.example', 'https://shop.example/sum\u200bmer', 'https://shop.example/\ud83c'])(
		'is refused if it is no address, or cut within a character: %j',
		(targetUrl) => {
			expect(refusalOf(() => bodyOf({ targetUrl }))).toBe(
				`'Target URL' is not an http:// or https:// address: "${targetUrl}"`,
			);
		},
	);

	test('is sent without the ampersands that feeds write into it', () => {
		const encoded = 'https://shop.example/?p=8&#038;a=x&amp;b=y#top';
		const url = 'https://shop.example/?p=8&a=x&b=y#top';
		const actionButtons = { button: [{ title: 'Shop', url: encoded }] };
		const additionalFields = { iconUrl: encoded };
		const body = bodyOf({ targetUrl: encoded, actionButtons, additionalFields });
		expect(body).toMatchObject({ target_url: url, icon: url, action_buttons: [{ url }] });
	});
});

test.each([
	[{ autoHide: '={{ $json.hide }}' }, "'Auto Hide': {{ $json.hide }} gave nothing"],
	[{ autoHide: [] }, "'Auto Hide' is not true or false: []"],
	[{ expireAfter: {} }, "'Amount' in 'Expire After' is missing"],
	[{ quietHours: {} }, "'From' in 'Quiet Hours' is missing"],
])('a field that was added and is empty is refused: %j', (fields, refusal) => {
	expect(refusalOf(() => bodyOf({ additionalFields: fields }))).toContain(refusal);
});

test.each([
	{ fields: { name: '', iconUrl: ' ', imageUrl: '={{ $json.image }}' } },
	// What WordPress gives for a post without a picture.
	{ fields: { name: false, iconUrl: [], imageUrl: false } },
	{ fields: { name: [], iconUrl: false, imageUrl: [] } },
	{ fields: { iconUrl: '\u200E\u00AD', imageUrl: '\u3164\u2800' } },
])('a name or a picture that was added and is empty is left out: $fields', ({ fields }) => {
	expect(bodyOf({ additionalFields: fields })).toEqual(contentBody);
});

test.each([
	[{ iconUrl: '//cdn.example/x.png' }, "'Icon URL' is not an https:// address"],
	[{ iconUrl: 'http://a.example/?u=https://b.example' }, "'Icon URL' is not an https:// address"],
	[{ imageUrl: 'http://cdn.example/x.png' }, "'Image URL' is not an https:// address"],
	[{ imageUrl: ['https://a.example/x.png'] }, "'Image URL' is not text: "],
])('a name or a picture that is there and not valid is refused: %j', (fields, refusal) => {
	expect(refusalOf(() => bodyOf({ additionalFields: fields }))).toContain(refusal);
});

describe('a button', () => {
	const buttonsOf = (button: unknown, operation?: SendOperation) =>
		bodyOf({ actionButtons: { button } }, operation).action_buttons;
	const url = 'https://shop.example/now';

	test('of which nothing was filled in is left out', () => {
		const blank = { title: ' ', url: '={{ $json.url }}' };
		expect(buttonsOf([blank, { title: 'Shop', url }, {}])).toEqual([{ title: 'Shop', url }]);
		const utmParameters = { parameters: { source: 'push' } };
		const actionButtons = { button: [blank, { title: false, url: [] }] };
		const body = bodyOf({ actionButtons, additionalFields: { utmParameters } });
		expect(body).not.toHaveProperty('action_buttons');
	});

	test('needs a title and a URL', () => {
		expect(refusalOf(() => buttonsOf([{ title: '', url }]))).toBe(
			"'Title' in button 1 of 'Action Buttons' is missing",
		);
		expect(refusalOf(() => buttonsOf([{ title: 'Shop', url }, { title: 'Read' }]))).toBe(
			"'URL' in button 2 of 'Action Buttons' is missing",
		);
	});

	test('has at most 100 characters each in a send to all alone', () => {
		const long = { title: 'x'.repeat(101), url: `${url}/${'x'.repeat(100)}` };
		expect(buttonsOf([long], sendToSegments)).toEqual([long]);
		const most = { title: 'x'.repeat(100), url: `${url}/${'x'.repeat(99 - url.length)}` };
		expect(buttonsOf([most])).toEqual([most]);
		expect(refusalOf(() => buttonsOf([long]))).toMatch(/^'Title' in button 1 .* is 101 characters/);
		expect(refusalOf(() => buttonsOf([{ ...long, title: 'Shop' }]))).toMatch(/^'URL' in button 1/);
	});

	test.each([{ button: [] }, { button: undefined }, { button: '={{ $json.buttons }}' }])(
		'is not sent if there is none: $button',
		({ button }) => {
			expect(buttonsOf(button)).toBeUndefined();
		},
	);
});

describe('Convert HTML to Text', () => {
	const html = {
		title: '<b>Summer</b> &amp; more',
		message: '<p>One</p><p>Two</p>',
		targetUrl: 'https://shop.example/?p=8&#038;a=<b>x</b>',
		actionButtons: { button: [{ title: '<i>Shop</i>', url: 'https://shop.example/?a=1&amp;b=2' }] },
		additionalFields: { name: 'A &gt; B' },
	};

	test('changes texts, and decodes entities in URLs alone', () => {
		const targetUrl = 'https://shop.example/?p=8&#038;a=x#top';
		expect(bodyOf({ ...html, targetUrl, options: { htmlToText: true } })).toEqual({
			title: 'Summer & more',
			message: 'One Two',
			target_url: 'https://shop.example/?p=8&a=x#top',
			action_buttons: [{ title: 'Shop', url: 'https://shop.example/?a=1&b=2' }],
			name: 'A > B',
		});
	});

	test('comes before blanks are left out and UTM parameters added: a # of an entity hides nothing', () => {
		const utmParameters = { parameters: { source: 'rss' } };
		const targetUrl = '&nbsp;https://shop.example/?p=8&#038;a=x&#10;';
		const options = { htmlToText: true };
		const body = bodyOf({ targetUrl, options, additionalFields: { utmParameters } });
		expect(body.target_url).toBe('https://shop.example/?p=8&a=x&utm_source=rss');
	});

	test('comes before everything that is judged', () => {
		const options = { htmlToText: true };
		expect(refusalOf(() => bodyOf({ title: '<p> </p>', options }))).toBe("'Title' is missing");
		expect(bodyOf({ title: `<p>${'x'.repeat(100)}</p>`, options }).title).toBe('x'.repeat(100));
	});

	test.each([{}, { htmlToText: false }])('changes nothing with options %j', (options) => {
		expect(bodyOf({ title: html.title, options }).title).toBe(html.title);
	});
});

describe('Shorten Long Texts', () => {
	const options = { shortenTexts: true };

	test('cuts texts at their limit, not URLs', () => {
		const long = 'word '.repeat(60);
		const short = `${'word '.repeat(19)}word…`;
		const button = { title: long, url: 'https://shop.example' };
		const body = bodyOf({
			...{ title: long, message: long, actionButtons: { button: [button] }, options },
			additionalFields: { name: long },
		});
		expect(body).toMatchObject({ title: short, name: short, action_buttons: [{ title: short }] });
		expect(body.message).toBe(`${'word '.repeat(50)}word…`);
		const targetUrl = `${content.targetUrl}/${'x'.repeat(255)}`;
		expect(refusalOf(() => bodyOf({ targetUrl, options }))).toMatch(
			/^'Target URL' is 281 characters/,
		);
	});

	test('hides nothing that nobody meant', () => {
		const title = `${'word '.repeat(30)}[object Object]`;
		expect(refusalOf(() => bodyOf({ title, options }))).toMatch(/^'Title' holds \[object Object\]/);
	});
});
