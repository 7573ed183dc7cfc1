import { z } from 'zod/v3';

import { parseUrl } from './address';

/** A connection that was not made, as Node.js names it: an address and a port, or a host that was not found. */
export interface FailedConnection {
	readonly hostname: string;
	readonly address: string;
	readonly port: number;
}

/** A proxy that a request did not get past. */
export interface FailedProxy {
	/** Its host and port, without the user name and password. Missing if nothing says them. */
	readonly address?: string | undefined;
	/** Whether the proxy itself was not reached. Otherwise it made no connection to the service. */
	readonly isUnreached: boolean;
}

interface Evidence {
	/** The address that was asked. */
	readonly service: URL;
	readonly attempt: FailedConnection | undefined;
	/** What made the connections of the requests that failed. */
	readonly agents: readonly unknown[];
	/** Only a proxy fails like that. */
	readonly hasNoTunnel: boolean;
	/** The request never got a socket: with a proxy in between, this one made no connection. */
	readonly hasNoSocket: boolean;
}

/**
 * An agent that knows its proxy (https-proxy-agent 7.0.6), or one of n8n 2, which has chosen it for this request
 * (n8n 2.41.1: @n8n/backend-network, `http/env-proxy-router.js`; each request has an agent of its own).
 */
const agentSchema = z.union([
	z.object({ proxy: z.object({ host: z.string().min(1) }) }).transform(({ proxy }) => proxy.host),
	z
		.object({ router: z.object({ proxyCache: z.map(z.string(), z.unknown()) }) })
		.transform(({ router }) => parseUrl([...router.proxyCache.keys()][0] ?? '')?.host),
]);

const defaultPorts: ReadonlyMap<string, number> = new Map([
	['http:', 80],
	['https:', 443],
]);

/** Whether the connection was to another host than the service's. With the same port, an address does not tell. */
function isElsewhere({ hostname, port }: FailedConnection, service: URL): boolean {
	if (hostname !== '') return hostname.toLowerCase() !== service.hostname;
	return port !== (Number(service.port) || defaultPorts.get(service.protocol));
}

const addressOf = ({ hostname, address, port }: FailedConnection) =>
	hostname === '' ? `${address}:${port}` : hostname;

/** Names the proxy, if it was a proxy that kept a request from being sent. */
export function failedProxy({
	service,
	attempt,
	agents,
	hasNoTunnel,
	hasNoSocket,
}: Evidence): FailedProxy | undefined {
	const used = agents
		.map((agent) => agentSchema.safeParse(agent).data)
		.find((host) => host !== undefined);
	if (attempt !== undefined && (used !== undefined || isElsewhere(attempt, service))) {
		return { address: used ?? addressOf(attempt), isUnreached: true };
	}
	if (hasNoTunnel || (hasNoSocket && used !== undefined)) {
		return { address: used, isUnreached: false };
	}
	return undefined;
}
