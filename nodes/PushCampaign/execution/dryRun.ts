import type { NodeExecutionHint } from 'n8n-workflow';

import type { TimedSend } from '../operations/operation';
import type { Problem } from '../service/failures';
import { executionHints } from './hints';
import { keyHint } from './keyHint';
import type { SendKey } from './sendKey';

/** What is learned of the items of a run that are only checked. */
export class DryRun {
	private readonly keys = new Map<number, SendKey>();
	private readonly refused = new Map<number, Problem>();
	private countReached: (() => Promise<number | undefined>) | undefined;

	/**
	 * Adds an item that would be sent.
	 * @param key what it would be sent under
	 * @param countReached asks how many subscribers it would reach; only the first item's is asked
	 */
	add(
		itemIndex: number,
		key: SendKey | undefined,
		countReached: () => Promise<number | undefined>,
	): void {
		this.countReached ??= countReached;
		if (key !== undefined) this.keys.set(itemIndex, key);
	}

	/** Adds an item that would not be sent. */
	addInvalid(itemIndex: number, problem: Problem): void {
		this.refused.set(itemIndex, problem);
		this.keys.delete(itemIndex);
	}

	isInvalid(itemIndex: number): boolean {
		return this.refused.has(itemIndex);
	}

	/**
	 * What the editor says of a run, whether it was a dry run or not.
	 * @param sends those that were accepted, and those that would be sent
	 * @param items how many the run had
	 * @param hasFailed whether the service refused anything: then it is not asked for the audience
	 * @param wasSent asks whether a key was sent; only reads
	 */
	async hints(
		sends: readonly TimedSend[],
		items: number,
		hasFailed: boolean,
		wasSent: (key: string) => Promise<boolean>,
	): Promise<NodeExecutionHint[]> {
		const refused = [...this.refused].map(([itemIndex, problem]) => ({ itemIndex, problem }));
		const keyed = [...this.keys].map(([itemIndex, key]) => ({ itemIndex, key }));
		const reached = hasFailed ? undefined : await this.countReached?.();
		return [
			...executionHints({ sends, items, refused, reached }),
			...(await keyHint(keyed, wasSent)),
		];
	}
}
