import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';

/**
 * Lets a server listen on 127.0.0.1 while the tests of the surrounding `describe` (or file) run.
 *
 * @returns a function that gives its port to a test
 */
export function useListening(server: Server | SecureServer): () => number {
	beforeAll(async () => {
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
	});
	afterAll(async () => {
		server.closeAllConnections();
		server.close();
		await once(server, 'close');
	});
	return () => {
		const address = server.address();
		if (address === null || typeof address === 'string') throw new Error('Not on a TCP port');
		return address.port;
	};
}
