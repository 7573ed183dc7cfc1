import type { IExecuteFunctions } from 'n8n-workflow';

import type { Outcome } from '../delivery/runJobs';
import type { ChangeOperation, PreparedChange } from '../operations/operation';
import { digest } from '../send/digest';
import { IdempotencyKeys } from '../send/idempotencyKeys';
import type { Identity } from '../send/ledger';
import { openLedger } from '../send/ledgers';
import { alreadySent } from '../send/outcome';
import { sendOnce } from '../send/sendOnce';
import type { SendReceipt } from '../service/answers';
import type { InvalidInput } from '../service/invalidInput';
import { messageOf } from '../service/invalidInput';
import { kinds } from '../service/kinds';
import { checkLead } from '../service/schedule';
import { tally, toInvalid } from './errors';
import { executionHints } from './hints';
import type { ItemJob, JobFactory } from './itemJob';
import { isTool } from './itemJob';
import { hasExpression, ParameterReader } from './parameterReader';
import type { Connection } from './transport';

/** How a change went: its answer, or why nothing was requested. */
type Changed = SendReceipt | 'alreadySent' | 'dryRun';

/** Why the service would refuse a schedule by now, if it would. */
function tooLate({ schedule }: PreparedChange): InvalidInput | undefined {
	try {
		if (schedule !== undefined) checkLead(schedule, Date.now());
		return undefined;
	} catch (error) {
		return toInvalid(error);
	}
}

/**
 * The parameters as written, without the options: turning on Resend Unknown must not make every item
 * a new one. Missing where no expression is among them: then other content means other input.
 */
function writtenParameters(context: IExecuteFunctions): string | undefined {
	const { options: _options, ...parameters } = context.getNode().parameters;
	return hasExpression(parameters) ? JSON.stringify(parameters) : undefined;
}

function runIndex(context: IExecuteFunctions): number {
	const index: unknown = context.evaluateExpression('{{ $runIndex }}', 0);
	return typeof index === 'number' ? index : 0;
}

/** How a change is counted; a dry run changes nothing, whatever comes of it. */
function endOf(outcome: Outcome<Changed>) {
	if (outcome.kind === 'failed' && outcome.problem.outcome === 'unknown') return 'unknown';
	if (outcome.kind !== 'done' || outcome.value === 'dryRun') return 'notDone';
	return outcome.value === 'alreadySent' ? 'doneEarlier' : 'done';
}

/** Makes the jobs of changes: each is made once in this execution, and once at all under an idempotency key. */
export function changeJobs(
	context: IExecuteFunctions,
	operation: ChangeOperation,
): JobFactory<Changed> {
	const items = context.getInputData();
	const parameters = new ParameterReader(context);
	const memory = {
		ledger: openLedger(context.getContext('node')),
		keys: new IdempotencyKeys(context, operation.kind, context.getExecutionCancelSignal()),
	};
	// An older agent hands its tool the arguments as an item, and evaluates its parameters by another one:
	// there the content alone tells one send from another.
	const isOfAgent = isTool(context.getNode());
	const written = isOfAgent ? undefined : writtenParameters(context);
	const run = isOfAgent ? 0 : runIndex(context);
	const changes: PreparedChange[] = [];
	const keysOfRun = new Set<string>();
	/** The items whose key an earlier item of this run has. */
	const repeats = new Set<number>();

	const identify = ({ content }: PreparedChange, itemIndex: number, site: string): Identity => ({
		kind: operation.kind,
		content: digest([site, ...content]),
		...(written === undefined ? {} : { source: digest([site, written, items[itemIndex]?.json]) }),
	});

	function create(itemIndex: number, { client, settings, site }: Connection): ItemJob<Changed> {
		const change = operation.prepare(parameters.item(itemIndex));
		changes[itemIndex] = change;
		const { dryRun, idempotencyKey: key, resendUnknown, ...limits } = change.options;
		const toJson = (value: Changed) => {
			if (value === 'dryRun') return change.toDryRunItem(settings.baseUrl);
			return change.toItem(value === 'alreadySent' ? undefined : value);
		};
		const late = tooLate(change);
		if (dryRun) {
			if (late !== undefined) throw late;
			return { job: { known: { kind: 'done', value: 'dryRun' } }, toJson };
		}
		const place = isOfAgent ? 'tool' : ({ run, itemIndex } as const);
		const identity = identify(change, itemIndex, site);
		const known = memory.ledger.recall(place, identity, resendUnknown);
		if (known !== undefined) return { job: { known }, toJson };

		const once = async (isTooLate: () => InvalidInput | undefined) =>
			await sendOnce(memory, {
				place,
				identity,
				key,
				resendUnknown,
				tooLate: isTooLate,
				request: async () => await change.perform(client),
			});
		if (key !== undefined && keysOfRun.has(key)) repeats.add(itemIndex);
		else if (late !== undefined) {
			// Refused before anything is sent, unless it is known to be sent, or may be. Whatever the clock does.
			return { job: once(() => late).then((outcome) => ({ known: outcome })), toJson };
		}
		if (key !== undefined) keysOfRun.add(key);
		return {
			maxParallel: limits.maxParallel,
			job: {
				...(key === undefined ? {} : { dedupeKey: key }),
				rateLimitRetries: limits.rateLimitRetries,
				transientRetries: kinds[operation.kind].unknownRetries,
				attempt: async () => await once(() => tooLate(change)),
			},
			toJson,
		};
	}

	/** What a hint can't say must not hide what came of the items. */
	function showHints(outcomes: ReadonlyArray<Outcome<Changed>>): void {
		try {
			const accepted = changes.filter((_change, itemIndex) => {
				const outcome = outcomes[itemIndex];
				return outcome?.kind === 'done' && outcome.value !== 'alreadySent';
			});
			const ends = tally(outcomes.map(endOf));
			const hints = executionHints({
				sends: accepted.flatMap(({ send }) => send ?? []),
				alreadySent: ends.doneEarlier,
				unknown: ends.unknown,
				items: outcomes.length,
			});
			// Not every context that n8n makes can show hints.
			context.addExecutionHints?.(...hints);
		} catch (error) {
			context.logger.warn(`The hints of a run could not be shown: ${messageOf(error)}`);
		}
	}

	return {
		create,
		async end(outcomes) {
			await memory.keys.written();
			const told = outcomes.map((outcome, itemIndex): Outcome<Changed> =>
				outcome.kind === 'done' && repeats.has(itemIndex) ? alreadySent : outcome,
			);
			showHints(told);
			return told;
		},
		tally: (outcomes) => tally(outcomes.map(endOf)),
	};
}
