import type { IExecuteFunctions, NodeExecutionHint } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { PreparedSend } from '../operations/operation';
import { shortenText } from '../operations/shortenText';
import { escaped, whom, whomCharacters } from './hints';

/** So many items of an execution go to the test subscriber. */
const mostTests = 3;

const stateKey = 'pushCampaignTests';

/**
 * Whether a person runs the workflow in the editor. A Retry of such an execution has the mode `retry`, and still the
 * first one's context (n8n 2.41.1 and 1.123: n8n-core, `execution-context.js`, `establishExecutionContext`).
 */
function isManual(context: IExecuteFunctions): boolean {
	const mode = context.getMode();
	if (mode === 'manual') return true;
	return mode === 'retry' && context.getExecutionContext?.()?.source === 'manual';
}

/** An item of a test run. */
interface TestItem {
	readonly meant: PreparedSend;
	/** Missing if it goes to nobody. */
	readonly test: PreparedSend | undefined;
}

const audienceOf = ({ preview }: PreparedSend): string =>
	escaped(shortenText(whom(preview().body), whomCharacters));

/** A hint names at most this many audiences. */
const mostAudiences = 3;

const counted = (count: number) => `${count} ${count === 1 ? 'item' : 'items'}`;

/**
 * What becomes of items with a Test Subscriber ID in a manual execution: the first three go to that subscriber alone,
 * all others to nobody. Which are the first three is kept with the execution, so that neither a further try nor a
 * loop sends more.
 */
export class TestRun {
	private readonly isOn: boolean;
	private readonly items = new Map<number, TestItem>();

	constructor(private readonly context: IExecuteFunctions) {
		this.isOn = isManual(context);
	}

	/**
	 * @param position what tells the item from others in this execution
	 * @returns what is to be sent: the item as it is meant, or a test; `undefined` if it goes to nobody
	 * @throws InvalidInput
	 */
	choose(itemIndex: number, position: string, meant: PreparedSend): PreparedSend | undefined {
		if (!this.isOn || meant.options.dryRun) return meant;
		const toSubscriber = meant.toTest?.();
		if (toSubscriber === undefined) return meant;
		const test = this.isAmongFirst(position) ? toSubscriber : undefined;
		this.items.set(itemIndex, { meant, test });
		return test;
	}

	/** Says who got the items, and whom they are meant for. */
	hint(wasSent: (itemIndex: number) => boolean): NodeExecutionHint[] {
		const items = [...this.items];
		if (items.length === 0) return [];
		const sent = items.filter(([itemIndex, { test }]) => test !== undefined && wasSent(itemIndex));
		const rest = items.filter(([, { test }]) => test === undefined).length;
		const ids = [...new Set(sent.map(([, { test }]) => test?.testSubscriberId ?? ''))];
		const audiences = [...new Set(items.map(([, { meant }]) => audienceOf(meant)))];
		const more = audiences.length > mostAudiences ? ', and others' : '';
		const message = [
			sent.length === 0
				? 'This was a test, and nothing was sent.'
				: `This was a test: ${counted(sent.length)} went to subscriber ${ids.join(', ')}, and to nobody else.`,
			...(rest === 0 ? [] : [`The other ${counted(rest)} went to nobody, as in a dry run.`]),
			`When the workflow runs by itself, it sends to ${audiences.slice(0, mostAudiences).join('; ')}${more}.`,
		].join(' ');
		return [{ message, type: 'info', location: 'outputPane' }];
	}

	private isAmongFirst(position: string): boolean {
		const kept = this.context.getContext('node');
		const positions = z.array(z.string()).safeParse(kept[stateKey]).data ?? [];
		if (positions.includes(position)) return true;
		if (positions.length >= mostTests) return false;
		kept[stateKey] = [...positions, position];
		return true;
	}
}
