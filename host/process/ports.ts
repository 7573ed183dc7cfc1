import getPort from 'get-port';

/** The first of these ports that is free on the loopback interface at this moment, otherwise any free one. */
export async function freePort(...preferred: Array<number | undefined>): Promise<number> {
	const port = preferred.filter((each) => each !== undefined);
	return await getPort({ host: '127.0.0.1', port });
}
