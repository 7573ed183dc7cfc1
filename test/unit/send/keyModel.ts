import * as fc from 'fast-check';
import { Keys } from '../../../nodes/PushCampaign/send/keys';
import { openLedger } from '../../../nodes/PushCampaign/send/ledger';
import { trySend } from '../../../nodes/PushCampaign/send/once';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import type { Receipt } from '../../../nodes/PushCampaign/service/answers';
import type { Result } from '../../../nodes/PushCampaign/service/client';
import { failureProblem, unknownProblem } from '../../../nodes/PushCampaign/service/problems';

// Any number of processes that send under one key, with the real code in them. Each query and each request happens when
// the scheduler lets it, in any order. A process can end at each of them, and a run can end whenever it waits.

/** How the service ends a request: it accepts it, refuses it, or its answer is lost, before or after it was accepted. */
type Answer = 'accepted' | 'refused' | 'lost before' | 'lost after';

export interface Process {
	/** The answers to its requests, one after another. */
	readonly answers: readonly Answer[];
	/** At which of its steps it ends, if it does. */
	readonly endsAt: number;
	/** After how many waits its run ends. */
	readonly mostWaits: number;
	/** How long it waits before it asks again, in milliseconds. */
	readonly patienceMs: number;
}

const timeoutMs = 1_000;
const requested = { isSend: true };
const lost: Result<Receipt> = { answered: false, problem: unknownProblem('lost', requested) };
const refused: Result<Receipt> = {
	answered: false,
	problem: failureProblem({ type: 'rate_limit', description: '' }, { statusCode: 200 }, requested),
};
const sent: Result<Receipt> = { answered: true, value: { description: 'Created' }, raw: {} };

/** What happened at the service, and what was reported. */
export interface History {
	accepted: number;
	inFlight: number;
	mostInFlight: number;
	/** Reports that it was sent, before anything was accepted. */
	lies: number;
	/** How many processes sent. */
	readonly senders: Set<number>;
}

/** Rows as n8n's database keeps them: of any number of inserts, one is let through. */
export const rowsIn =
	(table: Set<string>) =>
	(query: () => Promise<void>): KeyRows => ({
		async insert(name) {
			await query();
			const isNew = !table.has(name);
			table.add(name);
			return isNew;
		},
		async isThere(name) {
			await query();
			return table.has(name);
		},
	});

export const anyProcess: fc.Arbitrary<Process> = fc.record({
	answers: fc.array(fc.constantFrom<Answer>('accepted', 'refused', 'lost before', 'lost after'), {
		maxLength: 3,
	}),
	endsAt: fc.oneof(fc.integer({ min: 1, max: 25 }), fc.constant(Infinity)),
	mostWaits: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(9)),
	patienceMs: fc.constantFrom(100, 2_000, 10_000),
});

/** Runs all processes until each has ended. */
export async function runProcesses(
	processes: readonly Process[],
	scheduler: fc.Scheduler,
): Promise<History> {
	const rowsFor = rowsIn(new Set());
	const history: History = {
		accepted: 0,
		inFlight: 0,
		mostInFlight: 0,
		lies: 0,
		senders: new Set(),
	};
	let nowMs = 0;
	/** Processes that are not waiting, and have not ended. */
	let busy = 0;

	async function run({ answers, endsAt, mostWaits, patienceMs }: Process, id: number) {
		let steps = 0;
		const moveOn = async (what: string, onEnd = () => {}) => {
			steps += 1;
			await scheduler.schedule(Promise.resolve(), `${id}: ${what}`);
			if (steps < endsAt) return;
			// It has ended: nothing of it goes on.
			busy -= 1;
			onEnd();
			await new Promise<never>(() => undefined);
		};
		const left = [...answers];
		const request = async (): Promise<Result<Receipt>> => {
			const answer = left.shift() ?? 'accepted';
			history.senders.add(id);
			history.inFlight += 1;
			history.mostInFlight = Math.max(history.mostInFlight, history.inFlight);
			const leave = () => void (history.inFlight -= 1);
			await moveOn('request arrives', leave);
			if (answer === 'accepted' || answer === 'lost after') history.accepted += 1;
			await moveOn('answer', leave);
			leave();
			if (answer === 'accepted') return sent;
			return answer === 'refused' ? refused : lost;
		};
		const keys = new Keys(
			rowsFor(async () => await moveOn('query')),
			() => nowMs,
		);
		const memory = { ledger: openLedger({}, `${id}`), keys, warn: () => undefined };
		const key = { name: 'key', id: '1' };
		const send = { position: '0.0', key, timeoutMs, request, toRow: () => ({}) };
		busy += 1;
		for (let waits = 0; waits <= mostWaits; waits += 1) {
			const attempt = await trySend(memory, send);
			if (attempt.then !== 'held' && attempt.then !== 'refused') {
				const isSent = 'row' in attempt.outcome;
				if (isSent && history.accepted === 0) history.lies += 1;
				break;
			}
			busy -= 1;
			await scheduler.schedule(Promise.resolve(), `${id}: pause`);
			// No request takes longer than its time: it passes while everybody waits.
			if (busy === 0) nowMs += patienceMs;
			busy += 1;
		}
		busy -= 1;
	}

	for (const [id, process] of processes.entries()) {
		void scheduler.schedule(Promise.resolve(), `${id}: start`).then(async () => {
			await run(process, id);
		});
	}
	await scheduler.waitIdle();
	return history;
}
