import { decodeEntities } from './entities';

const toSet = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Elements of HTML, SVG and MathML, today's and those before them, at which a new line begins. */
const blocks =
	toSet(`address area article aside base basefont bgsound blockquote body br button canvas caption center col colgroup
	datalist dd details dialog dir div dl dt fieldset figcaption figure footer foreignobject form frame frameset h1 h2 h3 h4
	h5 h6 head header hgroup hr html iframe img isindex layer legend li link listing main map marquee menu menuitem meta
	multicol nav nextid noframes noembed nolayer noscript ol optgroup option p plaintext pre script search section select
	source style summary svg table tbody td template tfoot th thead title tr track ul video xmp`);

/** All others that there are or were. */
const inlines =
	toSet(`a abbr acronym applet audio b bdi bdo big blink cite code command content data del dfn element em embed fencedframe font
	geolocation i image input ins kbd keygen label mark meter nobr object output param permission picture portal progress q
	rb rbc rp rt rtc ruby s samp selectedcontent shadow slot small spacer span strike strong sub sup textarea time tt u var wbr
	altglyph altglyphdef altglyphitem animate animatecolor animatemotion animatetransform circle clippath cursor defs desc
	discard ellipse feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting
	fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr fegaussianblur feimage femerge
	femergenode femorphology feoffset fepointlight fespecularlighting fespotlight fetile feturbulence filter flowdiv
	flowline flowpara flowregion flowregionbreak flowregionexclude flowroot flowspan flowtref g glyph glyphref handler
	hatch hatchpath hkern line lineargradient listener marker mask mesh meshgradient meshpatch meshrow metadata mpath page
	pageset path pattern polygon polyline prefetch radialgradient rect script set solidcolor stop switch symbol tbreak text
	textpath tref tspan unknown use view vkern
	abs and annotation apply approx arccos arccosh arccot arccoth arccsc arccsch arcsec arcsech arcsin arcsinh arctan
	arctanh arg bind bvar card cartesianproduct cbytes ceiling cerror ci cn codomain complexes compose condition conjugate
	cos cosh cot coth cs csc csch csymbol curl declare degree determinant diff divergence divide domain
	domainofapplication emptyset eq equivalent eulergamma exists exp exponentiale factorial factorof false floor fn forall
	gcd geq grad gt ident imaginary imaginaryi implies in infinity int integers intersect interval inverse lambda laplacian
	lcm leq limit list ln log logbase lowlimit lt maction maligngroup malignmark math matrix matrixrow max mean median
	menclose merror mfenced mfrac mfraction mglyph mi min minus mlabeledtr mlongdiv mmultiscripts mn mo mode moment
	momentabout mover mpadded mphantom mprescripts mroot mrow ms mscarries mscarry msgroup msline mspace msqrt msrow mstack
	mstyle msub msubsup msup mtable mtd mtext mtr munder munderover naturalnumbers neq none not notanumber notin
	notprsubset notsubset or otherwise outerproduct partialdiff pi piece piecewise plus power primes product prsubset
	quotient rationals real reals reln rem root scalarproduct sdev sec sech selector semantics sep setdiff share sin sinh
	subset sum tan tanh tendsto times transpose true union uplimit variance vector vectorproduct xor`);

/** Attributes that stand without a value. Those with a hyphen or a colon are those of scripts. */
const valueless =
	/^(?:allowfullscreen|alt|async|autofocus|autoplay|border|checked|compact|contenteditable|controls|crossorigin|declare|default|defer|disabled|download|draggable|formnovalidate|hidden|href|id|inert|ismap|itemscope|loop|multiple|muted|nohref|nomodule|noresize|noshade|novalidate|nowrap|open|playsinline|popover|readonly|required|reversed|scoped|seamless|selected|sortable|src|title|truespeed|typemustmatch|value|class|style|[a-z]+[:-][\w:.-]*)$/i;

/** Names with a hyphen or a colon are those of custom elements and of XML. */
const element = String.raw`[a-z][a-z\d]*(?:[:-][\w:.-]*)?`;
/** Quotes may hold angle brackets. */
const attributes = String.raw`[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*`;
const tag = new RegExp(`</?(${element})(\\s${attributes})?/?>`, 'gi');
/** A tag that was cut off with the end of the text. */
const cutTag = new RegExp(`</?(${element})(?:(?<=/${element})|\\s[^<>=]*=[^<>]*)$`, 'i');
const closing = new RegExp(`</(${element})`, 'gi');

/** How feeds wrap HTML. */
const cdata = /<!\[CDATA\[([^]*?)(?:\]\]>|$)/g;
/** What a page does not show: a declaration and an instruction, too. */
const unseen = new RegExp(
	`<(script|style|template|noscript|svg)(?:\\s${attributes})?(?<!/)>[^]*?(?:</\\1\\s*>|$)|<!--[^]*?(?:-->|$)|<[!?][a-z][^<>]*>`,
	'gi',
);

const isElement = (name: string) => /[:-]/.test(name) || blocks.has(name) || inlines.has(name);

/** Makes plain text of HTML: without its tags, a blank in the place of those at which a new line begins. */
export function htmlToText(text: string): string {
	const shown = text.replace(cdata, '$1').replace(unseen, ' ');
	const closed = new Set(
		Array.from(shown.matchAll(closing), ([, name = '']) => name.toLowerCase()),
	);
	const withoutTag = (whole: string, written: string, attributes = '') => {
		const name = written.toLowerCase();
		const words = attributes.split(/[\s/]+/).filter(Boolean);
		const isValue = attributes.includes('=') || words.every((word) => valueless.test(word));
		// `a <b or c> d` is text.
		if (!isElement(name) || (!isValue && !closed.has(name))) return whole;
		return blocks.has(name) ? ' ' : '';
	};
	const withoutTags = shown
		.replace(tag, withoutTag)
		.replace(cutTag, (whole: string, name: string) => (isElement(name.toLowerCase()) ? '' : whole));
	// Without a tag it may be text that has its line breaks for a reason.
	const plain = withoutTags === text ? text : withoutTags.replace(/[ \t\r\n]+/g, ' ');
	return decodeEntities(plain).trim();
}
