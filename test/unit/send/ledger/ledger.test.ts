import * as fc from 'fast-check';
import { jsonParse, type IDataObject } from 'n8n-workflow';
import { digest } from '../../../../nodes/PushCampaign/send/digest';
import type { Ledger } from '../../../../nodes/PushCampaign/send/ledger/ledger';
import type * as ledgersModule from '../../../../nodes/PushCampaign/send/ledger/ledgers';
import { openLedger } from '../../../../nodes/PushCampaign/send/ledger/ledgers';
import type { SavedSend } from '../../../../nodes/PushCampaign/send/ledger/savedLedger';
import type { SendIdentity } from '../../../../nodes/PushCampaign/send/ledger/sendIdentity';
import type { SendOutcome } from '../../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../../nodes/PushCampaign/service/failures';
import { failureCauses } from '../../../../nodes/PushCampaign/service/failureWords';

const sent = (campaignId?: string, sendAt?: string): SendOutcome => ({
	kind: 'done',
	value: { description: 'Campaign created', campaignId, sendAt },
});
const lost = explain(reasons.connectionLost, 'send');
const unknown: SendOutcome = { kind: 'failed', problem: lost };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'bad_request' }), 'send'),
};
const alreadySent: SendOutcome = { kind: 'done', value: 'alreadySent' };
const notStarted: SendOutcome = { kind: 'notStarted' };
/** The same outcome, given without asking the service. */
const recalled = (outcome: SendOutcome) => ({ ...outcome, wasRequested: false });

const itemOf = (index: number): SendIdentity => ({
	kind: 'send',
	position: `0.${index}`,
	content: digest('a'),
	executionId: '10',
});
const a = itemOf(0);
/** The same send in another execution: n8n's 'Retry' hands the ledger on. */
const inExecution = (executionId: string, send = a): SendIdentity => ({ ...send, executionId });

/** Makes a send that ends so, whatever is known of it. */
const record = async (ledger: Ledger, send: SendIdentity, outcome: SendOutcome) =>
	await ledger.once(send, true, async () => await Promise.resolve(outcome));
const find = (ledger: Ledger, send: SendIdentity) => ledger.recall(send, false);

/** What n8n does when it saves an execution, and 'Retry' loads it. */
const saveAndLoad = (context: IDataObject): IDataObject => structuredClone(context);

/** Another process, which knows nothing of what this one did. */
async function inAnotherProcess(work: (open: typeof openLedger) => Promise<void>) {
	await jest.isolateModulesAsync(async () => {
		const module = '../../../../nodes/PushCampaign/send/ledger/ledgers';
		await work(jest.requireActual<typeof ledgersModule>(module).openLedger);
	});
}
const foundElsewhere = async (context: IDataObject, send: SendIdentity) => {
	let found: SendOutcome | undefined;
	await inAnotherProcess(async (open) => {
		found = await Promise.resolve(find(open(saveAndLoad(context)), send));
	});
	return found;
};

/** A send whose answer comes when `answer` is called. */
function slowSend() {
	let answer = (_outcome: SendOutcome) => {};
	const attempt = jest.fn(
		async () => await new Promise<SendOutcome>((resolve) => (answer = resolve)),
	);
	return { attempt, answer: (outcome: SendOutcome) => answer(outcome) };
}

interface SavedRow {
	readonly name: string;
	readonly outcome: SendOutcome;
	readonly saved: readonly unknown[];
}
const savedRows: SavedRow[] = [
	{
		name: 'a campaign as sent, with its ID',
		outcome: sent('10|01\n'),
		saved: ['sent', null, 'Campaign created', '10|01\n', null],
	},
	{
		name: 'a scheduled campaign as sent, with its time',
		outcome: sent('1', '2030-05-17 09:30 +02:00'),
		saved: ['sent', null, 'Campaign created', '1', '2030-05-17 09:30 +02:00'],
	},
	{
		name: 'a notification to one subscriber as sent, without an ID',
		outcome: sent(),
		saved: ['sent', null, 'Campaign created', null, null],
	},
	...failureCauses.map((cause): SavedRow => {
		const problem = { ...lost, cause, httpCode: '502' };
		return {
			name: `an unknown outcome with the cause ${cause}, the execution that left it and the digest of its key`,
			outcome: { kind: 'failed', problem },
			saved: ['unknown', null, JSON.stringify(problem), ['10'], 'k'],
		};
	}),
];

