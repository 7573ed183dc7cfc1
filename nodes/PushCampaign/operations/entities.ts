/** Those of HTML 4 that are no letter with an accent, letters of Central Europe, and what is written large, too. */
const named = `quot " amp & lt < gt > QUOT " AMP & LT < GT > COPY © REG ® TRADE ™ iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬
	reg ® macr ¯ deg ° plusmn ± sup2 ² sup3 ³ acute ´ micro µ para ¶ middot · cedil ¸ sup1 ¹ ordm º raquo » frac14 ¼
	frac12 ½ frac34 ¾ iquest ¿ AElig Æ ETH Ð times × Oslash Ø THORN Þ szlig ß aelig æ eth ð divide ÷ oslash ø
	thorn þ OElig Œ oelig œ fnof ƒ circ ˆ tilde ˜ Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ
	Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω
	alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο
	pi π rho ρ sigmaf ς sigma σ tau τ upsilon υ phi φ chi χ psi ψ omega ω thetasym ϑ upsih ϒ piv ϖ ndash – mdash —
	lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … permil ‰ prime ′ Prime ″
	lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ alefsym ℵ larr ← uarr ↑ rarr → darr ↓
	harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋
	prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅
	asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉
	lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ spades ♠ clubs ♣ hearts ♥ diams ♦ apos ' lstrok ł Lstrok Ł dstrok đ
	Dstrok Đ inodot ı Idot İ zdot ż Zdot Ż nbsp \u00A0 shy \u00AD ensp \u2002 emsp \u2003 thinsp \u2009
	zwnj \u200C zwj \u200D lrm \u200E rlm \u200F`;

/** The letters with accents that have names: what stands behind the letter, such as in `&eacute;`, the accent, the letters. */
const accents = `grave \u0300 aeiouAEIOU acute \u0301 acegilnorsuyzACEILNORSUYZ circ \u0302 aceghijosuwyACEGHIJOSUWY
	tilde \u0303 ainouAINOU macr \u0304 aeiouAEIOU breve \u0306 aguAGU uml \u0308 aeiouyAEIOUY ring \u030A auAU
	dblac \u030B ouOU caron \u030C cdelnrstzCDELNRSTZ cedil \u0327 cklnrstCGKLNRST ogon \u0328 aeiuAEIU`;

const accented = accents.replace(/(\w+) (.) (\w+)/g, (_whole, name, accent, letters: string) =>
	Array.from(letters, (letter) => `${letter}${name} ${letter}${accent}`).join(' '),
);

const characters = new Map<string, string>(
	Array.from(
		`${named} ${accented.normalize('NFC')}`.matchAll(/(\w+) (.)/g),
		([, name = '', character = '']) => [name, character],
	),
);

/** What browsers read for the numbers from 128 to 159: old pages mean Windows-1252. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

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
