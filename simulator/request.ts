import type { IncomingHttpHeaders } from 'node:http';

/** A request to the service as it came, and what became of it. */
export interface RecordedRequest {
	/** Counts up from 1, also over requests that are no longer kept. */
	readonly id: number;
	readonly method: string;
	/** As it came: with prefix and query. */
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	/** The raw text, numbers as they were written. */
	readonly body: string;
	/** The parsed body; undefined where it is no JSON. Numbers beyond 2^53 have lost digits. */
	readonly json: unknown;
	/** Epoch milliseconds. */
	readonly at: number;
	/** What was answered: null while nothing is, and for good where the answer was lost. */
	answered: { status: number; type: string | null; at: number } | null;
	/** The fault that befell it. */
	fault: number | null;
	/** The campaign that it created, whether or not the client heard of it. */
	campaignId: string | null;
}
