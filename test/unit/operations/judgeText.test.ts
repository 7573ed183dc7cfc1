import * as fc from 'fast-check';
import {
	judgeOf,
	keyJudgeOf,
	withoutHalfCharacters,
} from '../../../nodes/PushCampaign/operations/judgeText';
import type { Origin } from '../../../nodes/PushCampaign/operations/parameters';
import { refusal } from '../service/support';
import { itemOf } from './support';

const field = { displayName: 'Title', path: 'title' };
const expression: Origin = { expression: '={{ $json.title }}' };

/** Judges a title. */
function judge(text: unknown, origin: Origin = expression, input = {}, allowsEmptyParts = false) {
	const item = itemOf({}, 'UTC', input, { title: origin });
	return judgeOf(item, { allowEmptyParts: allowsEmptyParts })(text, field);
}
const judgeKey = (text: unknown, origin?: Origin) =>
	keyJudgeOf(itemOf({}, 'UTC', {}, origin && { title: origin }))(text, field);
const isRefused = (read: () => unknown) => {
	try {
		read();
		return false;
	} catch {
		return true;
	}
};

test.each([
	{
		text: 'New: [object Object]',
		says: 'holds [object Object], which is an object and not a text: "New: [object Object]"',
	},
	{ text: '[object Promise]', says: 'holds [object Promise], which is' },
	{ text: 'Hello undefined', says: 'holds undefined: its expression found no value' },
	{ text: 'a_NaN%', says: 'holds NaN: its expression found no value' },
	{ text: 'Until Invalid DateTime', says: 'holds Invalid DateTime, a date that can’t be read' },
	{
		text: 'Hello {{$json.name}}!',
		says: 'holds {{$json.name}}, a template that was not filled in',
	},
	{ text: '{{ a }} {{ $b', says: undefined },
	{ text: '{{ a }} $ {{ b }}', says: undefined },
	{ text: '{{ {{ a }} {{ $b }}', says: 'holds {{ $b }}, a template' },
	{ text: 'cut \ud83d', says: 'was cut in the middle of a character' },
	{ text: 'undefinedness, NaNny and [object]', says: undefined },
	{ text: 'ündefined für Nan', says: undefined },
	{ text: 'null and [Object object]', says: undefined },
])('"$text" of an expression is judged: $says', ({ text, says }) => {
	if (says === undefined) expect(judge(text)).toBe(text);
	else expect(refusal(() => judge(text)).message).toMatch(`Title ${says}`);
});

test('a word of JavaScript is no one’s mistake if a person wrote it', () => {
	const text = 'undefined is not a function';
	expect(judge(text, {})).toBe(text);
	expect(judge(text, { expression: '=undefined {{ $json.rest }}' })).toBe(text);
	expect(judge(text, expression, { rows: [{ title: text }] })).toBe(text);
	expect(isRefused(() => judge(text, expression, { rows: ['NaN'] }))).toBe(true);
	const cyclic: Record<string, unknown> = { title: text };
	cyclic['self'] = cyclic;
	expect(judge(text, expression, cyclic)).toBe(text);
});

test('a part that gave nothing is named, and may be allowed', () => {
	const origin = { ...expression, emptyPart: '{{ $json.name }}' };
	expect(refusal(() => judge('Hello', origin))).toMatchObject({
		message: 'Title has an empty part: {{ $json.name }} returned nothing: "Hello"',
		advice:
			'Check the item, give a value for this case, such as {{ $json.name || "you" }}, or add the option Allow Empty Parts.',
	});
	expect(judge('Hello', origin, {}, true)).toBe('Hello');
	expect(refusal(() => judgeKey('order-', origin)).advice).toBe(
		'Items with a missing value would get the same key. Check the item that it reads from.',
	);
});

test.each(['order-null', 'NaN', 'order undefined', '[object Object]', '{{ $json.id }}', 'a\ud83d'])(
	'the key "%s" is refused, whoever wrote it',
	(key) => {
		expect(isRefused(() => judgeKey(key))).toBe(true);
	},
);

test.each(['order-7', 'nullable', 'annull', '[object'])('the key "%s" is taken', (key) => {
	expect(judgeKey(key)).toBe(key);
});

test('what is no text is left to others', () => {
	for (const value of [undefined, null, 7, { a: 1 }]) expect(judge(value)).toBe(value);
});

test('a text without any of that is taken, whatever it holds', () => {
	const wrong = /\[object|undefined|NaN|Invalid DateTime|\{\{/;
	fc.assert(
		fc.property(fc.string({ unit: 'grapheme' }), (text) => {
			fc.pre(!wrong.test(text));
			expect(judge(withoutHalfCharacters(text))).toBe(text);
		}),
	);
});

test('half characters are left out, and whole ones stay', () => {
	expect(withoutHalfCharacters('\udc00a🌷\ud83d👩‍🌾\ud83d')).toBe('a🌷👩‍🌾');
});
