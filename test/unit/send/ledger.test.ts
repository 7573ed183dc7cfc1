import * as fc from 'fast-check';
import { jsonParse, type IDataObject } from 'n8n-workflow';
import { digest } from '../../../nodes/PushCampaign/send/digest';
import type { Identity, Ledger } from '../../../nodes/PushCampaign/send/ledger';
import type * as ledgersModule from '../../../nodes/PushCampaign/send/ledgers';
import { openLedger } from '../../../nodes/PushCampaign/send/ledgers';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';

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
/** As it is told without asking the service. */
const recalled = (outcome: SendOutcome) => ({ ...outcome, wasRequested: false });

const itemOf = (index: number): Identity => ({
	kind: 'send',
	place: `0.${index}`,
	content: digest('a'),
});
const a = itemOf(0);

/** Makes a send that ends so, whatever is known of it. */
const record = async (ledger: Ledger, send: Identity, outcome: SendOutcome) =>
	await ledger.once(send, true, async () => await Promise.resolve(outcome));
const find = (ledger: Ledger, send: Identity) => ledger.recall(send, false);

/** What n8n does when it saves an execution, and 'Retry' loads it. */
const saveAndLoad = (context: IDataObject): IDataObject => structuredClone(context);

/** Another process, which knows nothing of what this one did. */
async function inAnotherProcess(work: (open: typeof openLedger) => Promise<void>) {
	await jest.isolateModulesAsync(async () => {
		const module = '../../../nodes/PushCampaign/send/ledgers';
		await work(jest.requireActual<typeof ledgersModule>(module).openLedger);
	});
}
const foundElsewhere = async (context: IDataObject, send: Identity) => {
	let found: SendOutcome | undefined;
	await inAnotherProcess(async (open) => {
		found = await Promise.resolve(find(open(saveAndLoad(context)), send));
	});
	return found;
};

/** A send whose answer comes when it is told to. */
function slowSend() {
	let answer = (_outcome: SendOutcome) => {};
	const attempt = jest.fn(
		async () => await new Promise<SendOutcome>((resolve) => (answer = resolve)),
	);
	return { attempt, answer: (outcome: SendOutcome) => answer(outcome) };
}

// Executions that n8n saved with one version of the package are retried with the next.
test.each<[what: string, outcome: SendOutcome, saved: unknown[]]>([
	['sent', sent('10|01\n'), ['sent', null, 'Campaign created', '10|01\n', null]],
	[
		'sent and scheduled',
		sent('1', '2030-05-17 09:30 +02:00'),
		['sent', null, 'Campaign created', '1', '2030-05-17 09:30 +02:00'],
	],
	['sent to one subscriber', sent(), ['sent', null, 'Campaign created', null, null]],
	...(
		[
			'rate-limited',
			'temporarily-unavailable',
			'credential-invalid',
			'configuration-invalid',
		] as const
	).map((cause): [string, SendOutcome, unknown[]] => {
		const problem = { ...lost, cause, httpCode: '502' };
		return [
			`unknown because of ${cause}`,
			{ kind: 'failed', problem },
			['unknown', null, JSON.stringify(problem)],
		];
	}),
])('is one tuple that another process finds again: %s', async (_what, outcome, saved) => {
	const context: IDataObject = {};
	const ledger = openLedger(context);
	expect(await record(ledger, a, outcome)).toEqual(outcome);
	const { id } = ledger.saved;
	expect(id).toMatch(/^[0-9a-f-]{36}$/);
	const sends = { [`0.0.${digest('a')}`]: saved };
	expect(context).toEqual({ pushCampaignLedger: { id, sends } });
	expect(await foundElsewhere(context, a)).toEqual(recalled(outcome));
});

