import * as fc from 'fast-check';
import { shortenText } from '../../../nodes/PushCampaign/operations/shortenText';
import { anyCodePoints } from '../../support/text';

const family = '👨‍👩‍👧‍👦';
const flag = '🇳🇴';

test.each([
	['夏のセールが今日から始まります', 8, '夏のセールが…'],
	['Summer sale', 11, 'Summer sale'],
	['', 1, ''],
	['Summer sale', 10, 'Summer…'],
	['Summer sale', 7, 'Summer…'],
	['Summer sale', 6, 'Summe…'],
	['Summer sale starts', 12, 'Summer sale…'],
	['Summer sale starts', 11, 'Summer…'],
	['Summer  sale', 8, 'Summer…'],
	['Line one\nline two', 12, 'Line one…'],
	['Supercalifragilistic', 10, 'Supercali…'],
	// What would dangle in front of the ellipsis goes too; what a sentence says by its end stays.
	['Hurry, hurry', 8, 'Hurry…'],
	['New – today only', 8, 'New…'],
	['Wait... what?', 9, 'Wait…'],
	['Now! Or never', 6, 'Now!…'],
	['Really? Yes, really', 9, 'Really?…'],
	// Words hold together that only a dictionary would take apart.
	["Don't miss 20% off", 15, "Don't miss 20%…"],
	["Don't miss 20% off", 14, "Don't miss…"],
	['A well-known shop', 10, 'A…'],
	// Scripts without blanks between their words.
	['夏のセールが今日から始まります', 5, '夏の…'],
	['本日から新型iPhoneケース発売', 10, '本日から新型…'],
	['ลดราคาครั้งใหญ่วันนี้', 11, 'ลดราคา…'],
	['新宿の Summer sale starts', 15, '新宿の Summer…'],
	['Summer sale 夏の word-by-word', 19, 'Summer sale 夏の…'],
	['新宿 now 20% off', 10, '新宿 now…'],
	['now 20% off 新宿', 7, 'now…'],
	['Sommer    Schlussverkauf', 15, 'Sommer…'],
	// Graphemes are never taken apart.
	[`${family} is here`, 8, `${family}…`],
	[`${family}${family}`, 8, `${family}…`],
	[`${family}${family}`, 13, `${family}…`],
	[`${flag}${flag}`, 3, `${flag}…`],
	[`a${flag}`, 2, 'a…'],
	['e\u0301e\u0301', 3, 'e\u0301…'],
	['a\r\nb', 2, 'a…'],
	// Nothing that could be kept.
	[family, 6, family],
	['e\u0301e\u0301', 2, 'e\u0301e\u0301'],
	['ab', 1, 'ab'],
	['   ', 2, '   '],
])('%j at most %d is %j', (text, limit, shortened) => {
	expect(shortenText(text, limit)).toBe(shortened);
});

const count = (text: string) => Array.from(text).length;
const graphemesOf = (text: string) =>
	[...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(
		({ segment }) => segment,
	);

const odd = [family, flag, ' ', '\n', '…', '. ', '\u0301', '\u0600', '\u200d', '夏のセール', 'ครั้ง'];
const piece = fc.oneof(
	fc.string({ unit: 'grapheme' }),
	anyCodePoints(),
	fc.constantFrom(...odd),
	fc.lorem(),
);
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const anyLimit = fc.integer({ min: 1, max: 60 });

test('what fits is unchanged, of everything else the first graphemes are kept, whole', () => {
	fc.assert(
		fc.property(anyText, anyLimit, (text, limit) => {
			const shortened = shortenText(text, limit);
			if (count(text) <= limit) expect(shortened).toBe(text);
			if (shortened === text) return;
			expect(count(shortened)).toBeLessThanOrEqual(limit);
			expect(shortened.endsWith('…')).toBe(true);
			const kept = shortened.slice(0, -1);
			const all = graphemesOf(text);
			let start = '';
			for (let index = 0; start.length < kept.length; index += 1) start += all[index] ?? '?';
			expect(start).toBe(kept);
		}),
	);
});

test('where words are parted by blanks, only whole words are kept', () => {
	const word = fc.stringMatching(/^[a-zäé0-9%'!]{1,12}$/);
	fc.assert(
		fc.property(fc.array(word, { minLength: 2, maxLength: 20 }), anyLimit, (words, limit) => {
			const text = words.join(' ');
			const [first = ''] = words;
			fc.pre(count(text) > limit && count(first) < limit);
			const kept = shortenText(text, limit).slice(0, -1).split(' ');
			expect(kept).toEqual(words.slice(0, kept.length));
			// And as many of them as there is room for.
			const next = words.slice(0, kept.length + 1).join(' ');
			expect(count(next)).toBeGreaterThan(limit - 1);
		}),
	);
});

test('a long text takes no longer than a short one by much', () => {
	const started = performance.now();
	expect(shortenText('word '.repeat(200_000), 100)).toMatch(/^(word ){18}/);
	expect(performance.now() - started).toBeLessThan(2_000);
});
