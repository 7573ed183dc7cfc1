import { blocks, inlines } from './elements';
import { decodeEntities } from './entities';

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
