import { capitalize } from '../service/text';

// What texts of feeds hold: lodash knows five names, and the whole list of HTML is 30 kB.

/** Names of characters from 160 on, in their order. */
const latin1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr
	deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest
	Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml
	ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig
	agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml
	eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

/** Names and characters in turn. */
const others = `amp & lt < gt > quot " apos ' ndash – mdash — horbar ― lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ”
	bdquo „ lsaquo ‹ rsaquo › hellip … bull • dagger † Dagger ‡ permil ‰ prime ′ Prime ″ minus − frasl ⁄
	euro € trade ™ OElig Œ oelig œ Scaron Š scaron š Zcaron Ž zcaron ž Yuml Ÿ fnof ƒ circ ˆ tilde ˜
	larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ hearts ♥ spades ♠ clubs ♣ diams ♦
	forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ lowast ∗ radic √ prop ∝ infin ∞ ang ∠
	and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆
	supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ oline ‾
	weierp ℘ image ℑ real ℜ alefsym ℵ thetasym ϑ upsih ϒ piv ϖ star ☆ starf ★ check ✓ num # lstrok ł Lstrok Ł
	sacute ś Sacute Ś cacute ć Cacute Ć nacute ń Nacute Ń zacute ź Zacute Ź zdot ż Zdot Ż aogon ą Aogon Ą eogon ę
	Eogon Ę ccaron č Ccaron Č ecaron ě Ecaron Ě rcaron ř Rcaron Ř dcaron ď Dcaron Ď tcaron ť Tcaron Ť ncaron ň
	Ncaron Ň uring ů Uring Ů odblac ő Odblac Ő udblac ű Udblac Ű abreve ă Abreve Ă gbreve ğ Gbreve Ğ scedil ş Scedil Ş
	inodot ı Idot İ
	excl ! quest ? comma , period . colon : semi ; lpar ( rpar ) lsqb [ rsqb ] sol / bsol \\ dollar $ percnt %
	ast * plus + equals = commat @ lowbar _ vert | lcub { rcub }`;

/** Characters that can't be written in a list of words. */
const invisible = {
	ensp: '\u2002',
	emsp: '\u2003',
	thinsp: '\u2009',
	zwnj: '\u200C',
	zwj: '\u200D',
	lrm: '\u200E',
	rlm: '\u200F',
	Tab: '\t',
	NewLine: '\n',
};

/** Names of Greek letters from Α (913) on, in their order, in lower case; 930 is none, and 962 has no capital. */
const greek = `alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma
	tau upsilon phi chi psi omega`;

const words = (list: string) => list.split(/\s+/);

const namedCharacters: ReadonlyMap<string, string> = new Map([
	...words(latin1).map((name, index) => [name, String.fromCodePoint(160 + index)] as const),
	...words(greek).flatMap((name, index) => [
		[name, String.fromCodePoint(945 + index)] as const,
		[capitalize(name), String.fromCodePoint(913 + index)] as const,
	]),
	...[...others.matchAll(/(\S+) (\S)/gu)].map(
		([, name = '', character = '']) => [name, character] as const,
	),
	...Object.entries(invisible),
]);

/** What browsers read for the numbers from 128 on: old pages mean Windows-1252. HTML Standard, 13.2.5.80. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

function numberedCharacter(code: number): string {
	const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
	if (!isCharacter) return '\uFFFD';
	return windows1252[code - 128] ?? String.fromCodePoint(code);
}

const entity = /&(?:#(\d{1,9})|#x([\da-f]{1,8})|([a-z][a-z\d]{1,30}));/gi;

function decoded(text: string): string {
	return text.replace(entity, (whole, decimal?: string, hex?: string, name?: string) => {
		if (decimal !== undefined) return numberedCharacter(Number(decimal));
		if (hex !== undefined) return numberedCharacter(Number.parseInt(hex, 16));
		return namedCharacters.get(name ?? '') ?? whole;
	});
}

/** What may stand in a tag behind its name. Within quotes, `>` does not end it. */
const attributes = `(?:[\\s/](?:"[^"<]*"|'[^'<]*'|[^<>"'])*)?`;

/** A tag, an end tag, a comment, a declaration, an instruction, or where CDATA begins. `5 < 7` is none. */
const tag = new RegExp(
	`</?([a-z][a-z\\d:-]*)${attributes}>|<!--[^]*?(?:-->|$)|<[!?][a-z][^<>]*>|<!\\[CDATA\\[`,
	'gi',
);

/** How feeds wrap HTML. */
const cdata = /<!\[CDATA\[([^]*?)(?:\]\]>|$)/g;

/** What is never shown of a page. */
const unseen = new RegExp(`<(script|style)${attributes}>[^]*?(?:</\\1\\s*>|$)`, 'gi');

/** Tags at which a new line begins. */
const breaking =
	/^(address|article|blockquote|br|dd|div|dl|dt|figure|h[1-6]|hr|li|ol|p|pre|section|table|td|th|tr|ul)$/i;

/** Whether a text holds tags or entities, which subscribers would see as they are. */
export const holdsHtml = (text: string) =>
	text.search(tag) !== -1 || [...text.matchAll(entity)].some(([whole]) => decoded(whole) !== whole);

/** Makes plain text of HTML: without its tags, with a blank in the place of those at which a new line begins. */
export function htmlToText(text: string): string {
	if (!holdsHtml(text)) return text;
	const blank = text
		.replace(cdata, '$1')
		.replace(unseen, ' ')
		.replace(tag, (_whole, name?: string) => (breaking.test(name ?? '') ? ' ' : ''));
	return decoded(blank)
		.replace(/[ \t\r\n]+/g, ' ')
		.trim();
}
