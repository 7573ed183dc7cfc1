import { sleep } from 'n8n-workflow';

import { toRefusal } from '../n8n/errors';
import { readTimeout } from '../operations/options';
import { readable } from '../operations/values';
import type { KeyState } from '../send/keys';
import type { SendsOnce } from '../send/once';
import type { Problem } from '../service/problems';
import type { Jobs, Start } from './jobs';

/** The pause before keys are asked again under which somebody else may be sending, in milliseconds. */
const heldPauseMs = 2_000;

interface Asked {
	readonly key: string;
	readonly state: KeyState;
}

/** How the keys stand about which something is chosen under Unknown Outcome, by item. */
export class AskedKeys {
	private readonly asked = new Map<number, Asked>();

	constructor(
		private readonly jobs: Jobs,
		private readonly sendsOnce: SendsOnce,
		private readonly requireKeys: () => Promise<void>,
	) {}

	get isAnyUnknown(): boolean {
		return [...this.asked.values()].some(({ state }) => state.is === 'unknown');
	}

	get(index: number): Asked | undefined {
		return this.asked.get(index);
	}

	/**
	 * Asks the keys of some items, until nobody else may be sending under one of them.
	 * @returns why no key can be asked, if none can
	 */
	async ask(starts: readonly Start[], signal?: AbortSignal): Promise<Problem | undefined> {
		let open = starts;
		while (open.length > 0 && !signal?.aborted) {
			for (const start of open) {
				const unavailable = await this.askOne(start);
				if (unavailable !== undefined) return unavailable;
			}
			open = open.filter(({ index }) => this.asked.get(index)?.state.is === 'held');
			if (open.length > 0) await sleep(heldPauseMs);
		}
		return undefined;
	}

	private async askOne(start: Start): Promise<Problem | undefined> {
		const { index, parameters } = start;
		try {
			const key = await this.jobs.keyOf(start);
			if (key === undefined) return undefined;
			await this.requireKeys();
			const timeoutMs = readable(() => readTimeout(parameters)) ?? 0;
			this.asked.set(index, { key, state: await this.sendsOnce.look({ key, timeoutMs }) });
			return undefined;
		} catch (error) {
			// If it is about the item alone, its plan says so.
			const { problem, isForAll } = toRefusal(error);
			return isForAll ? problem : undefined;
		}
	}
}
