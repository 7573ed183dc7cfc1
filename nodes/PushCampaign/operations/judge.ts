import type { Field, ItemParameters } from '../n8n/parameters';
import type { Part } from '../n8n/template';
import { splitTemplate } from '../n8n/template';
import { clip, halfCharacters, hiddenIn } from '../service/text';
import { InvalidInput } from '../service/thrown';
import type { Refusal } from './parts';
import { missingPart, withoutTexts } from './parts';
import { isSheetError } from './sheetErrors';

export const checkExpression = 'Check the expression, and the data that it reads.';

/**
 * What becomes of a text. One that people see is one line, or several. An attribute may be *none*. In IDs, keys and
 * addresses what nobody sees makes another one of them.
 */
export type Use = 'line' | 'lines' | 'attribute' | 'exact' | 'other';

/** But for blanks and line breaks. */
const controlCharacter = /(?![\s\u0085])\p{Cc}/u;

/** What the bytes of UTF-8 behind the first one become in Windows-1252. */
const behind = '\\u0080-\\u00BF€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ';
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
		advice: 'Use a field of the object in the expression, such as {{ $json.title.rendered }}.',
	},
	{
		pattern: /\[native code\]|Invalid Date(?:Time)?/,
		why: 'which a wrong value leaves in a text',
		advice: checkExpression,
	},
	{
		pattern: misread,
		why: 'as if a file had been read in another encoding than its own',
		advice: 'Choose the encoding of the file where it is read: UTF-8.',
	},
	{
		pattern: /\uFFFD/,
		why: 'which stands for a character of a file that was read in another encoding than its own',
		advice: 'Choose the encoding of the file where it is read, such as Windows-1252.',
	},
	{
		pattern: new RegExp(halfCharacters, 'u'),
		why: 'half of a character',
		advice: 'Cut the text behind a whole character, or use it whole.',
	},
];

function leftover(text: string, use: Use): Refusal | undefined {
	if (isSheetError(text)) {
		const what = `holds ${text.trim()}, which a spreadsheet shows for a formula without a result`;
		return { what, advice: 'Correct the formula in the sheet.' };
	}
	for (const { pattern, why, advice } of leftovers) {
		const [found] = pattern.exec(text) ?? [];
		if (found !== undefined) return { what: `holds ${found.trim()}, ${why}`, advice };
	}
	const hidden = use === 'exact' ? hiddenIn(text) : controlCharacter.exec(text)?.[0];
	if (hidden !== undefined) {
		const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
		const what = `holds U+${code}, a character that nobody sees`;
		return { what, advice: 'Type it instead of copying it.' };
	}
	return undefined;
}

/** What a user meant as an expression: typed on Fixed any braces, and `$json` without them. */
function template(text: string, expression: string | undefined): Refusal | undefined {
	const isFixed = expression === undefined;
	const codes = splitTemplate(text).flatMap((piece) =>
		'code' in piece && (isFixed || piece.code.includes('$')) ? [`{{${piece.code}}}`] : [],
	);
	const found = codes[0] ?? (isFixed ? /\$json\b[^\s{}]*/.exec(text)?.[0] : undefined);
	if (found === undefined) return undefined;
	return isFixed
		? { what: `holds ${clip(found)}, but is set to Fixed`, advice: 'Switch it to Expression.' }
		: { what: `holds ${clip(found)}, a template`, advice: 'Fill in the template.' };
}

/** Whether an item holds a value of a kind, at any depth. */
function holds(value: unknown, isWanted: (value: unknown) => boolean): boolean {
	if (isWanted(value)) return true;
	if (typeof value !== 'object' || value === null) return false;
	return Object.values(value).some((part) => holds(part, isWanted));
}

/** What JavaScript writes for a value that is missing, as words of their own. */
const missingWords = /(?<![\p{L}\p{N}])(?:undefined|null|NaN|Infinity)(?![\p{L}\p{N}])/gu;

const missingWordsIn = (text: string) => new Set(text.match(missingWords));

/** What databases, Python and sheets write for it, as a whole text. */
const missingText = /^(?:none|null|nan|n\/a|\\n)$/i;

/** Whether code puts texts together by itself. What an agent fills in is described between backticks: `$fromAI('Title', ``)`. */
function joinsTexts(code: string): boolean {
	const ownCode = code.replace(/\$fromAI\([^)]*/g, '');
	return ownCode.includes('`') || withoutTexts(ownCode).includes('+');
}

/** A word for a missing value, unless a person may have written it. */
function missingValue(
	text: string,
	parts: readonly Part[],
	input: ItemParameters['input'],
	use: Use,
): Refusal | undefined {
	const whole = text.trim();
	const isIn = (value: unknown, word: string) =>
		holds(value, (each) => typeof each === 'string' && missingWordsIn(each).has(word));
	const joined = parts
		.filter(({ code }) => joinsTexts(code))
		.flatMap((part) => [...missingWordsIn(part.text)].map((word) => ({ ...part, word })))
		.find(({ code, word }) => !isIn(code, word) && !isIn(input, word));
	const isWord = missingWordsIn(whole).has(whole.replace(/^[+-]/, ''));
	const found = isWord || (use !== 'attribute' && missingText.test(whole)) ? whole : joined?.word;
	if (found === undefined) return undefined;
	return { what: `holds ${found}, as if a value were missing`, advice: checkExpression };
}

/** A number of the input item that was rounded before it came here; unless a text there has the same digits. */
function lostDigits(text: string, input: ItemParameters['input']): Refusal | undefined {
	const isLost = (digits: string) => (value: unknown) =>
		typeof value === 'number' &&
		Math.abs(value) > Number.MAX_SAFE_INTEGER &&
		String(Math.abs(value)) === digits;
	const isText = (digits: string) => (value: unknown) =>
		typeof value === 'string' && value.includes(digits);
	const found = text
		.match(/\d{16,}|\d(?:\.\d+)?e\+\d+/g)
		?.find((digits) => holds(input, isLost(digits)) && !holds(input, isText(digits)));
	if (found === undefined) return undefined;
	const what = `holds ${clip(found)}, a number so large that its last digits are lost`;
	return { what, advice: 'Let the item have it as text.' };
}

/**
 * Judges a text of an item, after everything that changes it.
 * @param toShown what has become of it, and of what stands in it
 * @throws InvalidInput if nobody meant it
 */
export function judge(
	item: ItemParameters,
	field: Field,
	text: string,
	use: Use = 'other',
	toShown: (text: string) => string = (same) => same,
): void {
	const expression = item.expression(field);
	const parts = item.parts(field);
	// A single expression, and what only n8n can take apart, is judged as a whole.
	const given = parts.length > 0 ? parts : [{ code: expression ?? '', text }];
	const isSeen = use === 'line' || use === 'lines';
	const refusal =
		leftover(text, use) ??
		template(text, expression) ??
		missingPart(parts, { isSeen, toShown }) ??
		missingValue(text, given, item.input, use) ??
		(expression === undefined ? undefined : lostDigits(text, item.input));
	if (refusal === undefined) return;
	const message = `${field.label} ${refusal.what}: "${clip(text)}"`;
	throw new InvalidInput(message.replace(halfCharacters, '\uFFFD'), refusal.advice);
}
