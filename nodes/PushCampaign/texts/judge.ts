import { clip, hiddenIn } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { windows1252 } from './entities';
import type { Source, Use } from './parts';
import { checkExpression, requireValues, withoutTexts } from './parts';

/** What the bytes of UTF-8 behind the first one become in Windows-1252. */
const behind = `\\u0080-\\u00BF${windows1252}`;
/** Those of them that no capital has behind it: no quotes, dashes, dots, blanks, marks and footnotes. */
const unlikely = '\\u0080-\\u009F€‚ƒ„†‡ˆ‰ŠŒŽ˜šœžŸ¡-§¨ª¬\\u00AD¯°±´µ¶¸º¼½¾¿';

/**
 * What becomes of UTF-8 that is read as Windows-1252: `Ã¼`, `â€™`, `ðŸ”¥`, `ÐŸ`, two characters of Chinese or Arabic. Not
 * the capitals of other languages, behind which marks stand as well: “SÃO”, « À », HYVÄ…
 */
const misread = new RegExp(
	[
		`[ÂÃÄÅÆÎÏÐÑ][${unlikely}]`,
		'Â[\\u00A0-\\u00BF]',
		`(?<=\\p{Ll})[ÃÄÅÈ][${behind}]`,
		`(?<!\\p{L})[ÃÄÅ][${behind}](?=\\p{Ll})`,
		`â[€‚„†‡ˆ‰œšžŸ˜][${behind}]`,
		`á[º»][${unlikely}“”]`,
		`(?:[à-ï][${behind}]{2}){2}`,
		`(?:[ØÙÚ×][${behind}]){2}`,
		// Of some characters a byte has no character in Windows-1252.
		'â¤|â\\u00AD(?!\\p{L})|ðŸ',
	].join('|'),
	'u',
);

/** What no text holds on purpose. */
const leftovers = [
	{
		pattern: /\[object \w+\]/,
		why: 'an object and not a text',
		fix: 'Use a field of the object in the expression, such as {{ $json.title.rendered }}.',
	},
	{
		pattern: /\[native code\]|Invalid Date(?:Time)?/,
		why: 'which a wrong value leaves in a text',
		fix: checkExpression,
	},
	{
		pattern: misread,
		why: 'as if a file had been read in another encoding than its own',
		fix: 'Choose the encoding of the file where it is read: UTF-8.',
	},
	{
		pattern: /\uFFFD/,
		why: 'which stands for a character of a file that was read in another encoding than its own',
		fix: 'Choose the encoding of the file where it is read, such as Windows-1252.',
	},
];

/** Why nobody meant a text. */
interface Finding {
	/** Follows the field's name. */
	readonly what: string;
	readonly fix: string;
}

function leftover(text: string): Finding | undefined {
	for (const { pattern, why, fix } of leftovers) {
		const [found] = pattern.exec(text) ?? [];
		if (found !== undefined) return { what: `holds ${found.trim()}, ${why}`, fix };
	}
	return undefined;
}

function hiddenCharacter(text: string): Finding | undefined {
	const hidden = hiddenIn(text);
	if (hidden === undefined) return undefined;
	const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
	const what = `holds U+${code}, a character that nobody sees`;
	return { what, fix: 'Type it instead of copying it.' };
}

/** A pair of braces, up to the first ones that close it. */
const braces = /\{\{[^{}]*(?:(?:\{(?!\{)|\}(?!\}))[^{}]*)*\}\}/g;

/** What a user meant as an expression: typed on Fixed any braces, and `$json` without them. */
function template(text: string, { expression }: Source): Finding | undefined {
	const all = text.match(braces) ?? [];
	if (expression !== undefined) {
		const found = all.find((each) => each.includes('$'));
		if (found === undefined) return undefined;
		return { what: `holds ${clip(found)}, a template`, fix: 'Fill in the template.' };
	}
	const found = all[0] ?? /\$json\b[^\s{}]*/.exec(text)?.[0];
	if (found === undefined) return undefined;
	return { what: `holds ${clip(found)}, but is set to Fixed`, fix: 'Switch it to Expression.' };
}

/** What is in a value, at any depth. */
const leavesOf = (value: unknown): unknown[] =>
	typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

/** What JavaScript writes for a value that is missing. */
const missingWords = /(?<![\p{L}\p{N}])(?:undefined|null|NaN|Infinity)(?![\p{L}\p{N}])/gu;

const missingWordsIn = (value: unknown) =>
	new Set(typeof value === 'string' ? value.match(missingWords) : []);

/** Whether code puts texts together by itself. What an agent fills in is described between backticks: `$fromAI('Title', ``)`. */
function joinsTexts(code: string): boolean {
	const ownCode = code.replace(/\$fromAI\([^)]*/g, '');
	return ownCode.includes('`') || withoutTexts(ownCode).includes('+');
}

/** A word for a missing value that code has joined to a text, unless a person may have written it. */
function joinedWord(text: string, { expression = '', parts, input }: Source): Finding | undefined {
	// A single expression, and what only n8n can take apart, is judged as a whole.
	const given = parts.length > 0 ? parts : [{ code: expression, text }];
	const words = given.flatMap(({ code, text }) => {
		const written = missingWordsIn(code);
		return joinsTexts(code) ? [...missingWordsIn(text)].filter((word) => !written.has(word)) : [];
	});
	if (words.length === 0) return undefined;
	const known = new Set(leavesOf(input).flatMap((leaf) => [...missingWordsIn(leaf)]));
	const found = words.find((word) => !known.has(word));
	if (found === undefined) return undefined;
	return { what: `holds ${found}, as if a value were missing`, fix: checkExpression };
}

/** A number of the input item that was rounded before it came here; unless a text there has the same digits. */
function lostDigits(text: string, { expression, input }: Source): Finding | undefined {
	const numbers = expression === undefined ? null : text.match(/\d{16,}|\d(?:\.\d+)?e\+\d+/g);
	if (numbers === null) return undefined;
	const leaves = leavesOf(input);
	const lost = leaves
		.filter((leaf) => typeof leaf === 'number')
		.map((number) => (Math.abs(number) > Number.MAX_SAFE_INTEGER ? String(Math.abs(number)) : ''));
	const isText = (digits: string) =>
		leaves.some((leaf) => typeof leaf === 'string' && leaf.includes(digits));
	const found = numbers.find((digits) => lost.includes(digits) && !isText(digits));
	if (found === undefined) return undefined;
	const what = `holds ${clip(found)}, a number so large that its last digits are lost`;
	return { what, fix: 'Let the item have it as text.' };
}

const asItIs = (text: string) => text;

/**
 * Judges a text, after everything that changes it.
 * @param toShown what has become of it, and so becomes of what its parts gave
 * @throws InvalidInput if nobody meant it
 */
export function judge(source: Source, text: string, use: Use, toShown = asItIs): void {
	const refuse = (finding: Finding | undefined) => {
		if (finding === undefined) return;
		throw new InvalidInput(`${source.label} ${finding.what}: "${clip(text)}"`, finding.fix);
	};
	refuse(leftover(text));
	if (use === 'id') refuse(hiddenCharacter(text));
	refuse(template(text, source));
	requireValues(source, text, use, toShown);
	refuse(joinedWord(text, source));
	refuse(lostDigits(text, source));
}
