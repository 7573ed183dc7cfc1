import { IdempotencyKeys } from '../../../../nodes/PushCampaign/send/keys/idempotencyKeys';
import type { SendOutcome } from '../../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../../nodes/PushCampaign/service/failures';
import { ProcessedData } from '../../../support/processedData';
import { executeFunctions, keyRow } from '../../execution/support';

// What a process can still do that stands still for longer than its claim is waited for. The model beside this file
// lets no request take longer than its time.

const timeoutMs = 1_000;
/** As long as a claim of somebody else is waited for. */
const waitMs = 6_000;

let nowMs = 0;
beforeEach(() => {
	nowMs = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'rate_limit' }), 'send'),
};

/** A process that sends under one key, and how often its request left. */
function startProcess(database: ProcessedData, resendUnknown: boolean) {
	const keys = new IdempotencyKeys(executeFunctions({ database }).context, 'send');
	const process = {
		requests: 0,
		ask: async (outcome: SendOutcome | Promise<SendOutcome> = sent) =>
			await keys.once({ key: 'k', resendUnknown, timeoutMs }, async () => {
				process.requests += 1;
				return await outcome;
			}),
	};
	return process;
}

/** A request that is answered when the test says so. */
function hanging() {
	let answer: (outcome: SendOutcome) => void = () => undefined;
	const outcome = new Promise<SendOutcome>((resolve) => {
		answer = resolve;
	});
	return { outcome, answer };
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

test('a key that was taken over is not freed by the late refusal of the send that had it before', async () => {
	const database = new ProcessedData();
	const [slow, resending, fresh] = [false, true, false].map((resends) =>
		startProcess(database, resends),
	);
	const [late, again] = [hanging(), hanging()];
	const slowEnd = slow?.ask(late.outcome);
	await settled();
	expect((await resending?.ask())?.kind).toBe('held');
	nowMs += waitMs;
	const resent = resending?.ask(again.outcome);
	await settled();
	late.answer(refused);
	await slowEnd;
	expect((await fresh?.ask())?.kind).not.toBe('done');
	again.answer(sent);
	expect((await resent)?.kind).toBe('done');
	expect([slow?.requests, resending?.requests, fresh?.requests]).toEqual([1, 1, 0]);
});

test('a claim that was freed and made again is waited for as long as any other', async () => {
	const database = new ProcessedData();
	const [first, resending, second] = [false, true, false].map((resends) =>
		startProcess(database, resends),
	);
	const [one, two] = [hanging(), hanging()];
	const firstEnd = first?.ask(one.outcome);
	await settled();
	await resending?.ask();
	one.answer(refused);
	await firstEnd;
	const secondEnd = second?.ask(two.outcome);
	await settled();
	nowMs += waitMs;
	expect((await resending?.ask())?.kind).toBe('held');
	two.answer(sent);
	await secondEnd;
	expect(await resending?.ask()).toMatchObject({ value: 'alreadySent' });
	expect(resending?.requests).toBe(0);
});

test('what was sent late, just before it would be sent again, is not sent again', async () => {
	const database = new ProcessedData();
	const slow = startProcess(database, false);
	const late = hanging();
	const slowEnd = slow.ask(late.outcome);
	await settled();
	const resending = startProcess(database, true);
	await resending.ask();
	nowMs += waitMs;
	database.beforeQuery = async ({ kind, row }) => {
		if (kind !== 'insert' || row !== keyRow('k', 'decided:1')) return;
		database.beforeQuery = () => undefined;
		late.answer(sent);
		await slowEnd;
	};
	expect(await resending.ask()).toMatchObject({ value: 'alreadySent' });
	expect(resending.requests).toBe(0);
});
