import getPort from 'get-port';

const host = '127.0.0.1';

/** A port of the loopback interface that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
	return await getPort({ host });
}

/** The first of these ports that is free on the loopback interface, otherwise any free one. */
export async function firstFree(...preferred: Array<number | undefined>): Promise<number> {
	return await getPort({ host, port: preferred.filter((port) => port !== undefined) });
}
