import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import {
	parseJson,
	startSimulator,
	type Simulator,
	type SimulatorOptions,
} from '../../../simulator';

/** One answer as it came; `json` is undefined where the body is none. */
export interface PlainAnswer {
	status: number;
	headers: Record<string, string | string[] | undefined>;
	text: string;
	json: unknown;
}

export interface PlainRequest {
	method?: string;
	path: string;
	/** Replaces the three required headers. */
	headers?: Record<string, string>;
	/** Bytes and a text go as they are, anything else as JSON. */
	body?: unknown;
}

export const credentials = { serviceKey: 'demo-key', serviceAuthToken: 'demo-token' };
export const requiredHeaders = { ...credentials, 'Content-Type': 'application/json' };

/** The smallest body that every operation accepts, but for its audience. */
export const smallest = {
	title: 'Spring sale',
	message: 'Everything at half price',
	target_url: 'https://shop.example/sale',
};

/** The sends, with what makes the smallest body complete there. */
export const audiences = {
	all: {},
	attribute: { attribute: { plan: 'pro' } },
	segment: { segment: ['31'] },
	sid: { sid: '5001' },
} as const;

export type SendName = keyof typeof audiences;
export const sendNames: SendName[] = ['all', 'attribute', 'segment', 'sid'];
export const sendPath = (name: SendName) => `/v1/notification/send/${name}`;
export const statusPath = '/v1/notification/status/id/';
export const countPath = '/v1/site/subscriber_count';

/** Makes one request exactly as given, even one that no well-behaved client would make. */
export async function call(
	url: string,
	{ method, path, headers = requiredHeaders, body }: PlainRequest,
): Promise<PlainAnswer> {
	const raw = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
	const length = raw === undefined ? {} : { 'Content-Length': Buffer.byteLength(raw) };
	return await new Promise((resolve, reject) => {
		const options = {
			method: method ?? (raw === undefined ? 'GET' : 'POST'),
			headers: { ...headers, ...length },
			timeout: 20_000,
		};
		const outgoing = request(url + path, options, (incoming) => {
			const { statusCode: status = 0, headers: answered } = incoming;
			textOf(incoming).then(
				(text) => resolve({ status, headers: answered, text, json: parseJson(text) }),
				reject,
			);
		});
		outgoing.on('error', reject);
		outgoing.end(raw);
	});
}

/** Sends the smallest body with these changes; a change to undefined leaves the field out. */
export async function send(
	{ url }: Simulator,
	name: SendName,
	changes: Record<string, unknown> = {},
): Promise<PlainAnswer> {
	const body = { ...smallest, ...audiences[name], ...changes };
	return await call(url, { path: sendPath(name), body });
}

/** A failure body of the service. */
export function failure(type: string | undefined, description: string): Record<string, string> {
	return { status: 'failure', ...(type === undefined ? {} : { type }), description };
}

/** A simulator for a test file: started before its tests, reset before each, closed after. */
export function useSimulator(options: SimulatorOptions = {}): () => Simulator {
	let simulator: Simulator | undefined;
	const current = (): Simulator => {
		if (!simulator) throw new Error('The simulator is not running');
		return simulator;
	};
	beforeAll(async () => {
		simulator = await startSimulator(options);
	});
	beforeEach(() => current().reset());
	afterAll(async () => await current().close());
	return current;
}
