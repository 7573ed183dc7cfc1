import * as fc from 'fast-check';
import { jsonParse, type IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { digest } from '../../../nodes/PushCampaign/send/digest';
import type { Identity, Ledger, Place } from '../../../nodes/PushCampaign/send/ledger';
import type * as ledgersModule from '../../../nodes/PushCampaign/send/ledgers';
import { openLedger } from '../../../nodes/PushCampaign/send/ledgers';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/outcome';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';

const sent = (campaignId?: string, sendAt?: string): SendOutcome => ({
	kind: 'done',
	value: {
		description: 'Campaign created',
		...(campaignId === undefined ? {} : { campaignId }),
		...(sendAt === undefined ? {} : { sendAt }),
	},
});
const unknown: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'bad_request' }), 'send'),
};
/** As it is told without asking the service. */
const recalled = (outcome: SendOutcome) => ({ ...outcome, wasRequested: false });

const identity = (content: unknown, source?: unknown): Identity => ({
	kind: 'send',
	content: digest(content),
	...(source === undefined ? {} : { source: digest(source) }),
});
const a = identity('a');
const at = (itemIndex: number, run = 0): Place => ({ run, itemIndex });

/** Makes a send that ends so, whatever is known of it. */
const record = async (ledger: Ledger, place: Place, send: Identity, outcome: SendOutcome) =>
	await ledger.once(place, send, true, async () => await Promise.resolve(outcome));
const find = (ledger: Ledger, place: Place, send: Identity) => ledger.recall(place, send, false);

/** What n8n does when it saves an execution, and 'Retry' loads it. */
const saveAndLoad = (context: IDataObject): IDataObject => structuredClone(context);

/** Another process, which knows nothing of what this one did. */
async function inAnotherProcess(work: (open: typeof openLedger) => Promise<void>) {
	await jest.isolateModulesAsync(async () => {
		const module = '../../../nodes/PushCampaign/send/ledgers';
		await work(jest.requireActual<typeof ledgersModule>(module).openLedger);
	});
}

const saved = z.object({
	pushCampaignLedger: z.object({ id: z.string(), sends: z.record(z.unknown()) }),
});
const savedId = (context: IDataObject) => saved.parse(context).pushCampaignLedger.id;

const attempted = () => jest.fn(async () => await Promise.resolve(sent('new')));

/** A send whose answer comes when it is told to. */
function slowSend() {
	let answer = (_outcome: SendOutcome) => {};
	const attempt = jest.fn(
		async () => await new Promise<SendOutcome>((resolve) => (answer = resolve)),
	);
	return { attempt, answer: (outcome: SendOutcome) => answer(outcome) };
}

