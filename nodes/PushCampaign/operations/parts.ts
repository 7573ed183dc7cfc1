import type { Part } from '../n8n/template';
import { isBlankText } from '../n8n/template';
import { clip, trimBlanks } from '../service/text';
import { isSheetError } from './sheetErrors';

/** Why a text is refused. */
export interface Refusal {
	/** Follows the field's name. */
	readonly what: string;
	readonly advice: string;
}

/** What programs, databases and sheets write for a value that is missing, as they spell it: "Nan" is a name. */
const missingWord = /^(?:undefined|null|NULL|NaN|nan|None|N\/A|\\N|[+-]?Infinity)$/;

const textIn = (quote: string) =>
	`${quote}[^${quote}\\\\]*(?:\\\\[^]?[^${quote}\\\\]*)*(?:${quote}|$)`;
const quotedText = new RegExp([`'`, `"`, '`'].map(textIn).join('|'), 'g');

/** Code without the texts in it. Of one between backticks what stands in its braces is code. */
export const withoutTexts = (code: string): string =>
	code.replace(quotedText, (text) =>
		text.startsWith('`') ? (text.match(/\$\{[^{}]*/g) ?? []).join() : "''",
	);

/** A text for whatever is missing: where it does not stand, something went wrong on the way to it. */
const lastResort = /\|\|\s*(?:'([^'\\]*)'|"([^"\\]*)")\s*$/;

/** Whether whoever wrote it has thought of nothing: by another value that stands in its place, or because nothing is read. */
function mayGiveNothing(code: string): boolean {
	if (!code.includes('$')) return true;
	const [, single, double] = lastResort.exec(code) ?? [];
	if (!isBlankText(single ?? double ?? '')) return false;
	const rest = withoutTexts(code);
	// Not `?.`, nor a group of a pattern.
	const choice = rest.search(/(?<!\()\?(?!\.)/);
	return (
		/\|\||&&|\?\?|\$if\b|ifEmpty\b/i.test(rest) || (choice !== -1 && rest.includes(':', choice))
	);
}

/** Whether somebody wrote a word into the code: `{{ $json.price ?? 'N/A' }}`. */
const isWritten = (code: string, word: string): boolean =>
	[`'`, `"`, '`'].some((quote) => code.includes(`${quote}${word}${quote}`));

/** How a text is judged: what becomes of it. */
interface Destiny {
	readonly isSeen: boolean;
	/** Makes of a text what subscribers see of it. */
	readonly toShown: (text: string) => string;
}

/** What a part gave in place of a value, if it gave none. */
function lackOf({ code, text }: Part, { isSeen, toShown }: Destiny): string | undefined {
	const word = trimBlanks(text);
	if (missingWord.test(word) || isSheetError(word) || (isSeen && word === 'false')) {
		return isWritten(code, word) ? undefined : word;
	}
	// A list of nothing is commas.
	const isNothing = isBlankText(toShown(text).replaceAll(',', ''));
	return isNothing && !mayGiveNothing(code) ? 'nothing' : undefined;
}

/** A step into a value that may be missing; not into a root such as `$json` or `Math`. */
const step = /(?:\.(?=[A-Za-z_$])|\[)(?<=[\w)\]].)(?<!(?:^|[^\w.$])[$A-Z]\w*.)/;
const stepOrText = new RegExp(`${quotedText.source}|(?<step>${step.source})`, 'g');

/**
 * The code with a word for what is missing. Its steps are optional then: n8n gives nothing at all for a step into nothing,
 * whatever is written behind it.
 */
function withWord(code: string): string {
	const safe = code.trim().replace(stepOrText, (found, written?: string) => {
		if (written === undefined) return found;
		return written === '.' ? '?.' : '?.[';
	});
	return `${safe} || 'there'`;
}

/** Refuses a text that is more than one pair of braces, of which one gave nothing. */
export function missingPart(parts: readonly Part[], destiny: Destiny): Refusal | undefined {
	for (const part of parts) {
		const lack = lackOf(part, destiny);
		if (lack === undefined) continue;
		const written = clip(`{{${part.code}}}`);
		// What is there, be it a blank, no other word replaces.
		const mayBeReplaced = destiny.isSeen && part.text === '' && !part.code.includes('||');
		const instead = `, or write what stands in its place, such as {{ ${clip(withWord(part.code))} }}`;
		return {
			what: `has a part that gave ${lack}, ${written}`,
			advice: `Fill in what ${written} reads${mayBeReplaced ? instead : ''}.`,
		};
	}
	return undefined;
}
