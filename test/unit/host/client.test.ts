import { createServer } from 'node:http';
import { N8nClient } from '../../../host';

/** A client of a server that gives these answers, one after another, and the requests that it got. */
async function clientOf(...answers: Array<[status: number, body: string]>) {
	const requests: string[] = [];
	const server = createServer((request, response) => {
		requests.push(`${request.method} ${request.url}`);
		const [status, body] = answers.shift() ?? [404, 'No more answers'];
		response.writeHead(status, { connection: 'close' }).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const address = server.address();
	if (address === null || typeof address === 'string') throw new TypeError('It has no port');
	return {
		client: new N8nClient(`http://127.0.0.1:${address.port}`),
		requests,
		close: () => server.close(),
	};
}

const notReady = JSON.stringify({ code: 503, message: 'Database is not ready!' });

test('waits where n8n says that its database is not ready', async () => {
	const { client, requests, close } = await clientOf([503, notReady], [200, '{"data": 7}']);
	await expect(client.request('POST', 'workflows', {})).resolves.toBe(7);
	expect(requests).toEqual(['POST /rest/workflows', 'POST /rest/workflows']);
	close();
});

test.each([
	[503, 'Service unavailable'],
	[500, notReady],
])('repeats nothing after another refusal: %d %s', async (status, body) => {
	const { client, requests, close } = await clientOf([status, body]);
	await expect(client.request('POST', 'workflows', {})).rejects.toMatchObject({ status, body });
	expect(requests).toHaveLength(1);
	close();
});
