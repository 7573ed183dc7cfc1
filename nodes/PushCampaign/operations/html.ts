import { decodeEntities } from './entities';

const toSet = (names: string): ReadonlySet<string> => new Set(names.split(/\s+/));

/** Elements of HTML at which a new line begins. */
const blocks =
	toSet(`address area article aside base blockquote body br button canvas caption center col colgroup datalist dd details
	dialog dir div dl dt fieldset figcaption figure footer form frame h1 h2 h3 h4 h5 h6 head header hgroup hr html
	iframe img legend li link main map menu meta nav noscript ol optgroup option p pre script search section
	select source style summary svg table tbody td template tfoot th thead title tr track ul video`);

/** All others that it has, and old ones that nothing closes. The rest is known by how it ends, as SVG and MathML are. */
const inlines =
	toSet(`a abbr audio b basefont bdi bdo bgsound big cite code command data del dfn em embed font i
	image input ins isindex kbd keygen label mark math menuitem meter nextid object output param picture progress q rp rt
	ruby s samp slot small spacer span strike strong sub sup textarea time tt u var wbr`);

/** Attributes that stand without a value. Those with a hyphen or a colon are those of scripts. */
const valueless =
	/^(?:allowfullscreen|alt|async|autofocus|autoplay|checked|contenteditable|controls|crossorigin|default|defer|disabled|download|hidden|href|id|inert|ismap|itemscope|loop|multiple|muted|nomodule|noshade|novalidate|nowrap|open|playsinline|readonly|required|reversed|selected|src|title|value|class|style|[a-z]+[:-][\w:.-]*)$/i;

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
/** What a page does not show: comments, declarations, instructions and conditions; and elements, of which this is where they begin. */
const unseen = `<!--[^]*?(?:-->|$)|<[!?][a-z[][^<>]*>|<(script|style|template|noscript|svg)(?:\\s${attributes})?(?<!/)>`;

/** Where an element ends that begins in front of an index; -1 if it is not closed. */
function endOf(name: string, text: string, from: number): number {
	const end = new RegExp(`</${name}\\s*>`, 'gi');
	end.lastIndex = from;
	return end.test(text) ? end.lastIndex : -1;
}

/** Leaves out what a page does not show. An element that is not closed is one that the text is about. */
function withoutUnseen(text: string): string {
	const begin = new RegExp(unseen, 'gi');
	// So that the text is not searched again from each of many.
	const unclosed = new Set<string>();
	let shown = '';
	let from = 0;
	for (let found = begin.exec(text); found !== null; found = begin.exec(text)) {
		const name = found[1]?.toLowerCase() ?? '';
		if (unclosed.has(name)) continue;
		const end = name === '' ? begin.lastIndex : endOf(name, text, begin.lastIndex);
		if (end === -1) {
			unclosed.add(name);
			continue;
		}
		shown += `${text.slice(from, found.index)} `;
		from = end;
		begin.lastIndex = end;
	}
	return shown + text.slice(from);
}

/** The value of an attribute of a tag. */
function valueOf(attributes: string, name: string): string {
	const pattern = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)'|([^\\s"'/]+))`, 'i');
	const [, double, single, bare = ''] = pattern.exec(attributes) ?? [];
	return double ?? single ?? bare;
}

/** The emoji that a picture stands for, as WordPress makes them; empty if it is another picture. */
function emojiOf(attributes: string): string {
	if (!/(?:^|\s)(?:wp-smiley|emoji)(?!\S)/i.test(valueOf(attributes, 'class'))) return '';
	const alt = decodeEntities(valueOf(attributes, 'alt'));
	// `:fire:` is a name.
	return /[a-z]{2}/i.test(alt) ? '' : alt;
}

/** Makes plain text of HTML: without its tags, a blank in the place of those at which a new line begins. */
export function htmlToText(text: string): string {
	const shown = withoutUnseen(text.replace(cdata, '$1'));
	const closed = new Set(
		Array.from(shown.matchAll(closing), ([, name = '']) => name.toLowerCase()),
	);
	const isElement = (name: string) =>
		/[:-]/.test(name) || blocks.has(name) || inlines.has(name) || closed.has(name);
	const withoutTag = (whole: string, written: string, attributes = '') => {
		const name = written.toLowerCase();
		const words = attributes.split(/[\s/]+/).filter(Boolean);
		const isValue = attributes.includes('=') || words.every((word) => valueless.test(word));
		const isMarkup = isElement(name) || whole.endsWith('/>');
		// `a <b or c> d` is text.
		if (!isMarkup || (!isValue && !closed.has(name))) return whole;
		const emoji = name === 'img' ? emojiOf(attributes) : '';
		return emoji === '' && blocks.has(name) ? ' ' : emoji;
	};
	const withoutTags = shown
		.replace(tag, withoutTag)
		.replace(cutTag, (whole: string, name: string) => (isElement(name.toLowerCase()) ? '' : whole));
	// Without a tag it may be text that has its line breaks for a reason.
	const plain = withoutTags === text ? text : withoutTags.replace(/[ \t\r\n]+/g, ' ');
	return decodeEntities(plain).trim();
}
