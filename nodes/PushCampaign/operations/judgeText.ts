import { toJson } from '../service/json';
import { clip } from '../service/text';
import type { ItemParameters, Origin, Parameter } from './parameters';
import { checkExpression, invalid } from './parameters';

/** A text of a send: what users call it, and where it is among the parameters. */
export interface TextField {
	readonly displayName: string;
	/** `actionButtons.button[0].title`. */
	readonly path: string;
}

/** A parameter as a text of a send; `collection` is where it stands, if in one. */
export const fieldOf = ({ displayName, name }: Parameter, collection?: Parameter): TextField => ({
	displayName,
	path: collection === undefined ? name : `${collection.name}.${name}`,
});

/**
 * Returns a value as it is; what is no text is left to the schemas.
 * @throws InvalidInput for a text that nobody meant
 */
export type Judge = <Value>(value: Value, field: TextField) => Value;

/** What a text is judged by. */
interface Judged {
	readonly text: string;
	readonly origin: Origin;
	readonly input: ItemParameters['input'];
}

interface TextRule {
	/** Returns what is wrong, without the text itself; `undefined` if nothing is. */
	readonly find: (judged: Judged) => string | undefined;
	readonly advice: string;
}

/** Halves of characters that are written in two. */
const halves = /\p{Surrogate}/gu;

// Words that stand alone, or beside a hyphen or an underscore.
const missingWord = /(?<![\p{L}\p{N}])(?:undefined|NaN)(?![\p{L}\p{N}])/u;
const missingWordInKey = /(?<![\p{L}\p{N}])(?:undefined|null|NaN)(?![\p{L}\p{N}])/u;

/** What stands between braces with a `$` in it. */
function findTemplate(text: string): string | undefined {
	for (let start = text.indexOf('{{'); start !== -1; start = text.indexOf('{{', start)) {
		const end = text.indexOf('}}', start);
		if (end === -1) return undefined;
		const template = text.slice(start, end + 2);
		if (template.includes('$')) return template;
		start = end + 2;
	}
	return undefined;
}

const template: TextRule = {
	find({ text, origin }) {
		const found = findTemplate(text);
		if (found === undefined) return undefined;
		return origin.expression === undefined
			? `holds ${clip(found)} as plain text, because the field is set to Fixed`
			: `holds ${clip(found)}, a template that was not filled in`;
	},
	advice:
		'Switch the field from Fixed to Expression. If the text comes from the item, such as from a sheet, write the value there.',
};

const wrongObject: TextRule = {
	find({ text }) {
		const [found] = /\[object \w+\]/.exec(text) ?? [];
		return found && `holds ${found}, which is an object and not a text`;
	},
	advice: 'Use a field of the object in the expression, such as {{ $json.title.rendered }}.',
};

const wrongDate: TextRule = {
	find: ({ text }) =>
		text.includes('Invalid DateTime')
			? 'holds Invalid DateTime, a date that can’t be read'
			: undefined,
	advice: checkExpression,
};

/** Words that JavaScript writes for what is missing, unless a person wrote them. */
const missingValue: TextRule = {
	find({ text, origin: { expression }, input }) {
		const [word] = missingWord.exec(text) ?? [];
		if (word === undefined || expression === undefined || expression.includes(word))
			return undefined;
		return toJson(input).includes(word)
			? undefined
			: `holds ${word}: its expression found no value`;
	},
	advice: checkExpression,
};

const missingValueInKey: TextRule = {
	find({ text }) {
		const [word] = missingWordInKey.exec(text) ?? [];
		return word && `holds ${word}, as if a value were missing`;
	},
	advice: `Items with a missing value would get the same key. ${checkExpression}`,
};

const findEmptyPart = ({ origin: { emptyPart } }: Judged) =>
	emptyPart && `has an empty part: ${clip(emptyPart)} returned nothing`;

const emptyPart: TextRule = {
	find: findEmptyPart,
	advice:
		'Check the item, give a value for this case, such as {{ $json.name || "you" }}, or add the option Allow Empty Parts.',
};

const emptyPartInKey: TextRule = {
	find: findEmptyPart,
	advice: 'Items with a missing value would get the same key. Check the item that it reads from.',
};

const halfCharacter: TextRule = {
	find: ({ text }) =>
		text.search(halves) !== -1 ? 'was cut in the middle of a character' : undefined,
	advice: 'Cut the text after a whole character, or use it whole.',
};

const anyText = [template, wrongObject, wrongDate, halfCharacter];

function judgeBy(rules: readonly TextRule[], { input, originOf }: ItemParameters): Judge {
	return (value, { displayName, path }) => {
		if (typeof value !== 'string') return value;
		const judged: Judged = { text: value, origin: originOf(path), input };
		for (const { find, advice } of rules) {
			const what = find(judged);
			if (what === undefined) continue;
			throw invalid(displayName, `${what}: "${clip(value).replace(halves, '\uFFFD')}"`, advice);
		}
		return value;
	};
}

/**
 * Judges the texts of one item, after everything that changes them: what nobody meant can't be called back.
 * @param allowEmptyParts whether a part of a text may give nothing
 */
export const judgeOf = (
	item: ItemParameters,
	{ allowEmptyParts }: { readonly allowEmptyParts: boolean },
): Judge => judgeBy([...anyText, missingValue, ...(allowEmptyParts ? [] : [emptyPart])], item);

/** Judges an idempotency key: one that came out the same for many items would keep all but one from being sent. */
export const keyJudgeOf = (item: ItemParameters): Judge =>
	judgeBy([...anyText, missingValueInKey, emptyPartInKey], item);

/** Leaves out half characters, such as of an emoji that was cut. */
export const withoutHalfCharacters = (text: string) => text.replace(halves, '');
