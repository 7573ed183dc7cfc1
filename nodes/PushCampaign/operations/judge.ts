import type { Field, ItemParameters } from '../n8n/parameters';
import { isBlankText, missingPart, splitTemplate } from '../n8n/template';
import { clip, halfCharacters, hiddenIn } from '../service/text';
import { InvalidInput } from '../service/thrown';
import { isSheetError } from './sheetErrors';

export const checkExpression = 'Check the expression, and the data that it reads.';

interface Refusal {
	/** Follows the field's name. */
	readonly what: string;
	readonly advice: string;
}

/**
 * What becomes of a text. In one that people see another word can stand for what is missing. An attribute may be *none*.
 * In IDs, keys and addresses what nobody sees makes another one of them.
 */
export type Use = 'seen' | 'attribute' | 'exact' | 'other';

/** But for blanks and line breaks. */
const controlCharacter = /(?![\s\u0085])\p{Cc}/u;

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

function leftover(text: string, use: Use): Refusal | undefined {
	if (isSheetError(text)) {
		const what = `holds ${text.trim()}, which a spreadsheet shows for a formula without a result`;
		return { what, advice: 'Correct the formula in the sheet.' };
	}
	const hidden = use === 'exact' ? hiddenIn(text) : controlCharacter.exec(text)?.[0];
	if (hidden !== undefined) {
		const code = hidden.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
		const what = `holds U+${code}, a character that nobody sees`;
		return { what, advice: 'Type it instead of copying it.' };
	}
	for (const { pattern, why, advice } of leftovers) {
		const [found] = pattern.exec(text) ?? [];
		if (found !== undefined) return { what: `holds ${found.trim()}, ${why}`, advice };
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

/** What JavaScript writes for a value that is missing, as words of their own. */
const missingWords = /(?<![\p{L}\p{N}])(?:undefined|null|NaN|Infinity)(?![\p{L}\p{N}])/gu;

const missingWordsIn = (text: string) => new Set(text.match(missingWords));

function isIn(value: unknown, word: string): boolean {
	if (typeof value === 'string') return missingWordsIn(value).has(word);
	if (typeof value !== 'object' || value === null) return false;
	return Object.values(value).some((part) => isIn(part, word));
}

/** What databases, Python and sheets write for it, as a whole text. */
const missingText = /^(?:none|null|nan|n\/a|\\n)$/i;

/** A word for a missing value, unless a person may have written it. */
function missingValue(
	text: string,
	expression = '',
	input: ItemParameters['input'],
	use: Use,
): Refusal | undefined {
	const whole = text.trim();
	// What an agent fills in is described between backticks: `$fromAI('Title', ``)`.
	const joinsTexts = /[+`]/.test(expression.replace(/\$fromAI\([^)]*/g, ''));
	const isMeant = (word: string) => !joinsTexts || isIn(expression, word) || isIn(input, word);
	const found =
		use !== 'attribute' && missingText.test(whole)
			? whole
			: [...missingWordsIn(text)].find((word) => word === whole || !isMeant(word));
	if (found === undefined) return undefined;
	return { what: `holds ${found}, as if a value were missing`, advice: checkExpression };
}

/** Paths that may hold a person's name: another word can stand for it. Not `product.name`. */
const personsName =
	/(?:^|(?:body|user|customer|client|contact|member|subscriber|person|billing|shipping|first|last|full|given|nick|display)[._ -]?)name$|(?:^|\.)(?:first|fname|vorname|pr[ée]nom|nombre|nome)$/i;

/** A field of the input item that is missing in a text with more to it. */
export function emptyPart(
	expression: string,
	input: ItemParameters['input'],
	use: Use,
): Refusal | undefined {
	const found = missingPart(expression, input, (text) => isBlankText(text) || isSheetError(text));
	if (found === undefined) return undefined;
	const part = clip(found.part);
	if (found.why === 'lostDigits') {
		const what = `has a number in ${part} so large that its last digits are lost`;
		return { what, advice: 'Let the item have it as text.' };
	}
	const names = found.steps.filter((step) => !/^\d+$/.test(step));
	const isName = use === 'seen' && personsName.test(names.join('.'));
	const instead = isName ? `, or write ${part.replace(/\s*\}\}$/, " || 'there' }}")}` : '';
	const advice = `Fill in ${clip(names.at(-1) ?? 'it')} in your data${instead}.`;
	return { what: `has nothing in the place of ${part}`, advice };
}

/** Judges a text of an item, after everything that changes it. @throws InvalidInput if nobody meant it */
export function judge(item: ItemParameters, field: Field, text: string, use: Use = 'other'): void {
	const expression = item.expression(field);
	const refusal =
		leftover(text, use) ??
		template(text, expression) ??
		missingValue(text, expression, item.input, use) ??
		emptyPart(expression ?? '', item.input, use);
	if (refusal === undefined) return;
	const message = `${field.label} ${refusal.what}: "${clip(text)}"`;
	throw new InvalidInput(message.replace(halfCharacters, '\uFFFD'), refusal.advice);
}
