import type { Field, ItemParameters } from '../n8n/parameters';
import { splitTemplate } from '../n8n/template';
import { clip, halfCharacters, hiddenIn, trimBlanks, trimHidden } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { decodeEntities, windows1252 } from './entities';
import type { Judged, Refusal, Use } from './parts';
import { isSheetError, missingPart, withoutTexts } from './parts';
import { checkExpression, isBlank, missing, toText } from './values';

/** But for blanks and line breaks. */
const controlCharacter = /(?![\s\u0085])\p{Cc}/u;

/** What the bytes of UTF-8 behind the first one become in Windows-1252. */
const behind = `\\u0080-\\u00BF${windows1252}`;
/** Those of them that no capital has behind it: no quotes, dashes, dots, blanks, marks and footnotes. */
const unlikely = '\\u0080-\\u009F€‚ƒ„†‡ˆ‰ŠŒŽ˜šœžŸ¡-§¨ª¬\\u00AD¯°±´µ¶·¸º¼½¾¿';

/**
 * What becomes of UTF-8 that is read as Windows-1252: `Ã¼`, `â€™`, `ðŸ”¥`, `ÐŸ`, two characters of Chinese or Arabic. Not
 * the capitals of other languages, behind which marks stand as well: “SÃO”, « À », HYVÄ…
 */
