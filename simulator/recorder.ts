import { z } from 'zod';

/** A request to the service as it came, and what became of it. */
export const recordedRequestSchema = z.object({
	/** Counts up from 1, also over requests that are no longer kept. */
	id: z.number(),
	method: z.string(),
	/** As it came: with prefix and query. */
	path: z.string(),
	headers: z.record(z.union([z.string(), z.array(z.string())]).optional()),
	/** The raw text, numbers as they were written. */
	body: z.string(),
	/** The parsed body; undefined where it is no JSON. Numbers beyond 2^53 have lost digits. */
	json: z.unknown(),
	/** Epoch milliseconds. */
	at: z.number(),
	/** What was answered: null while nothing is, and for good where the answer was lost. */
	answered: z
		.object({ status: z.number(), type: z.string().nullable(), at: z.number() })
		.nullable(),
	/** The fault that befell it. */
	fault: z.number().nullable(),
	/** The campaign that it created, whether or not the client heard of it. */
	campaignId: z.string().nullable(),
});

export type RecordedRequest = z.infer<typeof recordedRequestSchema>;

export type ArrivedRequest = Omit<RecordedRequest, 'id' | 'answered' | 'fault' | 'campaignId'>;

/** The latest requests: at least `limit` of them, at most a quarter more. */
export class Recorder {
	readonly requests: RecordedRequest[] = [];
	/** How many requests came in all. */
	count = 0;

	constructor(private readonly limit: number) {}

	add(arrived: ArrivedRequest): RecordedRequest {
		this.count += 1;
		const request = { ...arrived, id: this.count, answered: null, fault: null, campaignId: null };
		this.requests.push(request);
		// In lots: taking away the first of many at every request would cost more than the rest.
		if (this.requests.length > this.limit * 1.25) {
			this.requests.splice(0, this.requests.length - this.limit);
		}
		return request;
	}

	/** Forgets the requests and counts from 1 again. */
	clear(): void {
		this.requests.length = 0;
		this.count = 0;
	}
}
