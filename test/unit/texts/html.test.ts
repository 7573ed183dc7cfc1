import * as fc from 'fast-check';

import { countCharacters } from '../../../nodes/PushCampaign/service/text';
import { decodeAmpersands, decodeEntities } from '../../../nodes/PushCampaign/texts/entities';
import { htmlToText } from '../../../nodes/PushCampaign/texts/html';
import { shorten } from '../../../nodes/PushCampaign/texts/shorten';
import { anyCodePoints } from '../../support/text';

describe('HTML', () => {
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
		['a < b, c > d and x <3', 'a < b, c > d and x <3'],
		['Two\nlines  of text', 'Two\nlines  of text'],
		['Use the &lt;b&gt; tag', 'Use the <b> tag'],
		['<![CDATA[<b>Hi</b>]]>', 'Hi'],
		['<?xml version="1.0"?><!DOCTYPE html>Hi', 'Hi'],
		['Text <script src="https://a.exa', 'Text'],
		['How the <template> element works', 'How the element works'],
		['Put <script async> behind <STYLE>, not <svg>', 'Put behind , not'],
		['Why <noscript> matters<script>x="<!--"</script> today', 'Why matters today'],
		['<style>a</style>One<style>b</style > two <style>three', 'One two three'],
		['One<![if !vml]><img src="a.png"><![endif]>two<![if gte mso 9]>', 'One two'],
		['<!--[if !mso]><!-->One<!--<![endif]-->', 'One'],
		['<img src="a.png" alt="🔥" class="wp-smiley" style="height: 1em;" /> Hot', '🔥 Hot'],
		["Hot<img class='emoji big' draggable=false alt='&#x1f525;'>", 'Hot🔥'],
		['<IMG CLASS="wp-smiley" ALT=":)"> and <img class=emoji alt=🇩🇪/>', ':) and 🇩🇪'],
		['<img alt=":fire:" class="emoji">A<img alt="🔥" class="noemoji">B<img class="emoji">', 'A B'],
		['<mrow>x</mrow><circle r="1"/><tspan>y</tspan> <unknown>z</unknown>', 'xy z'],
		['Text</script> goes on</STYLE>', 'Text goes on'],
		['A<script type="text/javascript">b</script>C', 'A C'],
		['x <y', 'x <y'],
		['I <3 you, R&D; more', 'I <3 you, R&D; more'],
		['One<noscript><img src="a.png"></noscript>two', 'One two'],
		['One<template><p>Card</p></template>two', 'One two'],
		['One <svg viewBox="0 0 1 1"><title>Arrow</title><path d="M0"/></svg>two', 'One two'],
		['<noscript data-a="<p>">a</noscript>One', 'One'],
		['<p title="a < b">One</p>', 'One'],
		['<img alt="1 > 0 <b>" src=\'<a>\'>One', 'One'],
		['<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>', '漢(kan)'],
		['Our <big sale> <x:y_z@1>today', 'Our today'],
	])('%j becomes the text %j', (html, text) => {
		expect(htmlToText(html)).toBe(text);
	});

	test.each([
		['Don&#8217;t &#x2014; wait', 'Don’t — wait'],
		['Don&#146;t pay 5 &#128;', 'Don’t pay 5 €'],
		['Fish &amp; chips &lt;now&gt; &quot;x&quot; &apos;y&apos;', 'Fish & chips <now> "x" \'y\''],
		['Don&amp;#8217;t &amp;amp; can&amp;rsquo;t', 'Don’t & can’t'],
		['&#55356;&#57143;', '🌷'],
		['AT&T &unknown; &#0; &#99999999; & &amp', 'AT&T &unknown; &#0; &#99999999; & &amp'],
		['&#129;&#xD83C;', '\u0081\ud83c'],
		['&qacute;&ygrave;&Acaron;&xuml;', '&qacute;&ygrave;&Acaron;&xuml;'],
		['&#38;#8217; &#x26;#8217; &#038;amp;#8217; &amp;#38;#8217;', '’ ’ ’ ’'],
		['Don&#8217t &#x2019s &#8217', 'Don’t ’s ’'],
		['Barnes&amp;Noble; A&#38;Bcd; &amp;amp;Co1; &amp;#0;', 'Barnes&Noble; A&Bcd; &Co1; &#0;'],
		['&AMP;#8217; &#0000008217; &#X2019;', '’ ’ ’'],
		['https://shop.example/?p=8&copy=1', 'https://shop.example/?p=8&copy=1'],
	])('%j is decoded to %j', (encoded, text) => {
		expect(decodeEntities(encoded)).toBe(text);
	});
});

