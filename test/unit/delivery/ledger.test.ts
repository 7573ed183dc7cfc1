import * as fc from 'fast-check';
import { jsonParse, type IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import type * as ledgerModule from '../../../nodes/PushCampaign/delivery/ledger';
import type {
	Entry,
	Identity,
	Place,
	SendOutcome,
} from '../../../nodes/PushCampaign/delivery/ledger';
import { digest, Ledger } from '../../../nodes/PushCampaign/delivery/ledger';
import {
	connectionLostProblem,
	failureProblem,
	interruptedProblem,
	timeoutProblem,
} from '../../../nodes/PushCampaign/service/failures';

const sent = (campaignId?: string, sendAt?: string): SendOutcome => ({
	kind: 'done',
	value: {
		description: 'Campaign created',
		...(campaignId === undefined ? {} : { campaignId }),
		...(sendAt === undefined ? {} : { sendAt }),
	},
});
const unknown: SendOutcome = { kind: 'failed', problem: connectionLostProblem('send') };
const refused: SendOutcome = {
	kind: 'failed',
	problem: failureProblem({ status: 'failure', type: 'bad_request' }, 'send'),
};
const identity = (content: unknown, source?: unknown): Identity => ({
	content: digest(content),
	...(source === undefined ? {} : { source: digest(source) }),
});
const at = (itemIndex: number, run = 0): Place => ({ run, itemIndex });

/** Makes a send that ends so, whatever is known of it. */
const record = async (ledger: Ledger, place: Place, send: Identity, outcome: SendOutcome) =>
	await ledger.once(place, send, true, async () => await Promise.resolve(outcome));

const entryOf = (outcome: SendOutcome): Entry => {
	if (outcome.kind === 'failed') return { outcome: 'unknown', problem: outcome.problem };
	if (outcome.kind !== 'done' || outcome.value === 'alreadySent') throw new Error('No entry');
	return { outcome: 'sent', receipt: outcome.value };
};

/** What n8n does when it saves an execution, and 'Retry' loads it. */
const saveAndLoad = (context: IDataObject): IDataObject => structuredClone(context);

/** The ledger as another process has it, which knows nothing of what this one did. */
async function inAnotherProcess<Value>(work: (Other: typeof Ledger) => Promise<Value>) {
	let result: Value | undefined;
	await jest.isolateModulesAsync(async () => {
		const module = '../../../nodes/PushCampaign/delivery/ledger';
		result = await work(jest.requireActual<typeof ledgerModule>(module).Ledger);
	});
	return result;
}

const saved = z.object({
	pushCampaignLedger: z.object({ id: z.string(), sends: z.record(z.unknown()) }),
});
const savedId = (context: IDataObject) => saved.parse(context).pushCampaignLedger.id;
const savedSends = (context: IDataObject) =>
	Object.keys(saved.parse(context).pushCampaignLedger.sends);

const attempted = () => jest.fn(async () => await Promise.resolve(sent('new')));

describe('what was sent, or is unknown', () => {
	test.each([
		['sent', sent('1001')],
		['sent and scheduled', sent('1001', '2030-05-17 09:30 +02:00')],
		['sent to one subscriber', sent()],
		['sent under an odd ID', sent('a|b\nc%é📣')],
		['unknown', unknown],
		['unknown by a timeout', { kind: 'failed', problem: timeoutProblem(1500, 'send') } as const],
		...(
			[
				'rate-limited',
				'temporarily-unavailable',
				'credential-invalid',
				'configuration-invalid',
			] as const
		).map((cause): [string, SendOutcome] => [
			`unknown because of ${cause}`,
			{ kind: 'failed', problem: { ...connectionLostProblem('send'), cause } },
		]),
		['sent without a description', { kind: 'done', value: { description: '' } } as const],
	])('is found again, also by another process: %s', async (_what, outcome) => {
		const context: IDataObject = {};
		expect(await record(new Ledger(context), at(3), identity('a'), outcome)).toEqual(outcome);
		expect(new Ledger(context).find(at(3), identity('a'))).toEqual(entryOf(outcome));
		const found = await inAnotherProcess(
			async (Other) =>
				await Promise.resolve(new Other(saveAndLoad(context)).find(at(3), identity('a'))),
		);
		expect(found).toEqual(entryOf(outcome));
	});

	test('is not attempted again', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('a'), sent('1001'));
		await record(ledger, at(1), identity('a'), unknown);
		const attempt = attempted();
		expect(await ledger.once(at(0), identity('a'), true, attempt)).toEqual({
			...sent('1001'),
			wasRequested: false,
		});
		expect(await ledger.once(at(1), identity('a'), false, attempt)).toEqual(unknown);
		expect(attempt).not.toHaveBeenCalled();
	});

	test('is attempted again where it is unknown and is to be sent again', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(1), identity('a'), unknown);
		const attempt = attempted();
		expect(await ledger.once(at(1), identity('a'), true, attempt)).toEqual(sent('new'));
		expect(ledger.find(at(1), identity('a'))).toEqual(entryOf(sent('new')));
	});

	test('belongs to its item, its run and its content', async () => {
		const context: IDataObject = {};
		const ledger = new Ledger(context);
		await record(ledger, at(3), identity('a'), sent('1001'));
		expect(ledger.find(at(2), identity('a'))).toBeUndefined();
		expect(ledger.find(at(3), identity('b'))).toBeUndefined();
		expect(ledger.find(at(3, 1), identity('a'))).toBeUndefined();
		expect(ledger.find('tool', identity('a'))).toBeUndefined();
		expect(new Ledger({}).find(at(3), identity('a'))).toBeUndefined();
	});

	test('belongs to its content alone in an agent’s tool', async () => {
		const ledger = new Ledger({});
		await record(ledger, 'tool', identity('a'), sent('1001'));
		expect(ledger.find('tool', identity('a'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find('tool', identity('b'))).toBeUndefined();
	});

	test('is known by its source too, where it has one', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('at 10:00', 'item'), sent('1001'));
		expect(ledger.find(at(0), identity('at 10:01', 'item'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find(at(0), identity('at 10:00', 'other'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find(at(0), identity('at 10:01', 'other'))).toBeUndefined();
		expect(ledger.find(at(0), identity('at 10:01'))).toBeUndefined();
		expect(ledger.find(at(1), identity('at 10:01', 'item'))).toBeUndefined();
	});

	test('is known by its source when it was unknown and was sent again with other content', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('at 10:00', 'item'), unknown);
		await record(ledger, at(0), identity('at 10:01', 'item'), sent('1001'));
		expect(ledger.find(at(0), identity('at 10:02', 'item'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find(at(0), identity('at 10:00', 'item'))).toEqual(entryOf(sent('1001')));
	});

	test('is known by its content before its source, where the two name different sends', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('a', 'one'), sent('1001'));
		await record(ledger, at(0), identity('b', 'two'), sent('1002'));
		expect(ledger.find(at(0), identity('a', 'two'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find(at(0), identity('c', 'two'))).toEqual(entryOf(sent('1002')));
	});

	test('is another one than what was refused before it from the same source', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('a', 'one'), refused);
		await record(ledger, at(0), identity('b', 'one'), sent('1001'));
		expect(ledger.find(at(0), identity('a', 'two'))).toBeUndefined();
		expect(ledger.find(at(0), identity('b', 'two'))).toEqual(entryOf(sent('1001')));
	});

	test('stays beside another content of the same item', async () => {
		const ledger = new Ledger({});
		await record(ledger, at(0), identity('a'), sent('1001'));
		await record(ledger, at(0), identity('b'), sent('1002'));
		expect(ledger.find(at(0), identity('a'))).toEqual(entryOf(sent('1001')));
		expect(ledger.find(at(0), identity('b'))).toEqual(entryOf(sent('1002')));
	});
});

