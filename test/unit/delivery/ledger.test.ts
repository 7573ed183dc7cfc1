import * as fc from 'fast-check';
import { jsonParse, type IDataObject } from 'n8n-workflow';
import type { Entry, Identity } from '../../../nodes/PushCampaign/delivery/ledger';
import { digest, Ledger } from '../../../nodes/PushCampaign/delivery/ledger';
import {
	connectionLostProblem,
	timeoutProblem,
} from '../../../nodes/PushCampaign/service/failures';

const sent = (campaignId?: string, sendAt?: string): Entry => ({
	outcome: 'sent',
	receipt: {
		description: 'Campaign created',
		...(campaignId === undefined ? {} : { campaignId }),
		...(sendAt === undefined ? {} : { sendAt }),
	},
});
const unknown = { outcome: 'unknown', problem: connectionLostProblem('send') } as const;
const identity = (content: unknown, source?: unknown): Identity => ({
	content: digest(content),
	source: source === undefined ? undefined : digest(source),
});

/** What n8n does between two tries: keeps the context, or saves it with the execution. */
const saveAndLoad = (context: IDataObject): IDataObject => structuredClone(context);

describe('what was recorded', () => {
	test.each([
		['sent', sent('1001')],
		['sent and scheduled', sent('1001', '2030-05-17 09:30 +02:00')],
		['sent to one subscriber', sent()],
		['sent under an odd ID', sent('a|b\nc%é📣')],
		['unknown', unknown],
		[
			'unknown by a timeout',
			{ outcome: 'unknown', problem: timeoutProblem(1500, 'send') } as const,
		],
		[
			'sent with an odd description',
			{ outcome: 'sent', receipt: { description: 'a|b\n"c"', campaignId: '1' } } as const,
		],
		...(
			[
				'rate-limited',
				'temporarily-unavailable',
				'credential-invalid',
				'configuration-invalid',
			] as const
		).map((cause): [string, Entry] => [
			`unknown because of ${cause}`,
			{ outcome: 'unknown', problem: { ...unknown.problem, cause } },
		]),
		['sent without a description', { outcome: 'sent', receipt: { description: '' } } as const],
	])('is found again: %s', (_what, entry) => {
		const context: IDataObject = {};
		new Ledger(context, '0').record(3, identity('a'), entry);
		expect(new Ledger(context, '0').find(3, identity('a'))).toEqual(entry);
		expect(new Ledger(saveAndLoad(context), '0').find(3, identity('a'))).toEqual(entry);
	});

	test('belongs to its item, its run and its content', () => {
		const context: IDataObject = {};
		const ledger = new Ledger(context, '0');
		ledger.record(3, identity('a'), sent('1001'));
		expect(ledger.find(2, identity('a'))).toBeUndefined();
		expect(ledger.find(3, identity('b'))).toBeUndefined();
		expect(new Ledger(context, '1').find(3, identity('a'))).toBeUndefined();
		expect(new Ledger({}, '0').find(3, identity('a'))).toBeUndefined();
		expect(new Ledger(context, '0').find(3, identity('a'))).toEqual(sent('1001'));
	});

	test('is known by its source too, where it has one', () => {
		const ledger = new Ledger({}, '0');
		ledger.record(0, identity('at 10:00', 'item'), sent('1001'));
		expect(ledger.find(0, identity('at 10:01', 'item'))).toEqual(sent('1001'));
		expect(ledger.find(0, identity('at 10:00', 'other'))).toEqual(sent('1001'));
		expect(ledger.find(0, identity('at 10:01', 'other'))).toBeUndefined();
		expect(ledger.find(0, identity('at 10:01'))).toBeUndefined();
		expect(ledger.find(0, { content: digest('at 10:01'), source: '' })).toBeUndefined();
	});

	test('is replaced by what is known later', () => {
		const ledger = new Ledger({}, '0');
		ledger.record(0, identity('a'), unknown);
		ledger.record(0, identity('a'), sent('1001'));
		expect(ledger.find(0, identity('a'))).toEqual(sent('1001'));
	});

	test('stays beside another content of the same item', () => {
		const ledger = new Ledger({}, '0');
		ledger.record(0, identity('a'), sent('1001'));
		ledger.record(0, identity('b'), sent('1002'));
		expect(ledger.find(0, identity('a'))).toEqual(sent('1001'));
		expect(ledger.find(0, identity('b'))).toEqual(sent('1002'));
	});

	test('is forgotten alone', () => {
		const context: IDataObject = {};
		const ledger = new Ledger(context, '0');
		const empty = JSON.stringify(context);
		ledger.record(0, identity('a'), sent());
		ledger.record(0, identity('b'), sent());
		ledger.record(1, identity('a'), sent());
		ledger.forget(0, identity('a'));
		ledger.forget(5, identity('a'));
		expect(ledger.find(0, identity('a'))).toBeUndefined();
		expect(ledger.find(0, identity('b'))).toEqual(sent());
		expect(ledger.find(1, identity('a'))).toEqual(sent());
		ledger.forget(0, identity('b'));
		ledger.forget(1, identity('a'));
		expect(JSON.stringify(context).replace('"Campaign created"', '')).toBe(empty);
	});
});

