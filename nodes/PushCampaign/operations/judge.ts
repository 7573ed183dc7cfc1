import type { Field, ItemParameters } from '../n8n/parameters';
import { missingPart, splitTemplate } from '../n8n/template';
import { clip } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { isSheetError } from './sheetErrors';

/** Halves of characters that are written in two. */
export const halfCharacters = /\p{Surrogate}/gu;

export const checkExpression = 'Check the expression, and the data that it reads.';

interface Refusal {
	/** Follows the field's name. */
	readonly what: string;
	readonly advice: string;
}

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

function leftover(text: string): Refusal | undefined {
	if (isSheetError(text)) {
		const what = `holds ${text.trim()}, which a spreadsheet shows for a formula without a result`;
		return { what, advice: 'Correct the formula in the sheet.' };
	}
	for (const { pattern, why, advice } of leftovers) {
		const [found] = pattern.exec(text) ?? [];
		if (found !== undefined) return { what: `holds ${found.trim()}, ${why}`, advice };
	}
	return undefined;
}

/** What a user meant as an expression. */
function template(text: string, expression: string | undefined): Refusal | undefined {
	for (const piece of splitTemplate(text)) {
		if (!('code' in piece) || !piece.code.includes('$')) continue;
		const found = clip(`{{${piece.code}}}`);
		return expression === undefined
			? { what: `holds ${found}, but is set to Fixed`, advice: 'Switch it to Expression.' }
			: { what: `holds ${found}, a template`, advice: 'Fill in the template.' };
	}
	return undefined;
}

/** What JavaScript writes for a value that is missing, as words of their own. */
const missingWords = ['undefined', 'null', 'NaN', 'Infinity'].map((word) => ({
	word,
	pattern: new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'u'),
}));

function isIn(value: unknown, word: RegExp): boolean {
	if (typeof value === 'string') return word.test(value);
	if (typeof value !== 'object' || value === null) return false;
	return Object.values(value).some((part) => isIn(part, word));
}

/** A word for a missing value, unless a person may have written it. */
function missingValue(
	text: string,
	expression = '',
	input: ItemParameters['input'],
): Refusal | undefined {
	// What an agent fills in is described between backticks: `$fromAI('Title', ``)`.
	const joinsTexts = /[+`]/.test(expression.replace(/\$fromAI\([^)]*/g, ''));
	for (const { word, pattern } of missingWords) {
		if (!pattern.test(text)) continue;
		const isJoined = joinsTexts && !pattern.test(expression) && !isIn(input, pattern);
		if (word !== text.trim() && !isJoined) continue;
		return { what: `holds ${word}, as if a value were missing`, advice: checkExpression };
	}
	return undefined;
}

/** A field of the input item that is missing in a text with more to it. */
function emptyPart(
	expression = '',
	input: ItemParameters['input'],
	isSeen: boolean,
): Refusal | undefined {
	const missing = missingPart(expression, input);
	if (missing === undefined) return undefined;
	const part = clip(missing.part);
	if (missing.why === 'lostDigits') {
		return {
			what: `has a number in ${part} so large that its last digits are lost`,
			advice: 'Let the item have it as text.',
		};
	}
	const path = clip(missing.part.slice(2, -2));
	const name = path.replace(/^\$json\??\.?/, '').replace(/^\[["'](.+)["']\]$/, '$1');
	const fillIn = `Fill in ${name} in your data`;
	return {
		what: `has nothing in the place of ${part}`,
		advice: isSeen ? `${fillIn}, or write {{ ${path} || 'there' }}.` : `${fillIn}.`,
	};
}

/**
 * Judges a text of an item, after everything that changes it: what nobody meant can't be called back.
 * @param isSeen whether people read it: then another word can stand for what is missing
 * @throws InvalidInput naming the field
 */
export function judge(item: ItemParameters, field: Field, text: string, isSeen = false): void {
	const expression = item.expression(field);
	const [refusal] = [
		leftover(text),
		template(text, expression),
		missingValue(text, expression, item.input),
		emptyPart(expression, item.input, isSeen),
	].filter((found) => found !== undefined);
	if (refusal === undefined) return;
	const message = `${field.label} ${refusal.what}: "${clip(text)}"`;
	throw new InvalidInput(message.replace(halfCharacters, '\uFFFD'), refusal.advice);
}