test.each([
	['refused', refused],
	['sent by somebody else under its key', { kind: 'done', value: 'alreadySent' } as const],
	['not started', { kind: 'notStarted' } as const],
])('what was %s is not remembered', async (_what, outcome) => {
	const context: IDataObject = {};
	const ledger = new Ledger(context);
	const empty = JSON.stringify(context);
	await record(ledger, at(0), identity('a', 'item'), outcome);
	expect(ledger.find(at(0), identity('a', 'item'))).toBeUndefined();
	expect(ledger.find(at(0), identity('b', 'item'))).toBeUndefined();
	expect(JSON.stringify(context)).toBe(empty);
});

/** A send whose answer comes when it is told to. */
function slowSend() {
	let answer = (_outcome: SendOutcome) => {};
	const attempt = jest.fn(
		async () => await new Promise<SendOutcome>((resolve) => (answer = resolve)),
	);
	return { attempt, answer: (outcome: SendOutcome) => answer(outcome) };
}

describe('a send that is under way', () => {
	test('is waited for by an equal one, of the same context or a copy of it', async () => {
		const context: IDataObject = {};
		const { attempt, answer } = slowSend();
		const first = new Ledger(context).once(at(0), identity('a'), false, attempt);
		const others = [context, saveAndLoad(context)].map((each) => {
			const ledger = new Ledger(each);
			expect(ledger.recall(at(0), identity('a'), false)).toBeUndefined();
			return ledger.once(at(0), identity('a'), true, attempt);
		});
		answer(sent('1001'));
		expect(await first).toEqual(sent('1001'));
		const followed = { ...sent('1001'), wasRequested: false };
		expect(await Promise.all(others)).toEqual([followed, followed]);
		expect(attempt).toHaveBeenCalledTimes(1);
		expect(new Ledger(context).recall(at(0), identity('a'), true)).toEqual(followed);
	});

	test('and fails, fails for the one that waited too, as it was', async () => {
		const context: IDataObject = {};
		const { attempt, answer } = slowSend();
		const sends = [1, 2].map(async () =>
			new Ledger(context).once(at(0), identity('a'), false, attempt),
		);
		answer(unknown);
		expect(await Promise.all(sends)).toEqual([unknown, unknown]);
		expect(attempt).toHaveBeenCalledTimes(1);
	});

	test('is unknown to a process that knows only what was saved when it began', async () => {
		const context: IDataObject = {};
		const { attempt, answer } = slowSend();
		const first = new Ledger(context).once(at(0), identity('a'), false, attempt);
		const found = await inAnotherProcess(
			async (Other) =>
				await Promise.resolve(new Other(saveAndLoad(context)).find(at(0), identity('a'))),
		);
		expect(found).toEqual({ outcome: 'unknown', problem: interruptedProblem });
		answer(sent());
		await first;
	});

	test('beside another one loses nothing: both work on the same entries', async () => {
		const context: IDataObject = {};
		const [a, b] = [slowSend(), slowSend()];
		const sends = [
			new Ledger(context).once('tool', identity('a'), false, a.attempt),
			new Ledger(context).once('tool', identity('b'), false, b.attempt),
		];
		a.answer(unknown);
		b.answer(sent('1002'));
		await Promise.all(sends);
		const loaded = saveAndLoad(context);
		expect(savedSends(loaded)).toHaveLength(2);
		const again = attempted();
		expect(await new Ledger(context).once('tool', identity('a'), false, again)).toEqual(unknown);
		expect(again).not.toHaveBeenCalled();
	});
});

