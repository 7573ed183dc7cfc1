import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { digest } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import { readKey, readTimeout } from '../operations/options';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import { readable } from '../operations/values';
import type { KeyState } from '../send/keys';
import { testMark } from '../send/ledger';
import type { Send, SendsOnce } from '../send/once';
import type { UnknownOutcome } from '../service/problems';
import { shownBefore } from './duplicates';

/** What is known of an item before it is read. */
export interface Start {
	readonly index: number;
	readonly parameters: ItemParameters;
	/** Its position in the execution; missing for an agent's tool, which knows a call by its content. */
	readonly position: string | undefined;
	/** What its user chose about what an earlier execution left unknown. */
	readonly choice: UnknownOutcome;
	/** Whether it is a dry run. */
	readonly isShown: boolean;
	/** Whether it goes to the test subscriber, or to nobody. */
	readonly isTest: boolean;
}

/** How the key of an item stood when it was asked. */
export interface AskedKey {
	readonly key: string;
	readonly state: KeyState;
}

/** Makes jobs of the items of a run: what each is known by, and how it goes out once. */
export class Jobs {
	private readonly isTool: boolean;
	private readonly nodeId: string;
	private readonly runIndex: number;

	constructor(
		context: IExecuteFunctions,
		private readonly sendsOnce: SendsOnce,
		private readonly connectionOf: (index: number) => Promise<Connection>,
	) {
		this.isTool = isTool(context.getNode());
		this.nodeId = context.getNode().id;
		this.runIndex = this.isTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/** The run of the node, the item's number, and what came in: whatever is edited in the node before a Retry. */
	positionOf(index: number, { input }: ItemParameters, isTest: boolean): string | undefined {
		if (this.isTool) return undefined;
		const item = digest(jsonStringify(input, { replaceCircularRefs: true }));
		return `${this.runIndex}.${index}.${item}${isTest ? testMark : ''}`;
	}

	/** What an item is sent once under. A format: saved keys depend on it. @throws InvalidInput, UnusableCredential */
	async keyOf({ index, parameters }: Start): Promise<string | undefined> {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await this.connectionOf(index);
		return `key:${digest(JSON.stringify([this.nodeId, site, 'entered', id]))}`;
	}

	/**
	 * How the key of an item stands; undefined if it has none.
	 * @throws InvalidInput, UnusableCredential, Unavailable
	 */
	async askKey(start: Start, requireKeys: () => Promise<void>): Promise<AskedKey | undefined> {
		const key = await this.keyOf(start);
		if (key === undefined) return undefined;
		await requireKeys();
		const timeoutMs = readable(() => readTimeout(start.parameters)) ?? 0;
		return { key, state: await this.sendsOnce.look({ key, timeoutMs }) };
	}

	jobOf(
		{ position, choice }: Start,
		send: PreparedSend,
		{ client, site }: Connection,
		key: string | undefined,
	): Send {
		const { notification, audience, body, options, timing } = send;
		const known = {
			position: position ?? digest(JSON.stringify([site, audience, body])),
			key,
			notification: notification && digest(JSON.stringify([site, notification])),
		};
		const refuseShown = () =>
			this.sendsOnce.hasShown(known) ? shownBefore(send, this.isTool) : undefined;
		return {
			...known,
			unknownOutcome: choice,
			timeoutMs: options.timeoutMs,
			refusal: () => lateness(timing, Date.now()) ?? refuseShown(),
			request: async () => await performSend(client, send),
			toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
		};
	}
}