const misread = new RegExp(
	[
		`[ÂÃÄÅÆÎÏÐÑ][${unlikely}]`,
		'Â[\\u00A0-\\u00BF]',
		`(?<=\\p{Ll})[ÃÄÅ][${behind}]`,
		`(?<!\\p{L})[ÃÄÅ][${behind}](?=\\p{Ll})`,
		`â[€‚„†‡ˆ‰œšžŸ˜][${behind}]`,
		`(?:[à-ï][${behind}]{2}){2}`,
		`(?:[ØÙÚ×][${behind}]){2}`,
		// Of some characters a byte has no character in Windows-1252.
		'â¤|â\\u00AD(?!\\p{L})|ï[»¸]|ðŸ',
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
	{
		pattern: new RegExp(halfCharacters, 'u'),
		why: 'half of a character',
		fix: 'Cut the text behind a whole character, or use it whole.',
	},
];

function leftover({ text, use }: Judged): Refusal | undefined {
	if (isSheetError(text)) {
		const what = `holds ${text.trim()}, which a spreadsheet shows for a formula without a result`;
		return { what, fix: 'Correct the formula in the sheet.' };
	}
	for (const { pattern, why, fix } of leftovers) {
		const [found] = pattern.exec(text) ?? [];
		if (found !== undefined) return { what: `holds ${found.trim()}, ${why}`, fix };
	}
	const hidden = use === 'exact' ? hiddenIn(text) : controlCharacter.exec(text)?.[0];
	if (hidden === undefined) return undefined;
	const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
	const what = `holds U+${code}, a character that nobody sees`;
	return { what, fix: 'Type it instead of copying it.' };
}

/** What a user meant as an expression: typed on Fixed any braces, and `$json` without them. */
function template({ text, expression }: Judged): Refusal | undefined {
	const isFixed = expression === undefined;
	const codes = splitTemplate(text).flatMap((piece) => ('code' in piece ? [piece.code] : []));
	const code = codes.find((each) => isFixed || each.includes('$'));
	const bare = isFixed ? /\$json\b[^\s{}]*/.exec(text)?.[0] : undefined;
	const found = code === undefined ? bare : `{{${code}}}`;
	if (found === undefined) return undefined;
	return isFixed
		? { what: `holds ${clip(found)}, but is set to Fixed`, fix: 'Switch it to Expression.' }
		: { what: `holds ${clip(found)}, a template`, fix: 'Fill in the template.' };
}

/** What is in a value, at any depth. */
const leavesOf = (value: unknown): unknown[] =>
	typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [value];

/** What JavaScript writes for a value that is missing. */
const missingWords = /(?<![\p{L}\p{N}])(?:undefined|null|NaN|Infinity)(?![\p{L}\p{N}])/gu;
const missingWord = /^[+-]?(?:undefined|null|NaN|Infinity)$/;

/** What databases, Python and sheets write for it, as a whole text. */
const missingText = /^(?:none|null|nan|n\/a|\\n)$/i;

const missingWordsIn = (value: unknown) =>
	new Set(typeof value === 'string' ? value.match(missingWords) : []);

/** Whether code puts texts together by itself. What an agent fills in is described between backticks: `$fromAI('Title', ``)`. */
function joinsTexts(code: string): boolean {
	const ownCode = code.replace(/\$fromAI\([^)]*/g, '');
	return ownCode.includes('`') || withoutTexts(ownCode).includes('+');
}

/** A word for a missing value that code has joined to a text, unless a person may have written it. */
function joinedWord({ text, expression = '', parts, input }: Judged): string | undefined {
	// A single expression, and what only n8n can take apart, is judged as a whole.
	const given = parts.length > 0 ? parts : [{ code: expression, text }];
	const words = given.flatMap(({ code, text }) => {
		const written = missingWordsIn(code);
		return joinsTexts(code) ? [...missingWordsIn(text)].filter((word) => !written.has(word)) : [];
	});
	if (words.length === 0) return undefined;
	const known = new Set(leavesOf(input).flatMap((leaf) => [...missingWordsIn(leaf)]));
	return words.find((word) => !known.has(word));
}

function missingValue(judged: Judged): Refusal | undefined {
	const whole = judged.text.trim();
	const isMissing =
		missingWord.test(whole) || (judged.use !== 'attribute' && missingText.test(whole));
	const found = isMissing ? whole : joinedWord(judged);
	if (found === undefined) return undefined;
	return { what: `holds ${found}, as if a value were missing`, fix: checkExpression };
}

/** A number of the input item that was rounded before it came here; unless a text there has the same digits. */
function lostDigits({ text, expression, input }: Judged): Refusal | undefined {
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

/** The first one that fits says why. */
const checks = [leftover, template, missingPart, missingValue, lostDigits];

const asItIs = (text: string) => text;

/**
 * Judges a text of an item, after everything that changes it.
 * @throws InvalidInput if nobody meant it
 */
export function judge(
	item: ItemParameters,
	field: Field,
	text: string,
	use: Use = 'other',
	toShown = asItIs,
): void {
	const [expression, parts] = [item.expression(field), item.parts(field)];
	const judged = { text, use, toShown, expression, parts, input: item.input };
	for (const check of checks) {
		const refusal = check(judged);
		if (refusal === undefined) continue;
		const message = `${field.label} ${refusal.what}: "${clip(text)}"`;
		throw new InvalidInput(message.replace(halfCharacters, '\uFFFD'), refusal.fix);
	}
}

/** Makes one line of a text: any run of blanks and line breaks counts as one blank. */
export const toOneLine = (text: string): string => text.replace(/\s{2,}|[\t-\r\u2028\u2029]/g, ' ');

/** Reads U+0080 to U+009F as browsers read these numbers in entities: old pages and feeds mean Windows-1252. */
const fromWindows1252 = (text: string): string =>
	text.replace(/[\u0080-\u009F]/g, (character) => decodeEntities(`&#${character.charCodeAt(0)};`));

/** Leaves out control characters but blanks and line breaks, and halves of characters, such as of an emoji that was cut. */
const toPrintable = (text: string): string =>
	fromWindows1252(text).replace(/(?!\s)\p{Cc}|\p{Surrogate}/gu, '');

/** A text that is compared with others, such as an attribute's value. */
export const toCompared = (text: string): string => trimHidden(fromWindows1252(text));

/** What is left out of a text, and nobody misses. */
const cleaned: Readonly<Record<Use, (text: string) => string>> = {
	line: (text) => trimBlanks(toOneLine(toPrintable(text))),
	lines: (text) => trimBlanks(toPrintable(text)),
	exact: trimHidden,
	attribute: toCompared,
	other: toCompared,
};

/**
 * Reads a text, or a number or a date as its text: empty if there is none, or nothing of it is visible.
 * @param change what becomes of it before anything else
 * @throws InvalidInput if it is none, or nobody meant it
 */
export function readText(
	item: ItemParameters,
	field: Field,
	use: Use,
	change?: (text: string) => string,
): string {
	const given = toText(field, item.get(field));
	const text = cleaned[use](change?.(given) ?? given);
	judge(item, field, text, use, change);
	return isBlank(text) ? '' : text;
}

/** @throws InvalidInput if a text that has to be there is empty */
export function requireText(item: ItemParameters, field: Field, text: string): string {
	if (text === '') throw missing(item, field);
	return text;
}
