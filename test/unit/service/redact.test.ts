import { parseBody } from '../../../nodes/PushCampaign/service/json';
import { createRedactor } from '../../../nodes/PushCampaign/service/redact';

const key = 'a/key"of the\\site';
const redactor = createRedactor([key, '12345']);
const read = (body: string) => parseBody(body, redactor.field);

describe('a secret in an answer has another text in its place', () => {
	const json = JSON.stringify({ says: `key ${key}` });
	test.each([
		{ name: 'as JSON writes it', body: json },
		{ name: 'with \\/ for /', body: json.replace('/', '\\/') },
		{ name: 'in JSON within a text', body: JSON.stringify({ says: `key ${JSON.stringify(key)}` }) },
	])('$name', ({ body }) => {
		expect(JSON.stringify(read(body)).replaceAll('\\"', '')).toBe('{"says":"key (withheld)"}');
	});

	test('wherever it stands', () => {
		expect(read(`{"a":["x 12345"],"12345":{"b":12345},"status":"12345"}`)).toEqual({
			a: ['x (withheld)'],
			'(withheld)': { b: '(withheld)' },
			status: '(withheld)',
		});
		expect(redactor.text(`${key}, ${key} and 12345`)).toBe('(withheld), (withheld) and (withheld)');
	});

	test('and nothing is left of one that holds the other', () => {
		expect(createRedactor(['the-key', 'the-key-2']).text('x the-key-2')).toBe('x (withheld)');
	});
});

test.each([
	{ text: '12345', then: '(withheld)' },
	{ text: 'token=12345.', then: 'token=(withheld).' },
	{ text: '"12345"/12345', then: '"(withheld)"/(withheld)' },
	{ text: '123456 012345 a12345 12345_ 12345é', then: '123456 012345 a12345 12345_ 12345é' },
])('a short secret is replaced as a whole word: $text', ({ text, then }) => {
	expect(redactor.text(text)).toBe(then);
});

test('a long secret is replaced within a word as well', () => {
	expect(createRedactor(['123456']).text('x1234567')).toBe('x(withheld)7');
});

// Otherwise a campaign that was sent counts as unknown, or its ID is lost.
test('an ID or a counter with the digits of a token stays', () => {
	const answer = {
		...{ ID: 12345, notification_id: '12345', count: { clicked: '12345', closed: 12345 } },
		...{ active_subscribers: '12345', total_life_time_subscribers: '12345' },
	};
	expect(read(JSON.stringify(answer))).toEqual(answer);
	expect(read('{"ID":"at 12345"}')).toEqual({ ID: 'at (withheld)' });
});
