import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';

import { itemParameters } from '../../nodes/PushCampaign/n8n/parameters';
import { anyCodePoints } from '../support/text';
import { credentialsFor, push, useSimulator } from './support/pushCampaign';
import { ownAgentContext } from './support/run';
import { chain } from './support/workflow';

// The package puts the texts of expressions together by itself: it has to come to what n8n itself makes of them.

const simulator = useSimulator();

const json: IDataObject = {
	...{ name: 'Ann', blank: '', none: null, price: 19.9, zero: 0, on: true, off: false },
	...{ tags: ['x', null, 'y'], nothing: [], user: { 'first name': 'Bo', age: 7 }, "it's": 'so' },
	...{ big: 2 ** 60, wide: '🌷', half: '\uD83C', lines: 'one\ntwo', html: '<b>\n' },
	...{ text: 'a {{ b }} $& \\', when: '2030-05-17T09:30:00Z' },
};

const entriesOf = (text: string) => text.trim().split(/ ¦[ \n]\t*/);

const codes = entriesOf(String.raw`
	$json.name ¦  $json.blank  ¦ $json.none ¦ $json.missing ¦ $json.price ¦ $json.zero ¦ $json.on ¦ $json.off ¦
	$json.text ¦ $json.tags ¦ $json.nothing ¦ $json.user ¦ $json.half ¦ $json.big ¦ $json.lines ¦
	$json.user['first name'] ¦ $json?.user?.age ¦ $json.missing.more ¦ $json.missing?.more ¦ $json["it's"] ¦
	$json[${'`name`'}] ¦ $json[ 'name' ] ¦ $json.name.length ¦ $json.name.trim() ¦ $json.missing.trim() ¦
	$json.missing?.trim() ¦ $json.name.split('n')[0] ¦ $json.price * 0.8 ¦ Number($json.missing) ¦
	Number("x").toFixed(2) ¦ 1 / $json.zero ¦ -1 / 0 ¦ $json.missing || 'there' ¦ $json.blank ?? 'x' ¦
	$json.on && $json.off ¦ $json.on ? 1 : 2 ¦ ${'`Hi ${$json.name}`'} ¦ 'Hi ' + $json.missing ¦ "{{" ¦
	"}" + "}" ¦ { a: 1 }.a ¦ $if($json.on, 1, 2) ¦ $json.html.replace(/<.?>/g, "") ¦
	$json.when.toDateTime().year ¦ [1, 2].first() ¦ $json.blank.isEmpty() ¦ $json.missing?.first() ¦
	$json.tags.join(" + ") ¦ $json.tags.map((tag) => tag) ¦ $json.tags.filter((tag) => tag === "z") ¦
	encodeURIComponent($json.wide) ¦ DateTime.fromMillis(0).toUTC() ¦ JSON.stringify($json.user) ¦ new Date(NaN) ¦
	$today.year ¦ undefined ¦ null ¦ NaN ¦ '' ¦ false ¦ 0 ¦ x ¦ "\n"`);

/** What n8n throws for, what has an end of its own, and the mark itself. */
const oddCodes = entriesOf(String.raw`
	$json.name + ¦ {a: {b: 1} ¦ () => 1 ¦ Symbol("a") ¦ "\}}" ¦ '\uFDD0' ¦ DateTime.fromISO("x") ¦
	$json.name.constructor ¦ $("Not there").item.json.a`);

const literals = entriesOf(String.raw`
	Hello  ¦ ! ¦ }}  ¦ } ¦ { ¦ { { ¦ $json.name ¦ ' ¦ " ¦ ${'`${1}`'} ¦ = ¦ - ¦ 🌷 ¦ <b> ¦
	https://shop.example/?a= ¦ ; return 1 ¦ $&`);

/** What n8n reads in its own way. */
const escapes = ['\\', '\\\\', '\\{{ a }}', '{{'];

const bracesOf = (some: readonly string[]) => fc.constantFrom(...some).map((code) => `{{${code}}}`);
const piece = fc.oneof(
	{ weight: 12, arbitrary: bracesOf(codes) },
	{ weight: 10, arbitrary: fc.constantFrom(...literals, '', ' ', '\n', '\u200f') },
	{ weight: 3, arbitrary: anyCodePoints({ maxLength: 5 }) },
	{ weight: 1, arbitrary: bracesOf(oddCodes) },
	{ weight: 1, arbitrary: fc.constantFrom(...escapes) },
);
const template = fc
	.array(piece, { minLength: 1, maxLength: 7 })
	.map((pieces) => pieces.join(''))
	.filter((text) => !text.startsWith('='));

/** The text that is read, or what else comes of it: what is no text only n8n evaluates. */
function outcomeOf(read: () => unknown) {
	try {
		const value = read();
		return typeof value === 'string' ? { text: value } : { is: 'another value' };
	} catch {
		return { is: 'refused' };
	}
}

test('a text has what n8n makes of it, whatever stands in its braces and around them', () => {
	fc.assert(
		fc.property(template, (text) => {
			const context = ownAgentContext(chain([push({ title: `=${text}` })]), {
				credentials: credentialsFor(simulator()),
				input: [{ json }],
			});
			const field = { label: 'Title', path: 'title' };
			expect(outcomeOf(() => itemParameters(context)(0).get(field))).toEqual(
				outcomeOf(() => context.getNodeParameter('title', 0, null)),
			);
		}),
		{ numRuns: 300 },
	);
});