// Executions that n8n saved with one version of the package are retried with the next.
test.each(savedRows)('saves $name, in a form that another process reads', async (row) => {
	const context: IDataObject = {};
	const ledger = openLedger(context);
	expect(await record(ledger, { ...a, key: 'k' }, row.outcome)).toEqual(row.outcome);
	const { id } = ledger.saved;
	expect(id).toMatch(/^[0-9a-f-]{36}$/);
	const sends = { [`0.0.${digest('a')}`]: row.saved };
	expect(context).toEqual({ pushCampaignLedger: { id, sends } });
	expect(await foundElsewhere(context, a)).toEqual(recalled(row.outcome));
});

test.each([undefined, null, 'x', 7, {}, { id: 7, sends: {} }, { id: 'x', sends: { a: ['sent'] } }])(
	'starts with an empty ledger if n8n brings back %j instead of one',
	async (pushCampaignLedger) => {
		const context = jsonParse<IDataObject>(JSON.stringify({ pushCampaignLedger, other: 1 }));
		const ledger = openLedger(context);
		expect(find(ledger, a)).toBeUndefined();
		await record(ledger, a, sent('1'));
		expect(openLedger(context)).toBe(ledger);
		expect(find(openLedger(saveAndLoad(context)), a)).toEqual(recalled(sent('1')));
		expect(context).toMatchObject({ other: 1 });
	},
);

test('recalls an unknown outcome as unknown even if its saved reason is not readable', () => {
	const sends = { [`0.0.${digest('a')}`]: ['unknown', null, '{', ['10'], null] };
	expect(find(openLedger({ pushCampaignLedger: { id: 'odd', sends } }), a)).toEqual(
		recalled({ kind: 'failed', problem: explain(reasons.canceled, 'send') }),
	);
});

describe('with Resend Unknown', () => {
	const resend = async (ledger: Ledger, send: SendIdentity, outcome: SendOutcome = sent('new')) => {
		const attempt = jest.fn(async () => await Promise.resolve(outcome));
		const came = await ledger.once(send, true, attempt);
		return { came, isSent: attempt.mock.calls.length > 0 };
	};

	test('does not send again what the same execution left unknown', async () => {
		const ledger = openLedger({});
		await record(ledger, a, unknown);
		expect(ledger.recall(a, true)).toEqual(recalled(unknown));
		expect(await resend(ledger, a)).toEqual({ came: recalled(unknown), isSent: false });
	});

	test('sends once in each further execution, and again in none of them', async () => {
		const context: IDataObject = {};
		await record(openLedger(context), a, unknown);
		const ledger = openLedger(saveAndLoad(context));
		expect(ledger.recall(inExecution('11'), true)).toBeUndefined();
		expect((await resend(ledger, inExecution('11'), unknown)).isSent).toBe(true);
		expect((await resend(ledger, inExecution('11'))).isSent).toBe(false);
		// Another Retry at the same time, then the next try of the first.
		expect((await resend(ledger, inExecution('12'), unknown)).isSent).toBe(true);
		expect((await resend(ledger, inExecution('11'))).isSent).toBe(false);
		expect((await resend(ledger, inExecution('13'))).came).toEqual(sent('new'));
	});

	test('keeps in mind what this execution left unknown when an older copy comes back', async () => {
		const context: IDataObject = {};
		await record(openLedger(context), a, unknown);
		await record(openLedger(saveAndLoad(context)), inExecution('11'), unknown);
		const ledger = openLedger(saveAndLoad(context));
		expect((await resend(ledger, inExecution('11'))).isSent).toBe(false);
	});

	test('keeps a send unknown that is refused when it is sent again', async () => {
		const ledger = openLedger({});
		await record(ledger, a, unknown);
		expect((await resend(ledger, inExecution('11'), refused)).came).toEqual(refused);
		expect(find(ledger, inExecution('11'))).toEqual(recalled(unknown));
	});

	test.each([
		{ name: 'another item of the same execution', executionId: '10', isSent: false },
		{ name: 'an item of an earlier execution', executionId: '11', isSent: true },
	])('sends under the key that $name left unknown: $isSent', async ({ executionId, isSent }) => {
		const ledger = openLedger({});
		await record(ledger, { ...a, key: 'k' }, unknown);
		const other = inExecution(executionId, { ...itemOf(1), key: 'k' });
		expect((await resend(ledger, other)).isSent).toBe(isSent);
		expect((await resend(ledger, { ...itemOf(2), key: 'other' })).isSent).toBe(true);
	});

	test('does not send again under a key that another item of the execution left unknown since', async () => {
		const ledger = openLedger({});
		const other = inExecution('11', { ...itemOf(1), key: 'k' });
		await record(ledger, { ...a, key: 'k' }, unknown);
		await record(ledger, other, unknown);
		expect((await resend(ledger, inExecution('11', { ...a, key: 'k' }))).isSent).toBe(false);
	});

	test('leaves it to the key’s queue to wait for a send in flight under the same key', async () => {
		const ledger = openLedger({});
		const { attempt, answer } = slowSend();
		const first = ledger.once({ ...a, key: 'k' }, true, attempt);
		const other = { ...itemOf(1), key: 'k' };
		expect(ledger.recall(other, true)).toBeUndefined();
		expect((await resend(ledger, other, alreadySent)).came).toEqual(alreadySent);
		answer(sent('1001'));
		expect(await first).toEqual(sent('1001'));
	});
});

