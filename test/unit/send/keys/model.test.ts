import * as fc from 'fast-check';
import type * as n8nWorkflow from 'n8n-workflow';
import { IdempotencyKeys } from '../../../../nodes/PushCampaign/send/keys/idempotencyKeys';
import type { SendOutcome } from '../../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../../nodes/PushCampaign/service/failures';
import { ProcessedData } from '../../../support/processedData';
import { databaseWith, executeFunctions } from '../../execution/support';

// Any number of processes that send under one key, with the real code in them. Each query to n8n's database, and
// each request, happens when the scheduler lets it, in any order; a process can end at each of them.

let nowMs = 0;
const realNow = performance.now.bind(performance);
beforeAll(() => {
	performance.now = () => nowMs;
});
afterAll(() => {
	performance.now = realNow;
});

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<typeof n8nWorkflow>('n8n-workflow'),
	sleep: async (milliseconds: number) => {
		nowMs += milliseconds;
		await Promise.resolve();
	},
}));

/** How the service ends a request: it accepts it, refuses it, or its answer is lost, before or after it was accepted. */
type Answer = 'accepted' | 'refused' | 'lost before' | 'lost after';

interface Asker {
	readonly resendUnknown: boolean;
	/** The answers to its requests, one after another. */
	readonly answers: readonly Answer[];
	/** At which of its steps its process ends, if it does. */
	readonly endsAt: number;
	/** How long its process takes to try again, in milliseconds. */
	readonly patienceMs: number;
}

const timeoutMs = 1_000;
const lost: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'rate_limit' }), 'send'),
};
const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };

/** What happened at the service, and what was reported. */
class History {
	accepted = 0;
	/** Accepted requests of which nobody learned: their process ended, or the answer was lost. */
	unnoticed = 0;
	inFlight = 0;
	mostInFlight = 0;
	/** Reports that it was sent, before anything was accepted. */
	lies = 0;
	/** Processes that are not waiting and have not ended. */
	busy = 0;
}

const { context: anyContext } = executeFunctions({});

/** One process with one execution that sends under the key until it knows how it ended. */
async function runAsker(
	asker: Asker,
	database: ProcessedData,
	scheduler: fc.Scheduler,
	history: History,
	key: string,
): Promise<void> {
	let steps = 0;
	/** Whether a request of it was accepted, and it has not reported that. */
	let isUnnoticed = false;
	const moveOn = async (what: string, onEnd = () => {}) => {
		steps += 1;
		await scheduler.schedule(Promise.resolve(), what);
		if (steps < asker.endsAt) return;
		// Its process has ended: nothing of it goes on.
		history.busy -= 1;
		if (isUnnoticed) history.unnoticed += 1;
		onEnd();
		await new Promise<never>(() => undefined);
	};
	const own = new ProcessedData();
	Object.assign(own, { rows: database.rows });
	own.beforeQuery = async ({ kind }) => await moveOn(kind);
	const node = anyContext.getNode();
	const context = {
		...anyContext,
		helpers: { ...anyContext.helpers, ...own.helpersOf(node) },
		getExecuteData: () => ({ node, data: {}, source: null }),
	};
	const keys = new IdempotencyKeys(context, 'send');
	const answers = [...asker.answers];

	async function request(): Promise<SendOutcome> {
		const given = answers.shift() ?? 'accepted';
		const isAccepted = given === 'accepted' || given === 'lost after';
		history.inFlight += 1;
		history.mostInFlight = Math.max(history.mostInFlight, history.inFlight);
		const leave = () => (history.inFlight -= 1);
		await moveOn('request arrives', leave);
		if (isAccepted) history.accepted += 1;
		isUnnoticed = isAccepted;
		await moveOn('answer', leave);
		leave();
		if (given === 'accepted') return sent;
		return given === 'refused' ? refused : lost;
	}

	history.busy += 1;
	for (let tries = 0; tries < 9; tries += 1) {
		const outcome = await keys.once(
			{ key, resendUnknown: asker.resendUnknown, timeoutMs },
			request,
		);
		if (isUnnoticed && outcome.kind !== 'done') history.unnoticed += 1;
		isUnnoticed = false;
		if (outcome.kind === 'done' && history.accepted === 0) history.lies += 1;
		if (outcome.kind !== 'held' && outcome !== refused) break;
		history.busy -= 1;
		await scheduler.schedule(Promise.resolve(), 'pause');
		// No request takes longer than its time: it passes while everybody waits.
		if (history.busy === 0) nowMs += asker.patienceMs;
		history.busy += 1;
	}
	history.busy -= 1;
}

const answer = fc.constantFrom<Answer>('accepted', 'refused', 'lost before', 'lost after');
const askers = (resendUnknown: fc.Arbitrary<boolean>) =>
	fc.array(
		fc.record<Asker>({
			resendUnknown,
			answers: fc.array(answer, { maxLength: 3 }),
			endsAt: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(Infinity)),
			patienceMs: fc.constantFrom(100, 2_000, 10_000),
		}),
		{ minLength: 2, maxLength: 4 },
	);

let keys = 0;

async function runAll(
	all: readonly Asker[],
	scheduler: fc.Scheduler,
	isClaimed = false,
): Promise<History> {
	const history = new History();
	// Another key each time: this process remembers which claims it left unknown.
	const key = `key ${(keys += 1)}`;
	const database = databaseWith(isClaimed ? { claimed: [key] } : {});
	for (const asker of all) {
		void scheduler
			.schedule(Promise.resolve(), 'start')
			.then(async () => await runAsker(asker, database, scheduler, history, key));
	}
	await scheduler.waitIdle();
	return history;
}

describe('under one key, any number of processes that end anywhere', () => {
	test('send at most once, and report as sent only what was', async () => {
		await fc.assert(
			fc.asyncProperty(askers(fc.constant(false)), fc.scheduler(), async (all, scheduler) => {
				const { accepted, mostInFlight, lies } = await runAll(all, scheduler);
				expect({ accepted: accepted <= 1, mostInFlight: mostInFlight <= 1, lies }).toEqual({
					accepted: true,
					mostInFlight: true,
					lies: 0,
				});
			}),
			{ numRuns: 200 },
		);
	});

	test('send again under Resend Unknown only what nobody knows of, one at a time', async () => {
		const isLeftClaimed = fc.boolean();
		await fc.assert(
			fc.asyncProperty(
				askers(fc.boolean()),
				isLeftClaimed,
				fc.scheduler(),
				async (all, isClaimed, scheduler) => {
					const { accepted, unnoticed, mostInFlight, lies } = await runAll(
						all,
						scheduler,
						isClaimed,
					);
					expect({
						again: accepted > 1 + unnoticed,
						atOnce: mostInFlight > 1,
						lies: isClaimed ? 0 : lies,
					}).toEqual({ again: false, atOnce: false, lies: 0 });
				},
			),
			{ numRuns: 200 },
		);
	});
});
