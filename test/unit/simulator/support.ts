import { request } from 'node:http';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../simulator';

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
	/** A text goes as it is, anything else as JSON. */
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

/** The paths of the sends, with what makes the smallest body complete there. */
export const sends = {
	all: { path: '/v1/notification/send/all', audience: {} },
	attribute: { path: '/v1/notification/send/attribute', audience: { attribute: { plan: 'pro' } } },
	segment: { path: '/v1/notification/send/segment', audience: { segment: ['31'] } },
	sid: { path: '/v1/notification/send/sid', audience: { sid: '5001' } },
} as const;

export type SendName = keyof typeof sends;
export const sendNames: SendName[] = ['all', 'attribute', 'segment', 'sid'];

function parse(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return value;
	} catch {
		return undefined;
	}
}

/** Makes one request exactly as told: also such as no well-behaved client would make. */
export function call(
	url: string,
	{ method, path, headers, body }: PlainRequest,
): Promise<PlainAnswer> {
	const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
	return new Promise((resolve, reject) => {
		const outgoing = request(
			url + path,
			{
				method: method ?? (text === undefined ? 'GET' : 'POST'),
				headers: {
					...(headers ?? requiredHeaders),
					...(text === undefined ? {} : { 'Content-Length': Buffer.byteLength(text) }),
				},
				timeout: 20_000,
			},
			(incoming) => {
				const chunks: Buffer[] = [];
				incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
				incoming.on('error', reject);
				incoming.on('end', () => {
					const answer = Buffer.concat(chunks).toString('utf8');
					const { statusCode: status = 0, headers: answerHeaders } = incoming;
					resolve({ status, headers: answerHeaders, text: answer, json: parse(answer) });
				});
			},
		);
		outgoing.on('error', reject);
		outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
		outgoing.end(text);
	});
}

/** Sends the smallest body with these changes; a change to undefined leaves the field out. */
export function send(
	simulator: Simulator,
	name: SendName,
	changes: Record<string, unknown> = {},
): Promise<PlainAnswer> {
	const { path, audience } = sends[name];
	return call(simulator.url, { path, body: { ...smallest, ...audience, ...changes } });
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
	beforeEach(() => {
		current().reset();
	});
	afterAll(async () => {
		await current().close();
	});
	return current;
}