describe('while a send is in flight', () => {
	/** A ledger that n8n brought back, and another copy of it. */
	const retriedTwice = () => {
		const context: IDataObject = {};
		openLedger(context);
		return [openLedger(saveAndLoad(context)), openLedger(saveAndLoad(context))] as const;
	};

	test.each([
		{ name: 'gets its answer if it is sent', end: sent('1001'), came: recalled(sent('1001')) },
		{ name: 'is unknown if its outcome is', end: unknown, came: recalled(unknown) },
		{ name: 'is sent if it is refused', end: refused, came: sent('new') },
	])('an equal one waits for it, also of a copy, and $name', async ({ end, came }) => {
		const [ledger, copy] = retriedTwice();
		const { attempt, answer } = slowSend();
		const first = ledger.once(a, false, attempt);
		expect(copy.recall(a, false)).toBeUndefined();
		const another = jest.fn(async () => await Promise.resolve(sent('new')));
		const others = [ledger, copy].map(async (each) => await each.once(a, true, another));
		answer(end);
		expect(await first).toEqual(end);
		expect((await Promise.all(others))[0]).toEqual(came);
		expect(another).toHaveBeenCalledTimes(end === refused ? 1 : 0);
		expect(find(copy, a)).toEqual(recalled(end === refused ? sent('new') : end));
	});

	test('a further execution that waits for it does not send it if its outcome is unknown', async () => {
		const [ledger, copy] = retriedTwice();
		const { attempt, answer } = slowSend();
		const first = ledger.once(a, false, attempt);
		const another = jest.fn(async () => await Promise.resolve(sent('new')));
		const waiting = copy.once(inExecution('11'), true, another);
		answer(unknown);
		await first;
		expect(await waiting).toEqual(recalled(unknown));
		expect(another).not.toHaveBeenCalled();
	});

	test('it is unknown to a process that reads what was saved when it began', async () => {
		const context: IDataObject = {};
		void openLedger(context).once(a, false, slowSend().attempt);
		expect(await foundElsewhere(context, a)).toEqual(
			recalled({ kind: 'failed', problem: explain(reasons.canceled, 'send') }),
		);
	});

	test('a copy that says unknown does not replace its outcome', async () => {
		const context: IDataObject = {};
		await record(openLedger(context), a, unknown);
		const { attempt, answer } = slowSend();
		const first = openLedger(saveAndLoad(context)).once(inExecution('11'), true, attempt);
		const copy = openLedger(saveAndLoad(context));
		answer(sent('1001'));
		await first;
		expect(find(copy, a)).toEqual(recalled(sent('1001')));
	});

	test('an attempt that throws leaves it unknown', async () => {
		const ledger = openLedger({});
		const thrown = ledger.once(a, false, async () => await Promise.reject(new Error('Broken')));
		await expect(thrown).rejects.toThrow('Broken');
		expect(find(ledger, a)).toMatchObject({
			kind: 'failed',
			problem: explain(reasons.canceled, 'send'),
		});
	});
});

