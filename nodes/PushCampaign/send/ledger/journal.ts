import type { Rows } from '../rows';
import type { SendOutcome } from '../sendOutcome';
import { isUnknown } from '../sendOutcome';
import type { SendIdentity } from './sendIdentity';

/** So many items share a row, so that no write grows with the run. */
const itemsPerPage = 200;

/** What the journal knows of a send: it was sent, or its request may have been in flight. */
export type JournalEntry = 'sent' | 'open';

/** What is to be written about a send, or asked. */
type JournalRequest = {
	readonly send: SendIdentity;
} & (
	| { readonly kind: 'begun' | 'sent' | 'notSent' }
	| { readonly kind: 'asked'; readonly answer: (entry: JournalEntry | undefined) => void }
);

/** Requests that are handled together. */
interface Batch {
	readonly requests: JournalRequest[];
	readonly handled: Promise<void>;
}

/** A send is known by its content or by its source; either is enough. */
const idsOf = ({ position, content, source }: SendIdentity) =>
	[content, ...(source === undefined ? [] : [source])].map((digest) => `${position}.${digest}`);
const entriesOf = (send: SendIdentity, ...names: ReadonlyArray<'begun' | 'sent' | 'asked'>) =>
	idsOf(send).flatMap((id) => names.map((name) => `${name} ${id}`));
const allEntries = (send: SendIdentity) => entriesOf(send, 'begun', 'sent', 'asked');

/** How a send stands under one of its IDs, by the entries that are there. */
function entryOf(id: string, isThere: (entry: string) => boolean): JournalEntry | undefined {
	if (isThere(`asked ${id}`)) return 'open';
	if (!isThere(`begun ${id}`)) return undefined;
	return isThere(`sent ${id}`) ? 'sent' : 'open';
}

/**
 * What a reading takes out again under one of the IDs: what was not there. If a process has ended while it read, only
 * `begun` stays: its request may have been in flight.
 */
const entriesToRemove = (id: string, isThere: (entry: string) => boolean) =>
	isThere(`asked ${id}`)
		? [`sent ${id}`, `asked ${id}`]
		: [`begun ${id}`, `sent ${id}`, `asked ${id}`].filter((entry) => !isThere(entry));

const isOf = (wanted: JournalRequest['kind']) => (request: JournalRequest) =>
	request.kind === wanted;

/** The row that holds an item: the run of the node, and a number for each 200 items. */
function pageOf({ position }: SendIdentity): string {
	const [run = 0, item = 0] = position.split('.').map(Number);
	return `${run}.${Math.floor(item / itemsPerPage)}`;
}

/**
 * What an execution has begun to send, in n8n's database: n8n keeps nothing of an execution that crashed or was
 * stopped. How a send stands, by its entries in its page:
 *
 * | entries      | state                                                          |
 * | ------------ | -------------------------------------------------------------- |
 * | none         | not sent                                                       |
 * | begun        | its request may have been in flight                            |
 * | begun, sent  | sent                                                           |
 * | asked, …     | nobody knows: a process has ended while it read the entries    |
 *
 * n8n shows which entries are there only when they are added. So reading adds all three, in one write, and takes out
 * those that were not there, in another. If a process ended in between, the next reading leaves *begun*. Each change is
 * one write of one row: a crash at any moment can turn *sent*, or *not sent*, into *unknown*, and nothing else.
 *
 * One process writes a journal at a time: the one that runs the execution. It makes one write at a time, and each
 * takes all that came meanwhile.
 */
export class Journal {
	private last: Promise<unknown> = Promise.resolve();
	private next: Batch | undefined;
	/** Whether pages are there, of those that were asked for or written. */
	private readonly pages = new Map<string, boolean>();
	/** Why a write failed. It may still arrive, over all later ones, so nothing more is written. */
	private failure: { readonly error: unknown } | undefined;

	/** @param name of the execution and the node; the same for its Retries */
	constructor(
		private readonly rows: Rows,
		private readonly name: string,
	) {}