describe('what was sent, or is unknown', () => {
	test.each([
		['sent', sent('1001')],
		['sent and scheduled', sent('1001', '2030-05-17 09:30 +02:00')],
		['sent to one subscriber', sent()],
		['sent under an odd ID', sent('a|b\nc%é📣')],
		['sent without a description', { kind: 'done', value: { description: '' } } as const],
		['unknown', unknown],
		[
			'unknown by a timeout',
			{ kind: 'failed', problem: explain(reasons.timeout(1500), 'send') } as const,
		],
		...(
			[
				'rate-limited',
				'temporarily-unavailable',
				'credential-invalid',
				'configuration-invalid',
			] as const
		).map((cause): [string, SendOutcome] => [
			`unknown because of ${cause}`,
			{ kind: 'failed', problem: { ...explain(reasons.connectionLost, 'send'), cause } },
		]),
	])('is found again, also by another process: %s', async (_what, outcome) => {
		const context: IDataObject = {};
		expect(await record(openLedger(context), at(3), a, outcome)).toEqual(outcome);
		expect(find(openLedger(context), at(3), a)).toEqual(recalled(outcome));
		await inAnotherProcess(async (open) => {
			const found = find(open(saveAndLoad(context)), at(3), a);
			expect(await Promise.resolve(found)).toEqual(recalled(outcome));
		});
	});

	test('belongs to its content alone in an agent’s tool', async () => {
		const ledger = openLedger({});
		await record(ledger, 'tool', a, sent('1001'));
		expect(find(ledger, 'tool', a)).toEqual(recalled(sent('1001')));
		expect(find(ledger, 'tool', identity('b'))).toBeUndefined();
		expect(find(ledger, at(0), a)).toBeUndefined();
	});

	test('is known by its source too, where it has one', async () => {
		const ledger = openLedger({});
		await record(ledger, at(0), identity('10:00', 'item'), sent('1001'));
		const found = [
			identity('10:01', 'item'),
			identity('10:00', 'other'),
			identity('10:01', 'other'),
			identity('10:01'),
		].map((each) => find(ledger, at(0), each) !== undefined);
		expect(found).toEqual([true, true, false, false]);
		expect(find(ledger, at(1), identity('10:01', 'item'))).toBeUndefined();
	});

	test('is known by its source when it was unknown and was sent again with other content', async () => {
		const ledger = openLedger({});
		await record(ledger, at(0), identity('10:00', 'item'), unknown);
		await record(ledger, at(0), identity('10:01', 'item'), sent('1001'));
		for (const content of ['10:02', '10:00']) {
			expect(find(ledger, at(0), identity(content, 'item'))).toEqual(recalled(sent('1001')));
		}
	});

	test('is known by its content before its source, where the two name different sends', async () => {
		const ledger = openLedger({});
		await record(ledger, at(0), identity('a', 'one'), sent('1001'));
		await record(ledger, at(0), identity('b', 'two'), sent('1002'));
		expect(find(ledger, at(0), identity('a', 'two'))).toEqual(recalled(sent('1001')));
		expect(find(ledger, at(0), identity('c', 'two'))).toEqual(recalled(sent('1002')));
	});

	test('is another one than what was refused before it from the same source', async () => {
		const ledger = openLedger({});
		await record(ledger, at(0), identity('a', 'one'), refused);
		await record(ledger, at(0), identity('b', 'one'), sent('1001'));
		expect(find(ledger, at(0), identity('a', 'two'))).toBeUndefined();
		expect(find(ledger, at(0), identity('b', 'two'))).toEqual(recalled(sent('1001')));
	});
});

test.each([
	['refused', refused],
	['sent by somebody else under its key', { kind: 'done', value: 'alreadySent' } as const],
	['not started', { kind: 'notStarted' } as const],
])(
	'what was %s is not remembered, and what may have been sent before stays so',
	async (_what, outcome) => {
		const context: IDataObject = {};
		const ledger = openLedger(context);
		const empty = JSON.stringify(context);
		await record(ledger, at(0), identity('a', 'item'), outcome);
		expect(find(ledger, at(0), identity('b', 'item'))).toBeUndefined();
		expect(JSON.stringify(context)).toBe(empty);
		await record(ledger, at(0), identity('a', 'item'), unknown);
		await record(ledger, at(0), identity('a', 'item'), outcome);
		expect(find(ledger, at(0), identity('a', 'item'))).toEqual(recalled(unknown));
	},
);

describe('a send that is under way', () => {
	/** A ledger that n8n brought back, and another copy of it. */
	const retriedTwice = () => {
		const context: IDataObject = {};
		openLedger(context);
		return [openLedger(saveAndLoad(context)), openLedger(saveAndLoad(context))] as const;
	};

	test.each([
		['sent', sent('1001')],
		['unknown', unknown],
	])('is waited for by an equal one, of the same ledger or a copy of it: %s', async (_how, end) => {
		const [ledger, copy] = retriedTwice();
		const { attempt, answer } = slowSend();
		const first = ledger.once(at(0), a, false, attempt);
		expect(copy.recall(at(0), a, false)).toBeUndefined();
		const others = [ledger, copy].map(async (each) => await each.once(at(0), a, true, attempt));
		answer(end);
		expect(await first).toEqual(end);
		expect(await Promise.all(others)).toEqual([recalled(end), recalled(end)]);
		expect(attempt).toHaveBeenCalledTimes(1);
		expect(find(copy, at(0), a)).toEqual(recalled(end));
	});

	test('and is refused, lets an equal one try', async () => {
		const [ledger, copy] = retriedTwice();
		const { attempt, answer } = slowSend();
		const first = ledger.once(at(0), a, false, attempt);
		const second = copy.once(at(0), a, false, attempted());
		answer(refused);
		expect(await Promise.all([first, second])).toEqual([refused, sent('new')]);
	});

	test('is unknown to a process that knows only what was saved when it began', async () => {
		const context: IDataObject = {};
		const { attempt, answer } = slowSend();
		const first = openLedger(context).once(at(0), a, false, attempt);
		await inAnotherProcess(async (open) => {
			const found = await Promise.resolve(find(open(saveAndLoad(context)), at(0), a));
			expect(found).toEqual({
				kind: 'failed',
				problem: explain(reasons.canceled, 'send'),
				wasRequested: false,
			});
		});
		answer(sent());
		await first;
	});

	test('is not taken for unknown because a copy says so', async () => {
		const context: IDataObject = {};
		await record(openLedger(context), at(0), a, unknown);
		const { attempt, answer } = slowSend();
		const first = openLedger(saveAndLoad(context)).once(at(0), a, true, attempt);
		const copy = openLedger(saveAndLoad(context));
		answer(sent('1001'));
		await first;
		expect(find(copy, at(0), a)).toEqual(recalled(sent('1001')));
	});
});

