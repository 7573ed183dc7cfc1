import { Agent, get } from 'node:http';

/**
 * Makes GET requests over connections that are kept, so many at once, and does nothing else: as fast as
 * it can be done at all.
 */
export async function getPlainly(
	urls: readonly string[],
	headers: Readonly<Record<string, string>>,
	parallel: number,
): Promise<void> {
	const agent = new Agent({ keepAlive: true, maxSockets: parallel });
	const getOne = async (url: string) =>
		await new Promise<void>((resolve, reject) => {
			const request = get(url, { headers, agent, timeout: 60_000 }, (answer) => {
				answer.resume();
				answer.once('end', resolve);
				answer.once('error', reject);
			});
			request.once('error', reject);
		});
	try {
		await Promise.all(urls.map(getOne));
	} finally {
		agent.destroy();
	}
}
