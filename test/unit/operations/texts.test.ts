import * as fc from 'fast-check';

import { decodeEntities, htmlToText, shorten } from '../../../nodes/PushCampaign/operations/texts';
import { countCharacters } from '../../../nodes/PushCampaign/service/text';
import { anyCodePoints } from '../../support/text';

describe('HTML becomes text', () => {
	test.each([
		{ html: '<p>One</p><p>Two</p>', text: 'One Two' },
		{ html: 'Big <b class="x">sale</b> <em>today</em>', text: 'Big sale today' },
		{ html: 'One<br/>two<BR>three<hr />four', text: 'One two three four' },
		{ html: '<a href="https://a.example/?x=1>2" title=\'a > b\'>Read</a> on', text: 'Read on' },
		{ html: 'Read <img src=a.png alt="">it', text: 'Read it' },
		{ html: '<style>p > a { color: red }</style>Text<script>if (a < b) {}</script>', text: 'Text' },
		{ html: 'A<!-- <p>hidden</p> -->B', text: 'A B' },
		{ html: '<my-card wide="1">Card</my-card><o:p></o:p>', text: 'Card' },
		{ html: 'Read on <a href="https://exa', text: 'Read on' },
		{ html: 'Read <b>on</', text: 'Read on</' },
		{ html: 'Read <b>on</b', text: 'Read on' },
		{ html: '<p>\n\tIndented\n\ttext</p>\n', text: 'Indented text' },
		{ html: 'a<b or c>d', text: 'a<b or c>d' },
		{ html: 'x<y or z>w', text: 'x<y or z>w' },
		{ html: '5 < 7 > 3 and a<b', text: '5 < 7 > 3 and a<b' },
		{ html: 'Why Array<string> <3', text: 'Why Array<string> <3' },
		{ html: 'Two\nlines  of text', text: 'Two\nlines  of text' },
		{ html: 'Use the &lt;b&gt; tag', text: 'Use the <b> tag' },
	])('$html', ({ html, text }) => {
		expect(htmlToText(html)).toBe(text);
	});

	test.each([
		{ encoded: 'Don&#8217;t &#x2014; wait', text: 'Don’t — wait' },
		{ encoded: 'Don&#146;t pay 5 &#128;', text: 'Don’t pay 5 €' },
		{
			encoded: 'Fish &amp; chips &lt;now&gt; &quot;x&quot; &apos;y&apos;',
			text: 'Fish & chips <now> "x" \'y\'',
		},
		{ encoded: 'a&nbsp;b&ndash;c&mdash;d&hellip;', text: 'a\u00A0b–c—d…' },
		{ encoded: '&lsquo;a&rsquo; &ldquo;b&rdquo; &laquo;c&raquo;', text: '‘a’ “b” «c»' },
		{
			encoded: 'M&uuml;nchen, Caf&eacute;, &Ccedil;a, Gru&szlig;',
			text: 'München, Café, Ça, Gruß',
		},
		{ encoded: '5&euro; &copy; &reg; &trade; &bull;', text: '5€ © ® ™ •' },
		{ encoded: 'Don&amp;#8217;t &amp;amp; can&amp;rsquo;t', text: 'Don’t & can’t' },
		{ encoded: '&#55356;&#57143;', text: '🌷' },
		{
			encoded: 'AT&T &unknown; &#0; &#99999999; & &amp',
			text: 'AT&T &unknown; &#0; &#99999999; & &amp',
		},
		{ encoded: 'https://shop.example/?p=8&#038;a=x', text: 'https://shop.example/?p=8&a=x' },
		{ encoded: 'https://shop.example/?p=8&copy=1', text: 'https://shop.example/?p=8&copy=1' },
	])('$encoded is decoded', ({ encoded, text }) => {
		expect(decodeEntities(encoded)).toBe(text);
	});
});

const family = '👨‍👩‍👧‍👦';

describe('a long text is cut', () => {
	test.each([
		{ name: 'not if it fits', text: 'Exactly ten', limit: 11, short: 'Exactly ten' },
		{ name: 'behind a word', text: 'Sale starts today', limit: 14, short: 'Sale starts…' },
		{
			name: 'behind a word that just fits',
			text: 'Sale starts today',
			limit: 12,
			short: 'Sale starts…',
		},
		{
			name: 'behind the word in front of one that does not fit',
			text: 'Our sale starts',
			limit: 11,
			short: 'Our sale…',
		},
		{
			name: 'without what hangs on the word',
			text: 'Sale starts, and more',
			limit: 15,
			short: 'Sale starts…',
		},
		{
			name: 'in a word if not more than half would stay',
			text: 'A verylongword',
			limit: 10,
			short: 'A verylon…',
		},
		{ name: 'in an address', text: 'https://shop.example/sale', limit: 10, short: 'https://s…' },
		{
			name: 'between characters that take several code points',
			text: family.repeat(3),
			limit: 20,
			short: `${family.repeat(2)}…`,
		},
		{
			name: 'between characters of a script without blanks',
			text: '夏季大减价今天开始',
			limit: 6,
			short: '夏季大减价…',
		},
		{ name: 'not if its first character does not fit', text: family, limit: 5, short: family },
	])('$name', ({ text, limit, short }) => {
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
