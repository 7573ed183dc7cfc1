import type { Field, ItemParameters } from '../n8n/parameters';
import { missingPart } from '../n8n/template';
import { InvalidInput } from '../service/invalidInput';
import { clip } from '../service/text';

/** A text of an item, and where it comes from. */
interface Judged {
	readonly text: string;
	/** The name of its field. */
	readonly name: string;
	/** The expression that gave it; missing if it was entered as it is. */
	readonly expression: string | undefined;
	readonly input: ItemParameters['input'];
}

interface Refusal {
	/** Follows the field's name. */
	readonly what: string;
	readonly advice: string;
}

/** Halves of characters that are written in two. */
export const halfCharacters = /\p{Surrogate}/gu;

const checkExpression = ({ name }: Judged) =>
	`Check the expression in ${name}, and the item that it reads from.`;

/** What a user meant as an expression. */
function template({ text, name, expression }: Judged): Refusal | undefined {
	const [found] = /\{\{(?:(?!\}\})[^])*?\$[^]*?\}\}/.exec(text) ?? [];
	if (found === undefined) return undefined;
	if (expression === undefined) {
		return {
			what: `holds ${clip(found)} as plain text, because it is set to Fixed`,
			advice: `Switch ${name} from Fixed to Expression.`,
		};
	}
	return {
		what: `holds ${clip(found)}, a template that was not filled in`,
		advice: 'Write the value there, such as in the sheet that the text comes from.',
	};
}

/** What JavaScript writes for a value that is no text. */
function wrongValue(judged: Judged): Refusal | undefined {
	const [found] = /\[object \w+\]|\[native code\]|Invalid Date(?:Time)?/.exec(judged.text) ?? [];
	if (found === undefined) return undefined;
	if (found.startsWith('[object')) {
		return {
			what: `holds ${found}, which is an object and not a text`,
			advice: 'Use a field of the object in the expression, such as {{ $json.title.rendered }}.',
		};
	}
	return { what: `holds ${found}`, advice: checkExpression(judged) };
}

/** The words that JavaScript writes for a value that is missing. */
const wordsIn = (text: string): string[] =>
	text.match(/(?<![\p{L}\p{N}])(?:undefined|null|NaN|Infinity)(?![\p{L}\p{N}])/gu) ?? [];

/** Whether a text of an item holds a word. */
function holdsWord(value: unknown, word: string): boolean {
	if (typeof value === 'string') return wordsIn(value).includes(word);
	if (typeof value !== 'object' || value === null) return false;
	return Object.values(value).some((part) => holdsWord(part, word));
}

/** A word for a missing value, unless a person may have written it. */
function missingValue(judged: Judged): Refusal | undefined {
	const { text, expression, input } = judged;
	const words = wordsIn(text);
	const joinsTexts = expression !== undefined && /[+`]/.test(expression);
	const isJoined = (word: string) =>
		joinsTexts && !wordsIn(expression).includes(word) && !holdsWord(input, word);
	const found = words.find((word) => word === text.trim() || isJoined(word));
	if (found === undefined) return undefined;
	return { what: `holds ${found}, as if a value were missing`, advice: checkExpression(judged) };
}

/** What a spreadsheet shows for a formula without a result. */
function formulaWithoutResult({ text }: Judged): Refusal | undefined {
	if (!/^\s*#(?:N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|ERROR!)\s*$/.test(text)) {
		return undefined;
	}
	return {
		what: 'is what a spreadsheet shows for a formula without a result',
		advice: 'Correct the formula in the sheet.',
	};
}

/** A field of the input item that is missing in a text with more to it. */
function emptyPart({ expression, input }: Judged): Refusal | undefined {
	const missing = expression === undefined ? undefined : missingPart(expression, input);
	if (missing === undefined) return undefined;
	const part = clip(missing.part);
	if (missing.why === 'lostDigits') {
		return {
			what: `has a number in ${part} that is so large that its last digits are lost`,
			advice: 'Let the item have it as text.',
		};
	}
	return {
		what: `has nothing in the place of ${part}`,
		advice: 'Fill it in, or let the expression say what to use without it.',
	};
}

function halfCharacter({ text }: Judged): Refusal | undefined {
	if (text.search(halfCharacters) === -1) return undefined;
	return {
		what: 'was cut in the middle of a character',
		advice: 'Cut it after a whole character, or use it whole.',
	};
}

/** What nobody meant, in the order in which it is looked for. */
const rules = [template, wrongValue, missingValue, formulaWithoutResult, emptyPart, halfCharacter];

/**
 * Judges a text of an item, after everything that changes it: what nobody meant can't be called back.
 * @throws InvalidInput naming the field
 */
export function judge(item: ItemParameters, field: Field, text: string): void {
	const name = field.displayName;
	const judged = { text, name, expression: item.expression(field), input: item.input };
	for (const rule of rules) {
		const refusal = rule(judged);
		if (refusal === undefined) continue;
		const quoted = clip(text).replace(halfCharacters, '\uFFFD');
		throw new InvalidInput(`${name} ${refusal.what}: "${quoted}"`, refusal.advice);
	}
}
