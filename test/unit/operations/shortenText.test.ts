import * as fc from 'fast-check';
import { shortenText } from '../../../nodes/PushCampaign/operations/shortenText';
import { anyCodePoints } from '../../support/text';

const family = '👨‍👩‍👧‍👦';
const flag = '🇳🇴';

test.each([
	{
		name: 'cuts Japanese between words',
		text: '夏のセールが今日から始まります',
		limit: 8,
		shortened: '夏のセールが…',
	},
	{ name: 'keeps a text that just fits', text: 'Summer sale', limit: 11, shortened: 'Summer sale' },
	{
		name: 'keeps 60 emoji, whatever they take in memory',
		text: '🌷'.repeat(60),
		limit: 100,
		shortened: '🌷'.repeat(60),
	},
	{ name: 'keeps an empty text', text: '', limit: 1, shortened: '' },
	{ name: 'cuts after a whole word', text: 'Summer sale', limit: 10, shortened: 'Summer…' },
	{
		name: 'cuts after a whole word that just fits',
		text: 'Summer sale',
		limit: 7,
		shortened: 'Summer…',
	},
	{
		name: 'cuts inside the first word if it does not fit',
		text: 'Summer sale',
		limit: 6,
		shortened: 'Summe…',
	},
	{
		name: 'keeps as many words as fit',
		text: 'Summer sale starts',
		limit: 12,
		shortened: 'Summer sale…',
	},
	{
		name: 'keeps one word if two do not fit',
		text: 'Summer sale starts',
		limit: 11,
		shortened: 'Summer…',
	},
	{
		name: 'drops all blanks in front of the ellipsis',
		text: 'Summer  sale',
		limit: 8,
		shortened: 'Summer…',
	},
	{ name: 'cuts at a line break', text: 'Line one\nline two', limit: 12, shortened: 'Line one…' },
	{ name: 'cuts a long word', text: 'Supercalifragilistic', limit: 10, shortened: 'Supercali…' },
	{
		name: 'drops a comma in front of the ellipsis',
		text: 'Hurry, hurry',
		limit: 8,
		shortened: 'Hurry…',
	},
	{
		name: 'drops a dash in front of the ellipsis',
		text: 'Neues – heute alles',
		limit: 9,
		shortened: 'Neues…',
	},
	{
		name: 'drops full stops in front of the ellipsis',
		text: 'Wait... what?',
		limit: 9,
		shortened: 'Wait…',
	},
	{ name: 'keeps an exclamation mark', text: 'Now! Or never', limit: 6, shortened: 'Now!…' },
	{ name: 'keeps a question mark', text: 'Really? Yes, really', limit: 9, shortened: 'Really?…' },
	{
		name: 'keeps a percent sign with its number',
		text: "Don't miss 20% off",
		limit: 15,
		shortened: "Don't miss 20%…",
	},
	{
		name: 'does not part a percent sign from its number',
		text: "Don't miss 20% off",
		limit: 14,
		shortened: "Don't miss…",
	},
	{
		name: 'does not part a word at its hyphen',
		text: 'The shop, well-known',
		limit: 15,
		shortened: 'The shop…',
	},
	{
		name: 'cuts a script without blanks between words',
		text: '夏のセールが今日から始まります',
		limit: 3,
		shortened: '夏の…',
	},
	{
		name: 'cuts between scripts',
		text: '本日から新型iPhoneケース発売',
		limit: 10,
		shortened: '本日から新型…',
	},
	{ name: 'cuts Thai between words', text: 'ลดราคาครั้งใหญ่วันนี้', limit: 11, shortened: 'ลดราคา…' },
	{
		name: 'keeps words of both scripts',
		text: '新宿の Summer sale starts',
		limit: 15,
		shortened: '新宿の Summer…',
	},
	{
		name: 'does not part a hyphenated word among Japanese',
		text: 'Summer sale 夏の word-by-word',
		limit: 19,
		shortened: 'Summer sale 夏の…',
	},
	{
		name: 'does not part a percent sign among Japanese',
		text: '新宿 now 20% off',
		limit: 9,
		shortened: '新宿 now…',
	},
	{
		name: 'drops a word that does not fit in front of Japanese',
		text: 'only 20% off 新宿',
		limit: 7,
		shortened: 'only…',
	},
	{ name: 'drops many blanks', text: 'Sommer    Schlussverkauf', limit: 11, shortened: 'Sommer…' },
	{
		name: 'cuts inside an address that is nearly all of the text',
		text: `Neu: https://shop.example/${'x'.repeat(119)}`,
		limit: 100,
		shortened: `Neu: https://shop.example/${'x'.repeat(73)}…`,
	},
	{ name: 'keeps a whole family', text: `${family} is here`, limit: 8, shortened: `${family}…` },
	{
		name: 'does not take a family apart',
		text: `${family}${family}`,
		limit: 8,
		shortened: `${family}…`,
	},
	{
		name: 'drops a family that does not fit whole',
		text: `${family}${family}`,
		limit: 13,
		shortened: `${family}…`,
	},
	{ name: 'does not take a flag apart', text: `${flag}${flag}`, limit: 3, shortened: `${flag}…` },
	{ name: 'drops a flag that does not fit', text: `a${flag}`, limit: 2, shortened: 'a…' },
	{
		name: 'does not take an accent from its letter',
		text: 'e\u0301e\u0301',
		limit: 3,
		shortened: 'e\u0301…',
	},
	{ name: 'does not take CR from LF', text: 'a\r\nb', limit: 2, shortened: 'a…' },
	{ name: 'keeps a family that does not fit at all', text: family, limit: 6, shortened: family },
	{
		name: 'keeps a letter and its accent that do not fit at all',
		text: 'e\u0301e\u0301',
		limit: 2,
		shortened: 'e\u0301e\u0301',
	},
	{
		name: 'keeps a text of which no character fits with an ellipsis',
		text: 'ab',
		limit: 1,
		shortened: 'ab',
	},
	{ name: 'keeps blanks alone', text: '   ', limit: 2, shortened: '   ' },
])('$name', ({ text, limit, shortened }) => {
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

test('keeps what fits, and whole graphemes from the beginning of everything else', () => {
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

test('keeps the whole words that fit if they are more than half of the limit, else as much as fits', () => {
	const word = fc.stringMatching(/^[a-zäé0-9%'!]{1,12}$/);
	const limits = fc.integer({ min: 2, max: 60 });
	fc.assert(
		fc.property(fc.array(word, { minLength: 2, maxLength: 20 }), limits, (words, limit) => {
			const text = words.join(' ');
			fc.pre(text.length > limit);
			let whole = '';
			for (const each of words) {
				const longer = `${whole} ${each}`.trim();
				if (longer.length > limit - 1) break;
				whole = longer;
			}
			const kept = whole.length > limit / 2 ? whole : text.slice(0, limit - 1).trimEnd();
			expect(shortenText(text, limit)).toBe(`${kept}…`);
		}),
	);
});

test('reads only the beginning of a long text', () => {
	const segment = jest.spyOn(Intl.Segmenter.prototype, 'segment');
	expect(shortenText('word '.repeat(200_000), 100)).toMatch(/^(word ){18}/);
	const lengths = segment.mock.calls.map(([text]) => text.length);
	expect(Math.max(...lengths)).toBeLessThanOrEqual(200);
	segment.mockRestore();
});