describe('Retry of the same failed execution again', () => {
	test('finds what an earlier Retry of it has sent since', async () => {
		const context: IDataObject = {};
		await record(new Ledger(context), at(0), identity('a'), sent('1001'));
		const saved = saveAndLoad(context);
		await record(new Ledger(saveAndLoad(saved)), at(1), identity('b'), sent('1002'));
		await record(new Ledger(saveAndLoad(saved)), at(2), identity('c'), unknown);
		const again = new Ledger(saveAndLoad(saved));
		expect(again.find(at(0), identity('a'))).toEqual(entryOf(sent('1001')));
		expect(again.find(at(1), identity('b'))).toEqual(entryOf(sent('1002')));
		expect(again.find(at(2), identity('c'))).toEqual(entryOf(unknown));
	});

	test('takes sent for sent, where an older copy says that it is unknown', async () => {
		const context: IDataObject = {};
		await record(new Ledger(context), at(0), identity('a'), unknown);
		const saved = saveAndLoad(context);
		await record(new Ledger(saveAndLoad(saved)), at(0), identity('a'), sent('1001'));
		expect(new Ledger(saved).find(at(0), identity('a'))).toEqual(entryOf(sent('1001')));
	});

	test('takes in what another process has sent', async () => {
		const context: IDataObject = {};
		await record(new Ledger(context), at(0), identity('a'), unknown);
		const elsewhere = saveAndLoad(context);
		await inAnotherProcess(async (Other) => {
			await record(new Other(elsewhere), at(0), identity('a'), sent('1001'));
		});
		expect(new Ledger(elsewhere).find(at(0), identity('a'))).toEqual(entryOf(sent('1001')));
		expect(new Ledger(context).find(at(0), identity('a'))).toEqual(entryOf(sent('1001')));
	});

	test('is remembered for so many sends', async () => {
		await inAnotherProcess(async (Other) => {
			const [first, large]: IDataObject[] = [{}, {}];
			const early = new Other(first ?? {});
			const before = saveAndLoad(first ?? {});
			await record(early, at(0), identity('a'), sent());
			const ledger = new Other(large ?? {});
			for (let item = 0; item < 20_000; item += 1) {
				await record(ledger, at(item), identity(item), sent());
			}
			expect(new Other(saveAndLoad(before)).find(at(0), identity('a'))).toBeDefined();
			new Other({});
			expect(new Other(saveAndLoad(before)).find(at(0), identity('a'))).toBeDefined();
			// The large one was used last but two, and makes room.
			const known = saveAndLoad(large ?? {});
			known['pushCampaignLedger'] = { id: savedId(known), sends: {} };
			expect(new Other(known).find(at(0), identity(0))).toBeUndefined();
		});
	});
});