test('forgets the source of a send that was refused', async () => {
	const ledger = openLedger({});
	const of = (content: string, source: string): SendIdentity => ({
		...a,
		content,
		source,
	});
	await record(ledger, of('a', 'one'), refused);
	await record(ledger, of('a', 'two'), sent('1001'));
	expect(find(ledger, of('b', 'one'))).toBeUndefined();
	expect(find(ledger, of('b', 'two'))).toEqual(recalled(sent('1001')));
});

test('Retry learns from the saved execution what another process has sent', async () => {
	const context: IDataObject = {};
	await record(openLedger(context), a, unknown);
	openLedger(saveAndLoad(context));
	const elsewhere = saveAndLoad(context);
	await inAnotherProcess(async (open) => {
		await record(open(elsewhere), inExecution('11'), sent('1001'));
	});
	openLedger(elsewhere);
	expect(find(openLedger(saveAndLoad(context)), a)).toEqual(recalled(sent('1001')));
});

describe('what the process remembers of retried executions', () => {
	/** Retries an execution that had sent nothing, and sends so many items. Returns what n8n holds of it. */
	function retry(open: typeof openLedger, size: number): IDataObject {
		const context: IDataObject = {};
		open(context);
		const before = saveAndLoad(context);
		const sends = Array.from({ length: size }, (_, index): [string, SavedSend] => {
			const { position, content } = itemOf(index);
			return [`${position}.${content}`, ['sent', null, 'Campaign created', null, null]];
		});
		open(saveAndLoad(before)).adopt({ id: '', sends: Object.fromEntries(sends) });
		return before;
	}
	const knows = (open: typeof openLedger, before: IDataObject) =>
		find(open(saveAndLoad(before)), a) !== undefined;

	test.each([
		{ name: '100,000 sends and ledgers are kept', retries: 5, isKept: true },
		{ name: 'of more, what was used longest ago is dropped', retries: 6, isKept: false },
	])('$name', async ({ retries, isKept }) => {
		await inAnotherProcess(async (open) => {
			const [used, unused] = [retry(open, 1), retry(open, 1)];
			const large = retry(open, 99_990);
			expect(knows(open, used)).toBe(true);
			for (let count = 0; count < retries; count += 1) retry(open, 0);
			for (let count = 0; count < 10; count += 1) open({});
			expect([large, used].map((each) => knows(open, each))).toEqual([true, true]);
			expect(knows(open, unused)).toBe(isKept);
			await Promise.resolve();
		});
	});

	test('the ledger used last is kept however large it is', async () => {
		await inAnotherProcess(async (open) => {
			const huge = retry(open, 100_001);
			expect([huge, huge].map((each) => knows(open, each))).toEqual([true, true]);
			await Promise.resolve();
		});
	});

	test('a ledger with a send in flight is kept', async () => {
		await inAnotherProcess(async (open) => {
			const running = retry(open, 0);
			const { attempt, answer } = slowSend();
			const first = open(saveAndLoad(running)).once(a, false, attempt);
			retry(open, 100_001);
			retry(open, 0);
			const second = open(saveAndLoad(running)).once(a, false, attempt);
			answer(sent('1001'));
			await Promise.all([first, second]);
			expect(attempt).toHaveBeenCalledTimes(1);
		});
	});
});

