import type { Field, ItemParameters } from '../n8n/parameters';
import { quote, trimHidden } from '../service/text';
import { judge } from '../texts/judge';
import { invalid, isBlank, missing, readRequired, requireDigits, sourceOf } from './values';

/** What people write between IDs: commas and semicolons of all scripts, bars and line breaks. */
const separators = ',，､、،፣;；؛፤\\u037E|｜\\r\\n\\u0085\\u2028\\u2029';
const separator = new RegExp(`[${separators}]`);

/** Blanks, brackets and quotes mean that several were meant, a name, or JSON. */
const oneId = new RegExp(
	`^[^\\s\\p{Cf}\\p{Default_Ignorable_Code_Point}${separators}()[\\]{}"'\`“”„‘’«»]+$`,
	'u',
);
const severalNumbers = new RegExp(`^[\\d\\s${separators}]+$`);

/** @throws InvalidInput if a value is not one ID: a text, or a whole number. `fix` says what to do about several. */
function checkId(item: ItemParameters, field: Field, value: unknown, fix: string) {
	if (typeof value === 'string') {
		const id = trimHidden(value);
		judge(sourceOf(item, field), id, 'id');
		if (oneId.test(id)) return id;
	}
	if (typeof value === 'number') {
		requireDigits(field, value);
		if (Number.isInteger(value) && value >= 0) return value;
	}
	const areSeveral = typeof value === 'string' && severalNumbers.test(value);
	const what = `holds what is not one ID: ${quote(value)}`;
	throw invalid(field, what, areSeveral ? fix : 'Enter the ID alone, not a name.');
}

/** Reads one ID, as text: so it keeps its digits, however long it is. */
export const readId = (item: ItemParameters, field: Field): string =>
	String(checkId(item, field, readRequired(item, field), 'Use one item for each ID.'));

/** @throws InvalidInput if an ID is that of no campaign: dots alone walk up the path of a request */
export function requireCampaignId(field: Field, id: string): string {
	if (/^\.+$/.test(id)) throw invalid(field, `is not a campaign's ID: "${id}"`);
	return id;
}

/** @throws InvalidInput if it is not made of digits */
export function readSubscriberId(item: ItemParameters, field: Field): string {
	const id = readId(item, field);
	if (/^\d+$/.test(id)) return id;
	throw invalid(field, `is not a number: "${id}"`, 'Enter digits only, such as 5001.');
}

/** An ID that is in a text twice counts once. */
function toList(value: unknown): readonly unknown[] {
	if (Array.isArray(value)) return value;
	if (typeof value !== 'string') return [value];
	const ids = value.split(separator).filter((id) => !isBlank(id));
	return [...new Set(ids.map(trimHidden))];
}

/** Reads a list of IDs, at least one: a text of several, a number, or an array, of which each entry is taken. */
export function readIds(item: ItemParameters, field: Field): Array<string | number> {
	const value = readRequired(item, field);
	if (typeof value === 'string') judge(sourceOf(item, field), value, 'parameter');
	const ids = toList(value);
	if (ids.length === 0) throw missing(item, field);
	return ids.map((id) => checkId(item, field, id, 'Separate the IDs by commas.'));
}