/** A ledger's copy that knows none of its sends, so that what is found is what the process remembers. */
function withoutSends(context: IDataObject): IDataObject {
	return { pushCampaignLedger: { id: savedId(context), sends: {} } };
}

describe('what a process remembers of its ledgers', () => {
	const send = identity('a');

	/** Another process, in which ledgers with so many sends each were used, one after another. */
	async function afterUseOf(
		sizes: readonly number[],
		look: (Other: typeof Ledger, contexts: readonly IDataObject[]) => Promise<void>,
	) {
		await inAnotherProcess(async (Other) => {
			const contexts: IDataObject[] = [];
			for (const size of sizes) {
				const context: IDataObject = {};
				const ledger = new Other(context);
				await record(ledger, at(0), send, unknown);
				// Neither a second entry of a send nor one that did not happen takes room.
				await record(ledger, at(0), identity('refused'), refused);
				for (let item = 1; item < size; item += 1) {
					await record(ledger, at(item), send, sent());
				}
				contexts.push(context);
			}
			await look(Other, contexts);
		});
	}
	const knows = (Other: typeof Ledger, context: IDataObject | undefined) =>
		new Other(withoutSends(context ?? {})).find(at(0), send) !== undefined;

	test('is up to 20,000 sends, and what was used last whatever it holds', async () => {
		await afterUseOf([10_000, 10_000], async (Other, [first, second]) => {
			new Other({});
			expect([first, second].map((context) => knows(Other, context))).toEqual([true, true]);
			const { pushCampaignLedger } = second ?? {};
			const ledger = new Other({ pushCampaignLedger });
			await record(ledger, at(10_000), send, sent());
			// One send too many: the ledger used longest ago goes, and no other.
			expect(knows(Other, second)).toBe(true);
			expect(knows(Other, first)).toBe(false);
			for (let item = 10_001; item < 20_001; item += 1) {
				await record(ledger, at(item), send, sent());
			}
			expect([1, 2].map(() => knows(Other, second))).toEqual([true, true]);
		});
	});

	test('is 200 ledgers, the one used longest ago out first', async () => {
		await afterUseOf(
			Array.from({ length: 201 }, () => 1),
			async (Other, [first, second]) => {
				expect(knows(Other, second)).toBe(true);
				expect(knows(Other, first)).toBe(false);
				await Promise.resolve();
			},
		);
	});

	test('makes no more room than is needed', async () => {
		await afterUseOf([50, 100, 100, 19_900], async (Other, contexts) => {
			new Other({});
			const known = contexts.map((context) => knows(Other, context));
			expect(known).toEqual([false, false, true, true]);
			await Promise.resolve();
		});
	});

	test('keeps a ledger whose sends are being made', async () => {
		await inAnotherProcess(async (Other) => {
			const context: IDataObject = {};
			const { attempt, answer } = slowSend();
			const first = new Other(context).once(at(0), send, false, attempt);
			for (let count = 0; count < 250; count += 1) new Other({});
			const second = new Other(withoutSends(context)).once(at(0), send, false, attempt);
			answer(sent('1001'));
			await Promise.all([first, second]);
			expect(attempt).toHaveBeenCalledTimes(1);
		});
	});

	test('is the same for an execution that goes on, also where it was dropped meanwhile', async () => {
		await inAnotherProcess(async (Other) => {
			const context: IDataObject = {};
			const before = new Other(context);
			for (let count = 0; count < 250; count += 1) new Other({});
			const after = new Other(context);
			await record(before, at(0), send, sent('1001'));
			expect(after.find(at(0), send)).toEqual(entryOf(sent('1001')));
		});
	});
});

