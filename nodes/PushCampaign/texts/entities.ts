/**
 * Those of HTML 4 that are no letter with an accent, and XML's `apos`: the number of a character, its name, and the names of
 * the characters behind it.
 */
const named = `34 quot 38 amp apos 60 lt 62 gt 160 nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy
	reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest 198 AElig
	208 ETH 215 times Oslash 222 THORN szlig 230 aelig 240 eth 247 divide oslash 254 thorn 338 OElig oelig 402 fnof
	710 circ 732 tilde 913 Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho 931
	Sigma Tau Upsilon Phi Chi Psi Omega 945 alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi
	omicron pi rho sigmaf sigma tau upsilon phi chi psi omega 977 thetasym upsih 982 piv 8194 ensp emsp 8201 thinsp
	8204 zwnj zwj lrm rlm 8211 ndash mdash 8216 lsquo rsquo sbquo 8220 ldquo rdquo bdquo 8224 dagger Dagger bull 8230
	hellip 8240 permil 8242 prime Prime 8249 lsaquo rsaquo 8254 oline 8260 frasl 8364 euro 8465 image 8472 weierp 8476
	real 8482 trade 8501 alefsym 8592 larr uarr rarr darr harr 8629 crarr 8656 lArr uArr rArr dArr hArr 8704 forall
	8706 part exist 8709 empty 8711 nabla isin notin 8715 ni 8719 prod 8721 sum minus 8727 lowast 8730 radic 8733 prop
	infin 8736 ang 8743 and or cap cup int 8756 there4 8764 sim 8773 cong 8776 asymp 8800 ne equiv 8804 le ge 8834 sub
	sup nsub 8838 sube supe 8853 oplus 8855 otimes 8869 perp 8901 sdot 8968 lceil rceil lfloor rfloor 9674 loz 9824
	spades 9827 clubs 9829 hearts diams 10216 lang rang`;

/** The letters with accents: what stands behind the letter, such as in `&eacute;`, the accent, the letters. */
const accents = `grave \u0300 aeiouAEIOU acute \u0301 aeiouyAEIOUY circ \u0302 aeiouAEIOU tilde \u0303 anoANO
	uml \u0308 aeiouyAEIOUY ring \u030A aA caron \u030C sS cedil \u0327 cC`;

const characters = new Map<string, string>();
for (const [, name, accent, letters = ''] of accents.matchAll(/(\w+) (.) (\w+)/g)) {
	for (const letter of letters) {
		characters.set(`${letter}${name}`, `${letter}${accent}`.normalize('NFC'));
	}
}
let next = 0;
for (const word of named.split(/\s+/)) {
	if (/^\d+$/.test(word)) next = Number(word);
	else characters.set(word, String.fromCodePoint(next++));
}

/** What browsers read for the numbers from 128 to 159: old pages mean Windows-1252. */
export const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

function numberedCharacter(code: number): string | undefined {
	if (code === 0 || code > 0x10ffff) return undefined;
	return windows1252[code - 128] ?? String.fromCodePoint(code);
}

/** An ampersand that was encoded itself stands in front: `&amp;#8217;`, `&#38;#8217;`. */
const entity =
	/&(?:(?:amp|#0*38|#x0*26);)*(#0*(\d{1,7})(?!\d);?|#x0*([\da-f]{1,6})(?![\da-f]);?|([a-z][a-z\d]{1,7});)/gi;

/** Decodes HTML entities, also those that were encoded twice. An unknown one stays as it is, behind its ampersand. */
export const decodeEntities = (text: string): string =>
	text.replace(entity, (_whole, rest: string, decimal?: string, hex?: string, name?: string) => {
		if (name !== undefined) return characters.get(name) ?? `&${rest}`;
		const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
		return numberedCharacter(code) ?? `&${rest}`;
	});

/** Decodes the ampersands of an address, which feeds write as `&amp;` or `&#038;`: nobody means these. */
export const decodeAmpersands = (url: string): string =>
	url.replace(/&(?:amp;|#0*38;|#x0*26;)+/gi, '&');
