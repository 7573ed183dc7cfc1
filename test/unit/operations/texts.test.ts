import * as fc from 'fast-check';

import { decodeEntities, htmlToText, shorten } from '../../../nodes/PushCampaign/operations/texts';
import { countCharacters } from '../../../nodes/PushCampaign/service/text';
import { anyCodePoints } from '../../support/text';

describe('HTML becomes text', () => {
	test.each([
		['<p>One</p><p>Two</p>', 'One Two'],
		['Big <b class="x">sale</b> <em>today</em>', 'Big sale today'],
		['One<br/>two<BR>three<hr />four', 'One two three four'],
		['<a href="https://a.example/?x=1>2" title=\'a > b\'>Read</a> on', 'Read on'],
		['Read <img src=a.png alt="">it', 'Read it'],
		['<style>p > a { color: red }</style>Text<script>if (a < b) {}</script>', 'Text'],
		['A<!-- <p>hidden</p> -->B', 'A B'],
		['<my-card wide="1">Card</my-card><o:p></o:p>', 'Card'],
		['Read on <a href="https://exa', 'Read on'],
		['Read <b>on</', 'Read on</'],
		['Read <b>on</b', 'Read on'],
		['<p>\n\tIndented\n\ttext</p>\n', 'Indented text'],
		['a<b or c>d', 'a<b or c>d'],
		['x<y or z>w', 'x<y or z>w'],
		['5 < 7 > 3 and a<b', '5 < 7 > 3 and a<b'],
		['Why Array<string> <3', 'Why Array<string> <3'],
		['Two\nlines  of text', 'Two\nlines  of text'],
		['Use the &lt;b&gt; tag', 'Use the <b> tag'],
	])('%s', (html, text) => {
		expect(htmlToText(html)).toBe(text);
	});

	test.each([
		['Don&#8217;t &#x2014; wait', 'Don’t — wait'],
		['Don&#146;t pay 5 &#128;', 'Don’t pay 5 €'],
		['Fish &amp; chips &lt;now&gt; &quot;x&quot; &apos;y&apos;', 'Fish & chips <now> "x" \'y\''],
		['a&nbsp;b&ndash;c&mdash;d&hellip;', 'a\u00A0b–c—d…'],
		['&lsquo;a&rsquo; &ldquo;b&rdquo; &laquo;c&raquo;', '‘a’ “b” «c»'],
		['M&uuml;nchen, Caf&eacute;, &Ccedil;a, Gru&szlig;', 'München, Café, Ça, Gruß'],
		['5&euro; &copy; &reg; &trade; &bull;', '5€ © ® ™ •'],
		['Don&amp;#8217;t &amp;amp; can&amp;rsquo;t', 'Don’t & can’t'],
		['&#55356;&#57143;', '🌷'],
		['AT&T &unknown; &#0; &#99999999; & &amp', 'AT&T &unknown; &#0; &#99999999; & &amp'],
		['https://shop.example/?p=8&#038;a=x', 'https://shop.example/?p=8&a=x'],
		['https://shop.example/?p=8&copy=1', 'https://shop.example/?p=8&copy=1'],
	])('%s is decoded', (encoded, text) => {
		expect(decodeEntities(encoded)).toBe(text);
	});
});

const family = '👨‍👩‍👧‍👦';

describe('a long text is cut', () => {
	test.each([
		['not if it fits', 'Exactly ten', 11, 'Exactly ten'],
		['behind a word', 'Sale starts today', 14, 'Sale starts…'],
		['behind a word that just fits', 'Sale starts today', 12, 'Sale starts…'],
		['behind the word in front of one that does not fit', 'Our sale starts', 11, 'Our sale…'],
		['without what hangs on the word', 'Sale starts, and more', 15, 'Sale starts…'],
		['in a word if not more than half would stay', 'A verylongword', 10, 'A verylon…'],
		['in an address', 'https://shop.example/sale', 10, 'https://s…'],
		[
			'between characters that take several code points',
			family.repeat(3),
			20,
			`${family.repeat(2)}…`,
		],
		['between characters of a script without blanks', '夏季大减价今天开始', 6, '夏季大减价…'],
		['not if its first character does not fit', family, 5, family],
	])('%s', (_name, text, limit, short) => {
		expect(shorten(text, limit)).toBe(short);
	});

	const word = fc.oneof(
		fc.constantFrom(
			'sale',
			'today,',
			family,
			'e\u0301te\u0301',
			'🇩🇪🇫🇷',
			'—',
			'https://shop.example/a',
		),
		anyCodePoints({ maxLength: 12 }),
	);
	const anyText = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));
	const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

	test('to a beginning of whole characters that fits, whatever the text', () => {
		fc.assert(
			fc.property(anyText, fc.constantFrom(20, 100, 255), (text, limit) => {
				const short = shorten(text, limit);
				if (countCharacters(text) <= limit) return expect(short).toBe(text);
				if (short === text) return;
				expect(countCharacters(short)).toBeLessThanOrEqual(limit);
				expect(short.endsWith('…')).toBe(true);
				const kept = short.slice(0, -1);
				expect(text.startsWith(kept)).toBe(true);
				const cut = graphemes.segment(text).containing(kept.length);
				expect(cut?.index).toBe(kept.length);
			}),
			{ numRuns: 3000 },
		);
	});
});
