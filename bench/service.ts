import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { startSimulator } from '../simulator';

export const access = { apiKey: 'demo-key', authToken: 'demo-token' };

const conditionsSchema = z.object({
	latencyMs: z.number(),
	/** How many requests a second are allowed; null: any number. */
	perSecond: z.number().nullable(),
});
const answerSchema = z.object({ url: z.string(), bodies: z.array(z.record(z.unknown())) });

/** The simulator in a process of its own, so that it takes no time from what is measured. */
export class Service {
	private constructor(
		private readonly child: ChildProcess,
		readonly url: string,
	) {}

	static async start(): Promise<Service> {
		const child = fork(__filename, { execArgv: ['--import', 'tsx'] });
		return new Service(child, (await nextAnswer(child)).url);
	}

	/** Starts again, under other conditions. */
	async reset(conditions: z.infer<typeof conditionsSchema>): Promise<void> {
		this.child.send(conditions);
		await nextAnswer(this.child);
	}

	/** The bodies of all that was sent since then, in the order in which they arrived. */
	async sent(): Promise<Array<Record<string, unknown>>> {
		this.child.send('sent');
		return (await nextAnswer(this.child)).bodies;
	}

	async close(): Promise<void> {
		const exit = once(this.child, 'exit');
		this.child.disconnect();
		await exit;
	}
}

async function nextAnswer(child: ChildProcess) {
	const [answer] = z.array(z.unknown()).parse(await once(child, 'message'));
	return answerSchema.parse(answer);
}

/** The other process: answers once when it is ready, and each message. */
async function serve(): Promise<void> {
	const { apiKey: serviceKey, authToken } = access;
	const simulator = await startSimulator({ serviceKey, authToken, lifeSpeed: 0 });
	const answer = () => {
		const bodies = [...simulator.campaigns.values()].map(({ body }) => body);
		process.send?.({ url: simulator.url, bodies });
	};
	process.on('message', (message) => {
		const conditions = conditionsSchema.safeParse(message);
		if (conditions.success) {
			const { latencyMs, perSecond } = conditions.data;
			const rateLimit = perSecond === null ? null : { perSecond, burst: perSecond };
			simulator.reset();
			simulator.configure({ latencyMs, rateLimit });
		}
		answer();
	});
	process.once('disconnect', () => void simulator.close());
	answer();
}

if (require.main === module) void serve();