test.each([undefined, null, 'x', 7, {}, { id: 7, sends: {} }, { id: 'x', sends: { a: ['sent'] } }])(
	'a context that holds %j instead is an empty ledger',
	async (pushCampaignLedger) => {
		const context = jsonParse<IDataObject>(JSON.stringify({ pushCampaignLedger, other: 1 }));
		const ledger = new Ledger(context);
		expect(ledger.find(at(0), identity('a'))).toBeUndefined();
		await record(ledger, at(0), identity('a'), sent('1'));
		expect(new Ledger(context).find(at(0), identity('a'))).toEqual(entryOf(sent('1')));
		expect(context).toMatchObject({ other: 1 });
	},
);

test('an unknown outcome whose reason can’t be read is unknown all the same', () => {
	const key = `0.0.${digest('a')}`;
	const context = { pushCampaignLedger: { id: 'odd', sends: { [key]: ['unknown', null, '{'] } } };
	expect(new Ledger(context).find(at(0), identity('a'))).toEqual({
		outcome: 'unknown',
		problem: interruptedProblem,
	});
});

// Executions that n8n saved with one version of the package are retried with the next.
test('is written as one tuple for each send', async () => {
	const context: IDataObject = {};
	const ledger = new Ledger(context);
	await record(ledger, at(0), identity('a'), sent('10|01'));
	await record(ledger, at(0), identity('b', 'item'), sent(undefined, '2030-05-17 09:30 +02:00'));
	await record(ledger, at(2, 1), identity('c'), unknown);
	await record(ledger, 'tool', identity('d'), sent('7'));
	const [a, b, item, c, d] = ['a', 'b', 'item', 'c', 'd'].map(digest);
	expect(savedId(context)).toMatch(/^[0-9a-f-]{36}$/);
	expect(context).toEqual({
		pushCampaignLedger: {
			id: savedId(context),
			sends: {
				[`0.0.${a}`]: ['sent', null, 'Campaign created', '10|01', null],
				[`0.0.${b}`]: ['sent', item, 'Campaign created', null, '2030-05-17 09:30 +02:00'],
				[`1.2.${c}`]: ['unknown', null, JSON.stringify(connectionLostProblem('send'))],
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
		const digests = Array.from({ length: 1000 }, (_, index) => digest(index));
		expect(new Set(digests).size).toBe(1000);
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

test('remembers as a plain map would, through every save', async () => {
	const step = fc.record({
		kind: fc.constantFrom('record', 'refuse', 'save', 'keep'),
		item: fc.nat(3),
		run: fc.constantFrom(0, 1),
		content: fc.constantFrom('a', 'b'),
		id: fc.string({ unit: 'grapheme' }),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
			let context: IDataObject = {};
			let old = context;
			const model = new Map<string, Entry>();
			for (const { kind, item, run, content, id } of steps) {
				const key = [run, item, content].join();
				const ledger = new Ledger(context);
				const place = at(item, run);
				if (kind === 'record') {
					await record(ledger, place, identity(content), sent(id));
					if (!model.has(key)) model.set(key, entryOf(sent(id)));
				} else if (kind === 'refuse') {
					await record(ledger, place, identity(content), refused);
				} else if (kind === 'save') context = saveAndLoad(context);
				else [old, context] = [context, saveAndLoad(old)];
				expect(new Ledger(context).find(place, identity(content))).toEqual(model.get(key));
			}
		}),
	);
});
