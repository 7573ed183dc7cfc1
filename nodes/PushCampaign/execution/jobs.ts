import type { IExecuteFunctions } from 'n8n-workflow';
import { jsonStringify } from 'n8n-workflow';

import type { Connection } from '../n8n/connection';
import { digest } from '../n8n/connection';
import type { ItemParameters } from '../n8n/parameters';
import { isTool } from '../n8n/parameters';
import type { PreparedSend } from '../operations/operation';
import { readKey } from '../operations/options';
import { performSend, toRow } from '../operations/send';
import { lateness } from '../operations/timing';
import type { Send } from '../send/once';
import type { UnknownOutcome } from '../service/problems';

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

/** Makes jobs of the items of a run: what each is known by, and how it goes out once. */
export class Jobs {
	private readonly isTool: boolean;
	private readonly nodeId: string;
	private readonly runIndex: number;

	constructor(
		context: IExecuteFunctions,
		private readonly connectionOf: (index: number) => Promise<Connection>,
	) {
		this.isTool = isTool(context.getNode());
		this.nodeId = context.getNode().id;
		this.runIndex = this.isTool ? 0 : Number(context.evaluateExpression('{{ $runIndex }}', 0)) || 0;
	}

	/**
	 * The run of the node, the item's number, and what came in: whatever is edited in the node before a Retry. What a test
	 * sent says nothing about the send that it stands for.
	 */
	positionOf(index: number, { input }: ItemParameters, isTest: boolean): string | undefined {
		if (this.isTool) return undefined;
		const item = digest(jsonStringify(input, { replaceCircularRefs: true }));
		return `${this.runIndex}.${index}.${item}${isTest ? '.test' : ''}`;
	}

	/** What an item is sent once under. A format: saved keys depend on it. @throws InvalidInput, UnusableCredential */
	async keyOf({ index, parameters }: Start): Promise<string | undefined> {
		const id = readKey(parameters);
		if (id === undefined) return undefined;
		const { site } = await this.connectionOf(index);
		return `key:${digest(JSON.stringify([this.nodeId, site, 'entered', id]))}`;
	}

	jobOf(
		{ position, choice }: Start,
		send: PreparedSend,
		{ client, site }: Connection,
		key: string | undefined,
	): Send {
		const { notification, audience, body, options, timing } = send;
		return {
			position: position ?? digest(JSON.stringify([site, audience, body])),
			key,
			notification: notification && digest(JSON.stringify([site, notification])),
			unknownOutcome: choice,
			timeoutMs: options.timeoutMs,
			checkTime: () => lateness(timing, Date.now()),
			request: async () => await performSend(client, send),
			toRow: (receipt) => toRow(send, { status: 'success', ...receipt }),
		};
	}
}
