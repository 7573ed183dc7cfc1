import type { ItemParameters } from '../n8n/parameters';
import type { Part } from '../n8n/template';
import { isBlankText } from '../n8n/template';
import { clip, trimBlanks } from '../service/text';

/**
 * What becomes of a text. One that people see is one line, or several. An attribute may be *none*. In IDs, keys and
 * addresses what nobody sees makes another one of them.
 */
export type Use = 'line' | 'lines' | 'attribute' | 'exact' | 'other';

const isSeen = (use: Use) => use === 'line' || use === 'lines';

/** A text that is judged, and where it comes from. */
export interface Judged {
	readonly text: string;
	readonly use: Use;
	/** What has become of it, and of what its parts gave. */
	readonly toShown: (text: string) => string;
	/** Undefined if it is typed on Fixed. */
	readonly expression: string | undefined;
	readonly parts: readonly Part[];
	readonly input: ItemParameters['input'];
}

/** Why a text is refused. */
export interface Refusal {
	/** Follows the field's name. */
	readonly what: string;
	readonly fix: string;
}

/**
 * What Excel and other spreadsheets show for a formula without a result; of other languages than English what is met most
 * often. A list, because `#SALE!` is somebody's text.
 */
const names = `NULL! DIV/0! VALUE! REF! NAME? NUM! N/A GETTING_DATA SPILL! CONNECT! BLOCKED! FIELD! CALC! BUSY!
	PYTHON! ERROR! WERT! BEZUG! ZAHL! NV ÜBERLAUF! DATEN_ABRUFEN VALEUR! NOM? PROPAGATION! VALOR! NOMBRE? N/D
	DESBORDAMIENTO! VALORE! RIF! NÚM! WAARDE! VERW! DEEL/0! ARG! ADR! ЗНАЧ! ССЫЛКА! ДЕЛ/0! Н/Д ЗНАЧЕННЯ! VÄRDEFEL!
	REFERENS! DIVISION/0! SAKNAS! VÆRDI! I/T VERDI! PUUTTUU! HODNOTA! ODKAZ! NEDOSTUPNÝ ÉRTÉK! DEĞER! BAŞV! YOK ΤΙΜΗ!
	VALOARE! VREDN! VRIJEDNOST! 溢出! スピル! 분산!`;

const sheetErrors: ReadonlySet<string> = new Set(names.split(/\s+/));

/** What LibreOffice writes: `Err:502`, in the languages in which it has another word. */
const numbered =
	/^(?:Err|Erro|Fout|Fel|Fejl|Feil|Virhe|Błąd|Chyba|Hiba|Hata|Ошибка|Помилка|エラー):5\d\d$/;

/** Whether a text is nothing but the error of a spreadsheet. */
export function isSheetError(text: string): boolean {
	const word = text.replace(/\s/g, '');
	const [, name] = /^#[¡¿]?(.+)$/.exec(word) ?? [];
	if (name === undefined) return numbered.test(word);
	// Some languages write what they have for `#GETTING_DATA` with an exclamation mark as well.
	return sheetErrors.has(name) || sheetErrors.has(name.replace(/!$/, ''));
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

/** What a part gave in place of a value, if it gave none. */
function lackOf({ code, text }: Part, { use, toShown }: Judged): string | undefined {
	const word = trimBlanks(text);
	if (missingWord.test(word) || isSheetError(word) || (isSeen(use) && word === 'false')) {
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
	return safe.includes('||') ? safe : `${safe} || 'there'`;
}

/** Refuses a text that is more than one pair of braces, of which one gave nothing. */
export function missingPart(judged: Judged): Refusal | undefined {
	for (const part of judged.parts) {
		const lack = lackOf(part, judged);
		if (lack === undefined) continue;
		const written = clip(`{{${part.code}}}`);
		// What is there, be it a blank, no other word replaces.
		const better = withWord(part.code);
		const mayBeReplaced = isSeen(judged.use) && part.text === '' && better !== part.code.trim();
		const instead = `, or write what stands in its place, such as {{ ${clip(better)} }}`;
		return {
			what: `has a part that gave ${lack}, ${written}`,
			fix: `Fill in what ${written} reads${mayBeReplaced ? instead : ''}.`,
		};
	}
	return undefined;
}
