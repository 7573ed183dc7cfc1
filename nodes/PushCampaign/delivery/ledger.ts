import { createHash } from 'crypto';

import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod/v3';

import type { SendReceipt } from '../service/answers';
import type { Problem } from '../service/failures';

/**
 * What tells one send from another: the content that is sent, and where it comes from (the node's
 * parameters as written and the input item). Either is enough to know an item again: an expression such
 * as `{{ $now }}` or `{{ $execution.id }}` makes other content of the same item when n8n runs the node
 * again, and that must not send it twice.
 */
export interface Identity {
	readonly content: string;
	/** Missing where the parameters hold no expression: then other content is another send. */
	readonly source?: string | undefined;
}

export type Entry =
	| { readonly outcome: 'sent'; readonly receipt: SendReceipt }
	| { readonly outcome: 'unknown'; readonly problem: Problem };

/** Characters of a digest that are kept: 96 bits, so that two sends never look alike. */
const digestLength = 16;

/** A short digest of any JSON value. */
export function digest(value: unknown): string {
	return createHash('sha256')
		.update(JSON.stringify(value))
		.digest('base64url')
		.slice(0, digestLength);
}

const savedProblem = z.object({
	type: z.string(),
	outcome: z.literal('unknown'),
	message: z.string(),
	description: z.string(),
	httpCode: z.string().optional(),
	cause: z.enum([
		'rate-limited',
		'temporarily-unavailable',
		'credential-invalid',
		'configuration-invalid',
	]),
});

/** Texts are kept once, however many items share them. */
const savedState = z.object({
	texts: z.array(z.string()),
	/** By run index, then item index: that item's entries, a line each. */
	runs: z.record(z.string(), z.record(z.string(), z.string())),
});
type SavedState = z.infer<typeof savedState>;

const stateKey = 'pushCampaignLedger';
const separator = '|';

/**
 * What this execution has already sent. It lives in n8n's context of the node, which n8n keeps between
 * the tries of 'Retry On Fail' and saves with the execution, where 'Retry' finds it again. An item
 * takes less than 60 bytes there, less than 80 where its parameters hold expressions.
 */
export class Ledger {
	private readonly texts: string[];
	private readonly items: Record<string, string>;
	private readonly textIndex: Map<string, number>;

	/**
	 * @param context n8n's context of the node; changed in place
	 * @param run which run of the node in this execution: a loop sends the same content again on purpose
	 */
	constructor(context: IDataObject, run: string) {
		const saved = savedState.safeParse(context[stateKey]);
		const state: SavedState = saved.success ? saved.data : { texts: [], runs: {} };
		context[stateKey] = state;
		this.texts = state.texts;
		this.items = state.runs[run] ??= {};
		this.textIndex = new Map(this.texts.map((text, index) => [text, index]));
	}

	/** What is remembered of this item's send, if it is the same send. */
	find(itemIndex: number, identity: Identity): Entry | undefined {
		const line = this.lines(itemIndex).find((saved) => isSameSend(saved, identity));
		return line === undefined ? undefined : this.unpack(line);
	}

	/** Remembers what is known of a send, in place of what was remembered of it before. */
	record(itemIndex: number, identity: Identity, entry: Entry): void {
		this.replace(itemIndex, identity, this.pack(identity, entry));
	}

	/** Forgets a send that did not happen. */
	forget(itemIndex: number, identity: Identity): void {
		this.replace(itemIndex, identity);
	}

	private replace(itemIndex: number, identity: Identity, line?: string): void {
		const others = this.lines(itemIndex).filter((saved) => !isSameSend(saved, identity));
		const lines = line === undefined ? others : [...others, line];
		if (lines.length === 0) delete this.items[itemIndex];
		else this.items[itemIndex] = lines.join('\n');
	}

	private lines(itemIndex: number): string[] {
		return this.items[itemIndex]?.split('\n') ?? [];
	}

	private pack({ content, source = '' }: Identity, entry: Entry): string {
		if (entry.outcome === 'unknown') {
			const text = this.indexOf(JSON.stringify(entry.problem));
			return ['unknown', content, source, text].join(separator);
		}
		const { description, sendAt = '', campaignId } = entry.receipt;
		const id = campaignId === undefined ? [] : [encodeURIComponent(campaignId)];
		return ['sent', content, source, this.indexOf(description), sendAt, ...id].join(separator);
	}

	private unpack(line: string): Entry | undefined {
		const [outcome, , , textIndex, sendAt, id] = line.split(separator);
		const text = this.texts[Number(textIndex)];
		if (text === undefined) return undefined;
		if (outcome === 'unknown') {
			return { outcome, problem: savedProblem.parse(JSON.parse(text)) };
		}
		return {
			outcome: 'sent',
			receipt: {
				description: text,
				...(sendAt ? { sendAt } : {}),
				...(id === undefined ? {} : { campaignId: decodeURIComponent(id) }),
			},
		};
	}

	private indexOf(text: string): number {
		const known = this.textIndex.get(text);
		if (known !== undefined) return known;
		const index = this.texts.push(text) - 1;
		this.textIndex.set(text, index);
		return index;
	}
}

function isSameSend(line: string, { content, source }: Identity): boolean {
	const [, savedContent, savedSource] = line.split(separator);
	if (savedContent === content) return true;
	return source !== undefined && savedSource === source;
}