	/**
	 * What an execution that was cut off left of a send; `undefined` if nothing was begun.
	 * @throws what n8n's database throws
	 */
	async recall(send: SendIdentity): Promise<JournalEntry | undefined> {
		let entry: JournalEntry | undefined;
		const answer = (found: JournalEntry | undefined) => {
			entry = found;
		};
		await this.add({ kind: 'asked', send, answer });
		return entry;
	}

	/**
	 * Notes that the request of a send is about to leave.
	 * @throws what n8n's database throws: then it must not leave
	 */
	async begin(send: SendIdentity): Promise<void> {
		await this.add({ kind: 'begun', send });
	}

	/** Notes how a send ended that has begun. It is written with what begins next, or when the run ends. */
	end(send: SendIdentity, outcome: SendOutcome): void {
		if (isUnknown(outcome)) return;
		const kind = outcome.kind === 'done' ? 'sent' : 'notSent';
		void this.add({ kind, send }).catch(() => undefined);
	}

	/** Waits until everything is written. Never throws. */
	async written(): Promise<void> {
		await this.next?.handled.catch(() => undefined);
		await this.last;
	}

	/**
	 * Deletes the journal, once n8n has saved the execution.
	 * @throws what n8n's database throws
	 */
	async delete(): Promise<void> {
		await this.written();
		for (const [page, isThere] of this.pages) if (isThere) await this.rows.delete(this.rowOf(page));
		this.pages.clear();
	}

	private rowOf = (page: string) => `journal:${this.name}:${page}`;

	private async add(request: JournalRequest): Promise<void> {
		const batch = (this.next ??= this.openBatch());
		batch.requests.push(request);
		await batch.handled;
	}

	/** Begins to collect the requests that are handled when the last ones are. */
	private openBatch(): Batch {
		const requests: JournalRequest[] = [];
		const handled = this.last.then(async () => {
			this.next = undefined;
			const pages = new Set(requests.map(({ send }) => pageOf(send)));
			for (const page of pages) {
				await this.handle(
					page,
					requests.filter(({ send }) => pageOf(send) === page),
				);
			}
		});
		this.last = handled.catch((error: unknown) => {
			this.failure ??= { error };
		});
		return { requests, handled };
	}

	private async handle(page: string, requests: readonly JournalRequest[]): Promise<void> {
		if (this.failure !== undefined) throw this.failure.error;
		await this.read(page, requests);
		await this.write(page, requests);
	}

	private async read(page: string, requests: readonly JournalRequest[]): Promise<void> {
		const asked = requests.filter((request) => request.kind === 'asked');
		if (asked.length === 0) return;
		const row = this.rowOf(page);
		const isPageThere = this.pages.get(page) ?? (await this.rows.isThere(row));
		this.pages.set(page, isPageThere);
		if (!isPageThere) return;
		const added = await this.rows.record(
			row,
			asked.flatMap(({ send }) => allEntries(send)),
		);
		const isThere = (entry: string) => !added.has(entry);
		const ids = asked.flatMap(({ send }) => idsOf(send));
		await this.rows.remove(
			row,
			ids.flatMap((id) => entriesToRemove(id, isThere)),
		);
		for (const { send, answer } of asked) {
			const entries = idsOf(send).map((id) => entryOf(id, isThere));
			answer(
				entries.find((entry) => entry === 'open') ?? entries.find((entry) => entry === 'sent'),
			);
		}
	}

	private async write(page: string, requests: readonly JournalRequest[]): Promise<void> {
		const row = this.rowOf(page);
		// First what was not sent: it may begin again in the same batch.
		const notSent = requests.filter(isOf('notSent')).flatMap(({ send }) => allEntries(send));
		if (notSent.length > 0) await this.rows.remove(row, notSent);
		const begun = requests.filter(isOf('begun')).flatMap(({ send }) => entriesOf(send, 'begun'));
		const sent = requests.filter(isOf('sent')).flatMap(({ send }) => entriesOf(send, 'sent'));
		if (begun.length + sent.length === 0) return;
		this.pages.set(page, true);
		await this.rows.record(row, [...begun, ...sent]);
	}
}