test.each([undefined, null, 'x', 7, {}, { id: 7, sends: {} }, { id: 'x', sends: { a: ['sent'] } }])(
	'a context that holds %j instead is an empty ledger',
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

test('an unknown outcome whose reason can’t be read is unknown all the same', () => {
	const sends = { [`0.0.${digest('a')}`]: ['unknown', null, '{'] };
	expect(find(openLedger({ pushCampaignLedger: { id: 'odd', sends } }), a)).toEqual(
		recalled({ kind: 'failed', problem: explain(reasons.canceled, 'send') }),
	);
});

describe('a send that is under way', () => {
	/** A ledger that n8n brought back, and another copy of it. */
	const retriedTwice = () => {
		const context: IDataObject = {};
		openLedger(context);
		return [openLedger(saveAndLoad(context)), openLedger(saveAndLoad(context))] as const;
	};

	test.each<[how: string, end: SendOutcome, came: unknown]>([
		['sent', sent('1001'), recalled(sent('1001'))],
		['unknown', unknown, recalled(unknown)],
		['refused, and tries', refused, sent('new')],
	])('is waited for by an equal one, also of a copy: %s', async (_how, end, came) => {
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

	test('is unknown to a process that knows only what was saved when it began', async () => {
		const context: IDataObject = {};
		void openLedger(context).once(a, false, slowSend().attempt);
		expect(await foundElsewhere(context, a)).toEqual(
			recalled({ kind: 'failed', problem: explain(reasons.canceled, 'send') }),
		);
	});

	test('is not taken for unknown because a copy says so', async () => {
		const context: IDataObject = {};
		await record(openLedger(context), a, unknown);
		const { attempt, answer } = slowSend();
		const first = openLedger(saveAndLoad(context)).once(a, true, attempt);
		const copy = openLedger(saveAndLoad(context));
		answer(sent('1001'));
		await first;
		expect(find(copy, a)).toEqual(recalled(sent('1001')));
	});

	test('and throws, is unknown afterwards', async () => {
		const ledger = openLedger({});
		const thrown = ledger.once(a, false, async () => await Promise.reject(new Error('Broken')));
		await expect(thrown).rejects.toThrow('Broken');
		expect(find(ledger, a)).toMatchObject({
			kind: 'failed',
			problem: explain(reasons.canceled, 'send'),
		});
	});
});

test('what was refused leaves no trace of its source', async () => {
	const ledger = openLedger({});
	const of = (content: string, source: string): Identity => ({
		kind: 'send',
		place: '0.0',
		content,
		source,
	});
	await record(ledger, of('a', 'one'), refused);
	await record(ledger, of('a', 'two'), sent('1001'));
	expect(find(ledger, of('b', 'one'))).toBeUndefined();
	expect(find(ledger, of('b', 'two'))).toEqual(recalled(sent('1001')));
});

test('Retry takes in what another process has sent', async () => {
	const context: IDataObject = {};
	await record(openLedger(context), a, unknown);
	openLedger(saveAndLoad(context));
	const elsewhere = saveAndLoad(context);
	await inAnotherProcess(async (open) => {
		await record(open(elsewhere), a, sent('1001'));
	});
	openLedger(elsewhere);
	expect(find(openLedger(saveAndLoad(context)), a)).toEqual(recalled(sent('1001')));
});

describe('what a process remembers of ledgers that were retried', () => {
	/** Retries an execution that had sent nothing, and sends so many items. */
	async function retry(open: typeof openLedger, size: number): Promise<IDataObject> {
		const context: IDataObject = {};
		open(context);
		const before = saveAndLoad(context);
		const ledger = open(saveAndLoad(before));
		for (let item = 0; item < size; item += 1) await record(ledger, itemOf(item), sent());
		return before;
	}
	const knows = (open: typeof openLedger, before: IDataObject) =>
		find(open(saveAndLoad(before)), a) !== undefined;

	test('is 5,000 of them, the one used longest ago out first, unless its sends are being made', async () => {
		await inAnotherProcess(async (open) => {
			const running = await retry(open, 0);
			const { attempt, answer } = slowSend();
			const first = open(saveAndLoad(running)).once(a, false, attempt);
			const [one, other] = [await retry(open, 1), await retry(open, 1)];
			for (let count = 0; count < 4_997; count += 1) await retry(open, 0);
			for (let count = 0; count < 5_000; count += 1) open({});
			expect(knows(open, one)).toBe(true);
			await retry(open, 0);
			await retry(open, 0);
			expect([one, other].map((each) => knows(open, each))).toEqual([true, false]);
			const second = open(saveAndLoad(running)).once(a, false, attempt);
			answer(sent('1001'));
			await Promise.all([first, second]);
			expect(attempt).toHaveBeenCalledTimes(1);
		});
	});

	test('is 100,000 sends, and what was used last whatever it holds', async () => {
		await inAnotherProcess(async (open) => {
			const small = await retry(open, 1);
			const large = await retry(open, 49_999);
			const last = await retry(open, 50_000);
			await retry(open, 0);
			expect([small, large, last].map((each) => knows(open, each))).toEqual([true, true, true]);
			await retry(open, 1);
			// Another one makes room, and no more than is needed.
			await retry(open, 0);
			expect([large, last].map((each) => knows(open, each))).toEqual([true, true]);
			expect(knows(open, small)).toBe(false);
			const huge = await retry(open, 100_001);
			expect([huge, huge].map((each) => knows(open, each))).toEqual([true, true]);
		});
	}, 120_000);
});

test('a digest is short, the same for the same content alone, and there for what holds itself', () => {
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

test('remembers as a plain list would, through every save and Retry', async () => {
	const step = fc.record({
		action: fc.constantFrom('once', 'once', 'save', 'retry an older one'),
		kind: fc.constant('send' as const),
		place: fc.constantFrom('0.0', '0.1'),
		content: fc.constantFrom('a', 'b', 'c'),
		source: fc.constantFrom('one', 'two'),
		end: fc.oneof(
			fc.constantFrom(unknown, refused, alreadySent, notStarted),
			fc.string({ unit: 'grapheme' }).map((id) => sent(id)),
		),
		resendUnknown: fc.boolean(),
	});
	await fc.assert(
		fc.asyncProperty(
			fc.array(step, { maxLength: 30 }),
			fc.boolean(),
			async (steps, haveSources) => {
				let context: IDataObject = {};
				openLedger(context);
				let old = context;
				const model: Array<Identity & { outcome: SendOutcome }> = [];
				for (const { action, end, resendUnknown, source, ...rest } of steps) {
					const send = { ...rest, ...(haveSources ? { source } : {}) };
					// The same item, first by its content, then by where it comes from.
					const inModel = () => {
						const here = model.filter(({ place }) => place === send.place);
						const same = here.find(({ content }) => content === send.content);
						return same ?? here.find((each) => haveSources && each.source === source);
					};
					if (action === 'once') {
						const known = inModel();
						const isMade = known === undefined || (known.outcome === unknown && resendUnknown);
						const attempt = jest.fn(async () => await Promise.resolve(end));
						const came = await openLedger(context).once(send, resendUnknown, attempt);
						expect(attempt).toHaveBeenCalledTimes(isMade ? 1 : 0);
						expect(came).toEqual(isMade ? end : recalled(known.outcome));
						const isKept = ![refused, alreadySent, notStarted].some((each) => each === end);
						if (isMade && isKept && known !== undefined) known.outcome = end;
						else if (isMade && isKept) model.push({ ...send, outcome: end });
					} else if (action === 'save') context = saveAndLoad(context);
					else [old, context] = [context, saveAndLoad(old)];
					const known = inModel();
					expect(find(openLedger(context), send)).toEqual(known && recalled(known.outcome));
				}
			},
		),
	);
});