/** HTML 4.01, 24: the names of its 252 entities and the characters' numbers; angle brackets as browsers read them. */
const html4 = `quot 34 amp 38 lt 60 gt 62 nbsp 160 iexcl 161 cent 162 pound 163 curren 164 yen 165 brvbar 166 sect 167
	uml 168 copy 169 ordf 170 laquo 171 not 172 shy 173 reg 174 macr 175 deg 176 plusmn 177 sup2 178 sup3 179
	acute 180 micro 181 para 182 middot 183 cedil 184 sup1 185 ordm 186 raquo 187 frac14 188 frac12 189 frac34 190
	iquest 191 Agrave 192 Aacute 193 Acirc 194 Atilde 195 Auml 196 Aring 197 AElig 198 Ccedil 199 Egrave 200
	Eacute 201 Ecirc 202 Euml 203 Igrave 204 Iacute 205 Icirc 206 Iuml 207 ETH 208 Ntilde 209 Ograve 210
	Oacute 211 Ocirc 212 Otilde 213 Ouml 214 times 215 Oslash 216 Ugrave 217 Uacute 218 Ucirc 219 Uuml 220
	Yacute 221 THORN 222 szlig 223 agrave 224 aacute 225 acirc 226 atilde 227 auml 228 aring 229 aelig 230
	ccedil 231 egrave 232 eacute 233 ecirc 234 euml 235 igrave 236 iacute 237 icirc 238 iuml 239 eth 240
	ntilde 241 ograve 242 oacute 243 ocirc 244 otilde 245 ouml 246 divide 247 oslash 248 ugrave 249 uacute 250
	ucirc 251 uuml 252 yacute 253 thorn 254 yuml 255 OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376 fnof 402
	circ 710 tilde 732 Alpha 913 Beta 914 Gamma 915 Delta 916 Epsilon 917 Zeta 918 Eta 919 Theta 920 Iota 921
	Kappa 922 Lambda 923 Mu 924 Nu 925 Xi 926 Omicron 927 Pi 928 Rho 929 Sigma 931 Tau 932 Upsilon 933 Phi 934
	Chi 935 Psi 936 Omega 937 alpha 945 beta 946 gamma 947 delta 948 epsilon 949 zeta 950 eta 951 theta 952
	iota 953 kappa 954 lambda 955 mu 956 nu 957 xi 958 omicron 959 pi 960 rho 961 sigmaf 962 sigma 963 tau 964
	upsilon 965 phi 966 chi 967 psi 968 omega 969 thetasym 977 upsih 978 piv 982 ensp 8194 emsp 8195 thinsp 8201
	zwnj 8204 zwj 8205 lrm 8206 rlm 8207 ndash 8211 mdash 8212 lsquo 8216 rsquo 8217 sbquo 8218 ldquo 8220
	rdquo 8221 bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230 permil 8240 prime 8242 Prime 8243
	lsaquo 8249 rsaquo 8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472 real 8476 trade 8482
	alefsym 8501 larr 8592 uarr 8593 rarr 8594 darr 8595 harr 8596 crarr 8629 lArr 8656 uArr 8657 rArr 8658
	dArr 8659 hArr 8660 forall 8704 part 8706 exist 8707 empty 8709 nabla 8711 isin 8712 notin 8713 ni 8715
	prod 8719 sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin 8734 ang 8736 and 8743 or 8744 cap 8745
	cup 8746 int 8747 there4 8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801 le 8804 ge 8805 sub 8834
	sup 8835 nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869 sdot 8901 lceil 8968 rceil 8969
	lfloor 8970 rfloor 8971 lang 10216 rang 10217 loz 9674 spades 9824 clubs 9827 hearts 9829 diams 9830`;

test('all names of HTML 4 are decoded', () => {
	const entities = [...html4.matchAll(/(\S+) (\d+)/g)];
	expect(entities).toHaveLength(252);
	const decoded = entities.map(([, name]) => decodeEntities(`&${name};`));
	expect(decoded).toEqual(entities.map(([, , code]) => String.fromCodePoint(Number(code))));
});

test('numbers up to the last character are decoded, and others stay', () => {
	expect(decodeEntities('&#x10FFFF;&#1114111;')).toBe('\u{10FFFF}\u{10FFFF}');
	expect(decodeEntities('&#x110000;&#1114112;&#0;')).toBe('&#x110000;&#1114112;&#0;');
});

test.each([
	['https://a.example/?p=8&amp;a=x&#038;b&#38;c&#x26;d', 'https://a.example/?p=8&a=x&b&c&d'],
	['https://a.example/?a&amp;amp;b&amp;#038;c', 'https://a.example/?a&b&c'],
	['https://a.example/?a&copy;&lt;', 'https://a.example/?a&copy;&lt;'],
])('in %s ampersands alone are decoded', (url, decoded) => {
	expect(decodeAmpersands(url)).toBe(decoded);
});

const family = '👨‍👩‍👧‍👦';

describe('a long text is cut', () => {
	test.each([
		['not if it fits', 'Exactly ten', 11, 'Exactly ten'],
		['behind a word', 'Sale starts today', 14, 'Sale starts…'],
		['behind a word that just fits', 'Sale starts today', 12, 'Sale starts…'],
		['behind the word in front of one that does not fit', 'Our sale starts', 11, 'Our sale…'],
		['without what hangs on the word', 'Sale starts, and more', 15, 'Sale starts…'],
		['without all that hangs on the word', 'Sale starts, – and more', 17, 'Sale starts…'],
		['in a word if just half would stay', 'Sales averylongword', 10, 'Sales ave…'],
		['in a word if not more than half would stay', 'A verylongword', 10, 'A verylon…'],
		['in an address', 'https://shop.example/sale', 10, 'https://s…'],
		['between emoji of several code points', family.repeat(3), 20, `${family.repeat(2)}…`],
		['between characters of a script without blanks', '夏季大减价今天开始', 6, '夏季大减价…'],
		['not if its first character does not fit', family, 5, family],
	])('%s: %j within %i characters', (_name, text, limit, short) => {
		expect(shorten(text, limit)).toBe(short);
	});

	const words = [
		'sale',
		'today,',
		family,
		'e\u0301te\u0301',
		'🇩🇪🇫🇷',
		'—',
		'https://shop.example/a',
	];
	const word = fc.oneof(fc.constantFrom(...words), anyCodePoints({ maxLength: 12 }));
	const anyText = fc.array(word, { maxLength: 60 }).map((some) => some.join(' '));
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