test('Retry takes in what another process has sent', async () => {
	const context: IDataObject = {};
	await record(openLedger(context), at(0), a, unknown);
	openLedger(saveAndLoad(context));
	const elsewhere = saveAndLoad(context);
	await inAnotherProcess(async (open) => {
		await record(open(elsewhere), at(0), a, sent('1001'));
	});
	openLedger(elsewhere);
	expect(find(openLedger(saveAndLoad(context)), at(0), a)).toEqual(recalled(sent('1001')));
});

describe('what a process remembers of ledgers that were retried', () => {
	/** Retries an execution that had sent nothing, and sends so many items. */
	async function retry(open: typeof openLedger, size: number): Promise<IDataObject> {
		const context: IDataObject = {};
		open(context);
		const before = saveAndLoad(context);
		const ledger = open(saveAndLoad(before));
		for (let item = 0; item < size; item += 1) await record(ledger, at(item), a, sent());
		return before;
	}
	const knows = (open: typeof openLedger, before: IDataObject | undefined) =>
		find(open(saveAndLoad(before ?? {})), at(0), a) !== undefined;

	test('is 5,000 of them, the one used longest ago out first, whatever else is executed', async () => {
		await inAnotherProcess(async (open) => {
			const [first, second] = [await retry(open, 1), await retry(open, 1)];
			for (let count = 0; count < 4_998; count += 1) await retry(open, 0);
			for (let count = 0; count < 5_000; count += 1) open({});
			expect(knows(open, first)).toBe(true);
			await retry(open, 0);
			expect([first, second].map((each) => knows(open, each))).toEqual([true, false]);
		});
	});

	test('is 100,000 sends, and what was used last whatever it holds', async () => {
		await inAnotherProcess(async (open) => {
			const sizes = [1, 49_999, 50_000];
			const [small, large, last] = [
				await retry(open, sizes[0] ?? 0),
				await retry(open, sizes[1] ?? 0),
				await retry(open, sizes[2] ?? 0),
			];
			await retry(open, 0);
			expect([small, large, last].map((each) => knows(open, each))).toEqual([true, true, true]);
			await retry(open, 1);
			// Another one makes room, and no more than is needed.
			await retry(open, 0);
			expect([large, last].map((each) => knows(open, each))).toEqual([true, true]);
			expect(knows(open, small)).toBe(false);
			const huge = await retry(open, 100_001);
			expect(knows(open, huge)).toBe(true);
		});
	}, 120_000);

	test('keeps a ledger whose sends are being made', async () => {
		await inAnotherProcess(async (open) => {
			const context: IDataObject = {};
			open(context);
			const { attempt, answer } = slowSend();
			const first = open(saveAndLoad(context)).once(at(0), a, false, attempt);
			for (let count = 0; count < 5_001; count += 1) await retry(open, 0);
			const second = open(saveAndLoad(context)).once(at(0), a, false, attempt);
			answer(sent('1001'));
			await Promise.all([first, second]);
			expect(attempt).toHaveBeenCalledTimes(1);
		});
	});
});

test.each([undefined, null, 'x', 7, {}, { id: 7, sends: {} }, { id: 'x', sends: { a: ['sent'] } }])(
	'a context that holds %j instead is an empty ledger',
	async (pushCampaignLedger) => {
		const context = jsonParse<IDataObject>(JSON.stringify({ pushCampaignLedger, other: 1 }));
		const ledger = openLedger(context);
		expect(find(ledger, at(0), a)).toBeUndefined();
		await record(ledger, at(0), a, sent('1'));
		expect(openLedger(context)).toBe(ledger);
		expect(find(openLedger(saveAndLoad(context)), at(0), a)).toEqual(recalled(sent('1')));
		expect(context).toMatchObject({ other: 1 });
	},
);

