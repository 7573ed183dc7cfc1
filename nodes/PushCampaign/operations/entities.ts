/** Those of HTML 4 that are no letter with an accent, and letters of Central Europe. */
const named = `quot " amp & lt < gt > iexcl ¡ cent ¢ pound £ curren ¤ yen ¥ brvbar ¦ sect § uml ¨ copy © ordf ª laquo « not ¬
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

/** What stands behind a letter in a name, such as in `&eacute;`, and the accent that it puts on the letter. */
const accented = `grave \u0300 acute \u0301 circ \u0302 tilde \u0303 macr \u0304 breve \u0306 uml \u0308 ring \u030A
	dblac \u030B caron \u030C cedil \u0327 ogon \u0328`;

/** Of a table of names and characters in turn. */
const toMap = (table: string): ReadonlyMap<string, string> =>
	new Map(
		[...table.matchAll(/(\w+) (.)/g)].map(([, name = '', character = '']) => [name, character]),
	);
const characters = toMap(named);
const accents = toMap(accented);

/** What browsers read for the numbers from 128 to 159: old pages mean Windows-1252. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ';

function numberedCharacter(code: number): string | undefined {
	if (code === 0 || code > 0x10ffff) return undefined;
	return windows1252[code - 128] ?? String.fromCodePoint(code);
}

function namedCharacter(name: string): string | undefined {
	const accent = accents.get(name.slice(1));
	if (accent === undefined) return characters.get(name);
	const letter = `${name.charAt(0)}${accent}`.normalize('NFC');
	return letter.length === 1 ? letter : undefined;
}

/** Decodes HTML entities, also those that were encoded twice: `&amp;#8217;`. An unknown one stays as it is. */
export const decodeEntities = (text: string): string =>
	text.replace(
		/&(?:amp;)*(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));/gi,
		(whole: string, decimal?: string, hex?: string, name?: string) => {
			if (name !== undefined) return namedCharacter(name) ?? whole;
			const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
			return numberedCharacter(code) ?? whole;
		},
	);

/** Decodes the ampersands of an address, which feeds write as `&amp;` or `&#038;`: nobody means these. */
export const decodeAmpersands = (url: string): string =>
	url.replace(/&(?:amp;|#0*38;|#x0*26;)+/gi, '&');
