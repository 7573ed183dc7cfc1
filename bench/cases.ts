import type { INodeParameters } from 'n8n-workflow';

export type Item = Record<string, string>;

export interface Case {
	readonly title: string;
	/** How long the service takes for a request, in milliseconds. */
	readonly latencyMs: number;
	/** How many requests it allows in a second. */
	readonly perSecond?: number;
	/** The items of a run, which has a name of its own. */
	readonly items: (run: string) => Item[];
	/** What is sent for an item, by both nodes. */
	readonly texts: { readonly title: string; readonly message: string; readonly targetUrl: string };
	/** Options of the node Push Campaign. */
	readonly options?: INodeParameters;
	/** The time that the limit needs, in milliseconds, which is the measure then; otherwise HTTP Request's time is. */
	readonly neededMs?: number;
	/** How many times as long as the measure the node may take. */
	readonly atMost: number;
}

const offers = (count: number, run: string): Item[] =>
	Array.from({ length: count }, (_, index) => ({
		title: `Offer ${index}`,
		message: `Everything must go, part ${index}`,
		targetUrl: `https://example.com/offers/${index}`,
		key: `${run}, ${index}`,
	}));

const plain = {
	items: (run: string) => offers(500, run),
	texts: {
		title: '={{ $json.title }}',
		message: '={{ $json.message }}',
		targetUrl: '={{ $json.targetUrl }}',
	},
};

const personal = {
	items: () =>
		Array.from({ length: 500 }, (_, index) => ({
			name: `Reader ${index}`,
			city: `Town ${index}`,
			offer: `offer-${index}`,
		})),
	texts: {
		title: '=Hello {{ $json.name }}, this is for you',
		message: '=Your offer in {{ $json.city }} ends tonight',
		targetUrl: '=https://example.com/offers/{{ $json.offer }}/today',
	},
};

export const cases: readonly Case[] = [
	{ ...plain, title: '500 sends, each takes 50 ms', latencyMs: 50, atMost: 0.33 },
	{ ...plain, title: '500 sends, each takes 5 ms', latencyMs: 5, atMost: 0.25 },
	{ ...personal, title: '500 personal notifications, 50 ms', latencyMs: 50, atMost: 0.5 },
	{
		...plain,
		title: '500 sends with Send Only Once, 50 ms',
		latencyMs: 50,
		options: { idempotencyKey: '={{ $json.key }}' },
		atMost: 1.2,
	},
	{
		...plain,
		title: '2,000 sends, 100 a second allowed',
		latencyMs: 50,
		perSecond: 100,
		items: (run) => offers(2000, run),
		// The first 100 at once.
		neededMs: 19_000,
		atMost: 1.05,
	},
];
