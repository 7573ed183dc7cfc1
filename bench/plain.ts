import { Agent, request } from 'node:http';

export interface PlainRequest {
	readonly method: 'GET' | 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string;
}

/**
 * Makes requests over connections that are kept, so many at once, and does nothing else: as fast as it
 * can be done at all.
 *
 * @returns how long it took, in milliseconds
 */
export async function requestPlainly(
	requests: readonly PlainRequest[],
	parallel: number,
): Promise<number> {
	const agent = new Agent({ keepAlive: true, maxSockets: parallel });
	const left = [...requests].reverse();
	const work = async (): Promise<void> => {
		for (let next = left.pop(); next !== undefined; next = left.pop()) await send(next, agent);
	};
	try {
		const from = performance.now();
		await Promise.all(Array.from({ length: parallel }, work));
		return performance.now() - from;
	} finally {
		agent.destroy();
	}
}

async function send({ method, url, headers, body }: PlainRequest, agent: Agent): Promise<void> {
	await new Promise<void>((resolve, reject) => {
		const sent = request(url, { method, headers, agent, timeout: 60_000 }, (answer) => {
			answer.resume();
			answer.once('end', resolve);
			answer.once('error', reject);
		});
		sent.once('error', reject);
		sent.end(body);
	});
}
