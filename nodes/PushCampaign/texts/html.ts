import { decodeEntities } from './entities';

/** Elements at which a new line begins, as feeds and shops write them. */
const blocks = new Set(
	`article aside blockquote br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5
	h6 head header hr html body iframe img li main nav ol option p pre script section select style summary table tbody td
	template tfoot th thead title tr ul video`.split(/\s+/),
);

/** What a tag begins with: `<`, a letter, and what is no end of a name. */
const element = '[a-z][^\\s<>"\'/]*';
/** Quotes may hold angle brackets. */
const attributes = String.raw`[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*`;
const tag = new RegExp(`</?(${element})(\\s${attributes})?/?>`, 'gi');
/** A tag that was cut off with the end of the text. */
const cutTag = new RegExp(`<(?:/${element}|${element}\\s[^<>=]*=[^<>]*)$`, 'i');

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
	const toLineBreak = (_whole: string, written: string, attributes = '') => {
		const name = written.toLowerCase();
		const emoji = name === 'img' ? emojiOf(attributes) : '';
		return emoji === '' && blocks.has(name) ? ' ' : emoji;
	};
	const withoutTags = shown.replace(tag, toLineBreak).replace(cutTag, '');
	// Without a tag it may be text that has its line breaks for a reason.
	const plain = withoutTags === text ? text : withoutTags.replace(/[ \t\r\n]+/g, ' ');
	return decodeEntities(plain).trim();
}