test.each([undefined, null, 'x', 7, {}, { texts: [7], runs: {} }, { texts: [], runs: { 0: 7 } }])(
	'a context that holds %j instead is an empty ledger',
	(pushCampaignLedger) => {
		const context = jsonParse<IDataObject>(JSON.stringify({ pushCampaignLedger, other: 1 }));
		const ledger = new Ledger(context, '0');
		expect(ledger.find(0, identity('a'))).toBeUndefined();
		ledger.record(0, identity('a'), sent('1'));
		expect(new Ledger(context, '0').find(0, identity('a'))).toEqual(sent('1'));
		expect(context).toMatchObject({ other: 1 });
	},
);

// Executions that n8n saved with one version of the package are retried with the next.
test('is written as it has always been', () => {
	const context: IDataObject = {};
	const ledger = new Ledger(context, '0');
	ledger.record(0, identity('a'), sent('10|01'));
	ledger.record(0, identity('b', 'item'), sent(undefined, '2030-05-17 09:30 +02:00'));
	ledger.record(2, identity('c'), unknown);
	const [a, b, item, c] = ['a', 'b', 'item', 'c'].map(digest);
	expect(context).toEqual({
		pushCampaignLedger: {
			texts: ['Campaign created', JSON.stringify(unknown.problem)],
			runs: {
				0: {
					0: `sent|${a}||0||10%7C01\nsent|${b}|${item}|0|2030-05-17 09:30 +02:00`,
					2: `unknown|${c}||1`,
				},
			},
		},
	});
});

test('an item whose text is missing is not remembered', () => {
	const line = ['sent', digest('a'), '', '7', '', '1001'].join('|');
	const context = { pushCampaignLedger: { texts: [], runs: { 0: { 0: line } } } };
	expect(new Ledger(context, '0').find(0, identity('a'))).toBeUndefined();
});

test('keeps a text once, however many items share it', () => {
	const context: IDataObject = {};
	for (let item = 0; item < 10; item += 1) {
		new Ledger(context, '0').record(item, identity(item), item % 2 === 0 ? sent() : unknown);
	}
	expect(context).toMatchObject({
		pushCampaignLedger: { texts: ['Campaign created', JSON.stringify(unknown.problem)] },
	});
});

test('an item takes about 60 bytes, and never more than 80', () => {
	const items = 5000;
	const sizeOf = (source: string | undefined) => {
		const context: IDataObject = {};
		const ledger = new Ledger(context, '0');
		for (let item = 0; item < items; item += 1) {
			ledger.record(item, identity(item, source && [source, item]), sent(String(100_000 + item)));
		}
		return JSON.stringify(context).length / items;
	};
	expect(sizeOf(undefined)).toBeLessThan(60);
	expect(sizeOf('{{ $now }}')).toBeLessThan(80);
});

describe('a digest', () => {
	test('is short, and the same for the same content alone', () => {
		expect(digest({ a: 1 })).toMatch(/^[\w-]{16}$/);
		expect(digest({ a: 1 })).toBe(digest({ a: 1 }));
		expect(digest({ a: 1 })).not.toBe(digest({ a: '1' }));
		const digests = Array.from({ length: 1000 }, (_, index) => digest(index));
		expect(new Set(digests).size).toBe(1000);
	});
});

test('remembers as a plain map would, through every save', () => {
	const step = fc.record({
		kind: fc.constantFrom('record', 'forget', 'save'),
		item: fc.nat(3),
		run: fc.constantFrom('0', '1'),
		content: fc.constantFrom('a', 'b'),
		id: fc.string({ unit: 'grapheme' }),
	});
	fc.assert(
		fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
			let context: IDataObject = {};
			const model = new Map<string, Entry>();
			for (const { kind, item, run, content, id } of steps) {
				const key = [run, item, content].join();
				const ledger = new Ledger(context, run);
				if (kind === 'record') {
					ledger.record(item, identity(content), sent(id));
					model.set(key, sent(id));
				} else if (kind === 'forget') {
					ledger.forget(item, identity(content));
					model.delete(key);
				} else context = saveAndLoad(context);
				expect(new Ledger(context, run).find(item, identity(content))).toEqual(model.get(key));
			}
		}),
	);
});
