import { subscriberCount } from '../service/answers';
import type { Client } from '../service/client';
import { subscriberCountPath } from '../service/rules';
import { sendOperation, toolNotice } from './send';

/** A hint that comes late helps nobody. In milliseconds. */
const patience = 5000;

/** Specification, GET subscriber_count. */
async function countActive(client: Client, timeoutMs: number): Promise<number | undefined> {
	const request = { kind: 'read', path: subscriberCountPath } as const;
	const result = await client.request(request, subscriberCount, Math.min(timeoutMs, patience));
	return result.kind === 'done' ? (result.value['activeSubscribers'] ?? undefined) : undefined;
}

/** Specification, POST send/all. */
export const sendToAll = sendOperation({
	audience: 'all',
	option: {
		name: 'Send to All',
		value: 'sendToAll',
		action: 'Send campaign to all subscribers',
		description: 'Send a notification to every subscriber of the site',
	},
	properties: [toolNotice('every subscriber')],
	select: () => ({}),
	countReached: countActive,
});