test('an unknown outcome whose reason can’t be read is unknown all the same', () => {
	const sends = { [`0.0.${digest('a')}`]: ['unknown', null, '{'] };
	expect(find(openLedger({ pushCampaignLedger: { id: 'odd', sends } }), at(0), a)).toEqual({
		kind: 'failed',
		problem: explain(reasons.canceled, 'send'),
		wasRequested: false,
	});
});

// Executions that n8n saved with one version of the package are retried with the next.
test('is written as one tuple for each send', async () => {
	const context: IDataObject = {};
	const ledger = openLedger(context);
	await record(ledger, at(0), a, sent('10|01'));
	await record(ledger, at(0), identity('b', 'item'), sent(undefined, '2030-05-17 09:30 +02:00'));
	await record(ledger, at(2, 1), identity('c'), unknown);
	await record(ledger, 'tool', identity('d'), sent('7'));
	const [b, item, c, d] = ['b', 'item', 'c', 'd'].map(digest);
	expect(savedId(context)).toMatch(/^[0-9a-f-]{36}$/);
	expect(context).toEqual({
		pushCampaignLedger: {
			id: savedId(context),
			sends: {
				[`0.0.${a.content}`]: ['sent', null, 'Campaign created', '10|01', null],
				[`0.0.${b}`]: ['sent', item, 'Campaign created', null, '2030-05-17 09:30 +02:00'],
				[`1.2.${c}`]: ['unknown', null, JSON.stringify(explain(reasons.connectionLost, 'send'))],
				[`t.${d}`]: ['sent', null, 'Campaign created', '7', null],
			},
		},
	});
});

describe('a digest', () => {
	test('is short, and the same for the same content alone', () => {
		expect(digest({ a: 1 })).toMatch(/^[\w-]{16}$/);
		expect(digest({ a: 1 })).toBe(digest({ a: 1 }));
		expect(digest({ a: 1 })).not.toBe(digest({ a: '1' }));
	});

	test('is there for what holds itself, and for what JSON does not know', () => {
		const circular = (title: string) => {
			const item: Record<string, unknown> = { title };
			item['self'] = item;
			return item;
		};
		expect(digest(circular('a'))).toBe(digest(circular('a')));
		expect(digest(circular('a'))).not.toBe(digest(circular('b')));
		expect(digest({ id: 1n, note: null })).not.toBe(digest({ id: 2n, note: null }));
	});
});

test('remembers as a plain map would, through every save and Retry', async () => {
	const step = fc.record({
		kind: fc.constantFrom('once', 'save', 'retry an older one'),
		item: fc.nat(2),
		run: fc.constantFrom(0, 1),
		content: fc.constantFrom('a', 'b'),
		end: fc.constantFrom('sent', 'unknown', 'refused'),
		resendUnknown: fc.boolean(),
		id: fc.string({ unit: 'grapheme' }),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
			let context: IDataObject = {};
			openLedger(context);
			let old = context;
			const model = new Map<string, SendOutcome>();
			for (const { kind, item, run, content, end, resendUnknown, id } of steps) {
				const key = [run, item, content].join();
				const [place, send] = [at(item, run), identity(content)];
				const outcome = { sent: sent(id), unknown, refused }[end];
				if (kind === 'once') {
					const known = model.get(key);
					const isMade = known === undefined || (known.kind === 'failed' && resendUnknown);
					const attempt = jest.fn(async () => await Promise.resolve(outcome));
					const came = await openLedger(context).once(place, send, resendUnknown, attempt);
					expect(attempt).toHaveBeenCalledTimes(isMade ? 1 : 0);
					expect(came).toEqual(isMade ? outcome : known);
					if (isMade && end !== 'refused') model.set(key, recalled(outcome));
				} else if (kind === 'save') context = saveAndLoad(context);
				else [old, context] = [context, saveAndLoad(old)];
				expect(find(openLedger(context), place, send)).toEqual(model.get(key));
			}
		}),
	);
});