test('a digest has 16 characters, differs if the content does, and exists for values that hold themselves', () => {
	const round = (title: string, id: bigint) => {
		const item: Record<string, unknown> = { title, id };
		item['self'] = item;
		return item;
	};
	const named = [{ constructor: 'a' }, { constructor: 'b' }];
	const values = [{ a: 1 }, { a: '1' }, round('a', 1n), round('b', 1n), round('a', 2n), ...named];
	const digests = values.map(digest);
	expect(digests.map((each) => /^[\w-]{16}$/.test(each))).not.toContain(false);
	expect(new Set(digests).size).toBe(values.length);
	expect([{ a: 1 }, round('a', 1n)].map(digest)).toEqual([digests[0], digests[2]]);
});

test('remembers the same as a plain list of all sends, through every save and Retry', async () => {
	const step = fc.record({
		action: fc.constantFrom('once', 'once', 'save', 'retry', 'retry an older one'),
		kind: fc.constant('send' as const),
		position: fc.constantFrom('0.0', '0.1'),
		content: fc.constantFrom('a', 'b', 'c'),
		source: fc.constantFrom('one', 'two'),
		key: fc.constantFrom('k', undefined),
		end: fc.oneof(
			fc.constantFrom(unknown, refused, alreadySent, notStarted),
			fc.string({ unit: 'grapheme' }).map((id) => sent(id)),
		),
		resendUnknown: fc.boolean(),
	});
	interface Known extends SendIdentity {
		outcome: SendOutcome;
		/** The executions that left it unknown. */
		leftBy: string[];
	}
	await fc.assert(
		fc.asyncProperty(
			fc.array(step, { maxLength: 30 }),
			fc.boolean(),
			async (steps, haveSources) => {
				let context: IDataObject = {};
				openLedger(context);
				let old = context;
				let execution = 1;
				const model: Known[] = [];
				for (const { action, end, resendUnknown, source, ...rest } of steps) {
					const executionId = String(execution);
					const send = { ...rest, executionId, ...(haveSources ? { source } : {}) };
					// The same item, first by its content, then by where it comes from.
					const inModel = () => {
						const here = model.filter(({ position }) => position === send.position);
						const same = here.find(({ content }) => content === send.content);
						return same ?? here.find((each) => haveSources && each.source === source);
					};
					const leftHere = (known: Known) =>
						known.outcome === unknown && known.leftBy.includes(executionId);
					const recall = (resend: boolean) => {
						const own = inModel();
						const mayBeSent =
							own === undefined || (own.outcome === unknown && resend && !leftHere(own));
						if (!mayBeSent) return own.outcome;
						const underKey = model.some((each) => each.key === send.key && leftHere(each));
						return send.key !== undefined && underKey ? unknown : undefined;
					};
					if (action === 'once') {
						const known = recall(resendUnknown);
						const attempt = jest.fn(async () => await Promise.resolve(end));
						const came = await openLedger(context).once(send, resendUnknown, attempt);
						expect(attempt).toHaveBeenCalledTimes(known === undefined ? 1 : 0);
						expect(came).toEqual(known === undefined ? end : recalled(known));
						const isKept = ![refused, alreadySent, notStarted].some((each) => each === end);
						const own = inModel();
						if (known === undefined && isKept) {
							const leftBy = end === unknown ? [...(own?.leftBy ?? []), executionId] : [];
							if (own === undefined) model.push({ ...send, outcome: end, leftBy });
							else Object.assign(own, { key: send.key, outcome: end, leftBy });
						}
					} else if (action === 'save') context = saveAndLoad(context);
					else if (action === 'retry') {
						context = saveAndLoad(context);
						execution += 1;
					} else [old, context] = [context, saveAndLoad(old)];
					const now = { ...send, executionId: String(execution) };
					const found = find(openLedger(context), now);
					if (execution === Number(executionId)) {
						const known = recall(false);
						expect(found).toEqual(known && recalled(known));
					}
				}
			},
		),
	);
});
