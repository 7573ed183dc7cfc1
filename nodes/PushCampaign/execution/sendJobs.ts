import type { IExecuteFunctions } from 'n8n-workflow';

import type { Identity, Place, SendOutcome } from '../delivery/ledger';
import { digest, Ledger } from '../delivery/ledger';
import type { SendOperation } from '../operations/operation';
import type { PreparedSend } from '../operations/send';
import {
	alreadySentItem,
	dryRunItem,
	performSend,
	prepareSend,
	sentItem,
} from '../operations/send';
import type { SendReceipt } from '../service/answers';
import type { Client } from '../service/client';
import type { InvalidInput } from '../service/invalidInput';
import { checkLead } from '../service/schedule';
import { toInvalid } from './errors';
import { executionHints } from './hints';
import { IdempotencyKeys } from './idempotencyKeys';
import type { ItemJob, JobFactory } from './itemJob';
import { isTool } from './itemJob';
import { hasExpression, ParameterReader } from './parameterReader';
import type { Connection } from './transport';

/** How a send went: its answer, or why nothing was requested. */
type Sent = SendReceipt | 'alreadySent' | 'dryRun';

/** Why the service would refuse the schedule of a send by now, if it would. */
function tooLate({ schedule }: PreparedSend): InvalidInput | undefined {
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

/** Makes the jobs of sends: each is made once in this execution, and once at all under an idempotency key. */
export function sendJobs(context: IExecuteFunctions, operation: SendOperation): JobFactory<Sent> {
	const items = context.getInputData();
	const parameters = new ParameterReader(context);
	const ledger = new Ledger(context.getContext('node'));
	const keys = new IdempotencyKeys(context, context.getExecutionCancelSignal());
	// An older agent hands its tool the arguments as an item, and evaluates its parameters by another one:
	// there the content alone tells one send from another.
	const isOfAgent = isTool(context.getNode());
	const written = isOfAgent ? undefined : writtenParameters(context);
	const run = isOfAgent ? 0 : runIndex(context);
	const sends: PreparedSend[] = [];
	/** By idempotency key, the first item of this run that is sent under it. */
	const firstOfKey = new Map<string, number>();

	const identify = (send: PreparedSend, itemIndex: number, site: string): Identity => ({
		content: digest([site, operation.audience, send.body]),
		...(written === undefined ? {} : { source: digest([site, written, items[itemIndex]?.json]) }),
	});

	function createNew(
		send: PreparedSend,
		place: Place,
		identity: Identity,
		client: Client,
	): ItemJob<Sent> {
		const { idempotencyKey: key, maxParallel, rateLimitRetries, resendUnknown } = send.options;
		const attempt = async (): Promise<SendOutcome> => {
			const late = tooLate(send);
			return late === undefined
				? await performSend(send, client)
				: { kind: 'invalid', invalid: late };
		};
		return {
			maxParallel,
			job: {
				...(key === undefined ? {} : { dedupeKey: key }),
				rateLimitRetries,
				transientRetries: 0,
				attempt: async () =>
					await ledger.once(place, identity, resendUnknown, async () =>
						key === undefined ? await attempt() : await keys.once(key, resendUnknown, attempt),
					),
			},
			toJson: (value) => toJson(send, value),
		};
	}

	const toJson = (send: PreparedSend, value: Sent) =>
		value === 'alreadySent' || value === 'dryRun' ? alreadySentItem(send) : sentItem(send, value);

	function create(itemIndex: number, { client, settings, site }: Connection): ItemJob<Sent> {
		const send = prepareSend(operation, parameters.item(itemIndex));
		sends[itemIndex] = send;
		if (send.options.dryRun) {
			const late = tooLate(send);
			if (late !== undefined) throw late;
			return {
				isDryRun: true,
				job: { known: { kind: 'done', value: 'dryRun' } },
				toJson: () => dryRunItem(send, settings.baseUrl),
			};
		}
		const place = isOfAgent ? 'tool' : { run, itemIndex };
		const identity = identify(send, itemIndex, site);
		const known = ledger.recall(place, identity, send.options.resendUnknown);
		if (known !== undefined) return { job: { known }, toJson: (value) => toJson(send, value) };
		const late = tooLate(send);
		if (late !== undefined) throw late;
		const created = createNew(send, place, identity, client);
		const { idempotencyKey: key } = send.options;
		if (key === undefined) return created;
		const first = firstOfKey.get(key) ?? itemIndex;
		firstOfKey.set(key, first);
		return first === itemIndex ? created : { ...created, toJson: () => alreadySentItem(send) };
	}

	return {
		create,
		async end(outcomes) {
			await keys.written();
			const accepted = sends.filter((send, itemIndex) => {
				const outcome = outcomes[itemIndex];
				const isFirst =
					(firstOfKey.get(send.options.idempotencyKey ?? '') ?? itemIndex) === itemIndex;
				return outcome?.kind === 'done' && outcome.value !== 'alreadySent' && isFirst;
			});
			// Not every context that n8n makes can show hints.
			context.addExecutionHints?.(...executionHints(accepted));
		},
	};
}
