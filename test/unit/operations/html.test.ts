import * as fc from 'fast-check';
import { holdsHtml, htmlToText } from '../../../nodes/PushCampaign/operations/html';

test.each([
	{ name: 'numbers', html: 'won&#8217;t &#x2019;', text: 'won’t ’' },
	{ name: 'numbers of Windows-1252', html: '&#146;&#128;&#129;', text: '’€\u0081' },
	{
		name: 'numbers that are no character',
		html: '&#0;&#xD83C;&#999999999;',
		text: '\uFFFD\uFFFD\uFFFD',
	},
	{ name: 'common names', html: '&lt;&gt;&amp;&quot;&apos;', text: '<>&"\'' },
	{ name: 'names of Latin-1', html: 'a&nbsp;&copy;&Agrave;&szlig;&yuml;', text: 'a\u00A0©Àßÿ' },
	{ name: 'typographic names', html: '&ndash;&hellip;&euro;&rsquo;&zwj;', text: '–…€’\u200D' },
	{ name: 'each entity once', html: '&amp;lt;', text: '&lt;' },
	{ name: 'tags within a word', html: '<b class="x">N</b>ew<img src="a"/>', text: 'New' },
	{
		name: 'tags at which a line ends',
		html: '<p>One</p><p>Two<br>Three</p>',
		text: 'One Two Three',
	},
	{ name: 'what a page never shows', html: 'A<script>x<y</script><!-- c -->B', text: 'A B' },
	{ name: 'what is left open', html: 'A<style>b', text: 'A' },
	{
		name: 'names of Greek letters',
		html: '&alpha;&sigmaf;&sigma;&omega;&Alpha;&Omega;',
		text: 'αςσωΑΩ',
	},
	{ name: 'names of symbols', html: '&rArr;&spades;&sum;&lang;&oline;&sacute;', text: '⇒♠∑⟨‾ś' },
	{ name: 'tags with a prefix', html: '<o:p>Hi</o:p>', text: 'Hi' },
	{ name: 'CDATA', html: '<![CDATA[<b>Hi</b>]]>', text: 'Hi' },
	{
		name: 'what comes before a document',
		html: '<?xml version="1.0"?><!DOCTYPE html>Hi',
		text: 'Hi',
	},
	{ name: 'angle brackets in attributes', html: '<img alt="a > b" src=\'>\'>Hi', text: 'Hi' },
])('HTML becomes text: $name', ({ html, text }) => {
	expect(holdsHtml(html)).toBe(true);
	expect(htmlToText(html)).toBe(text);
});

test.each(['5 < 7 > 3', 'I <3 you', 'AT&T', 'R&D; more', 'a\n b', '&nosuchname;', 'x <y'])(
	'text that is no HTML stays as it is: %j',
	(text) => {
		expect(holdsHtml(text)).toBe(false);
		expect(htmlToText(text)).toBe(text);
	},
);

test('any text in entities becomes itself', () => {
	const anyCharacter = fc
		.integer({ min: 0xa0, max: 0x10ffff })
		.filter((code) => code < 0xd800 || code > 0xdfff)
		.map((code) => String.fromCodePoint(code));
	fc.assert(
		fc.property(fc.array(anyCharacter, { minLength: 1 }), fc.boolean(), (characters, isHex) => {
			const entityOf = (character: string) => {
				const code = character.codePointAt(0) ?? 0;
				return isHex ? `&#x${code.toString(16)};` : `&#${code};`;
			};
			const text = `|${characters.join('')}|`;
			expect(htmlToText(`|${characters.map(entityOf).join('')}|`)).toBe(text);
		}),
	);
});

test('much of what is left open is read once', () => {
	for (const open of ['<script>', '<!--', '<a ', '<a "', `<a '"`, '<![CDATA[', '&#', '</']) {
		expect(htmlToText(open.repeat(200_000)).length).toBeLessThanOrEqual(open.length * 200_000);
	}
});
