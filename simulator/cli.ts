import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startSimulator } from './index';
import type { RateLimit } from './index';

const usage = `Usage: npx tsx simulator/cli.ts [options]

  --port <number>               default 8787; 0 takes a free one
  --host <name>                 default 127.0.0.1
  --path-prefix <path>          what stands before /v1/, e.g. /push
  --key <text>                  default demo-key
  --token <text>                default demo-token
  --rate-limit <n>/<burst>      requests per second, and how many at once
  --retry-after seconds|date    sends Retry-After with refusals
  --latency <milliseconds>      how long each answer takes
  --life-speed <number>         how fast counters move, default 1
  --failure-status <status>     the HTTP status of every failure body
`;

const number = z.coerce.number().nonnegative();

function rateLimitOf(
	text: string | undefined,
	retryAfter: string | undefined,
): RateLimit | undefined {
	if (text === undefined) return undefined;
	const [perSecond, burst] = z.tuple([number, number]).parse(text.split('/'));
	const form = z.enum(['seconds', 'date']).optional().parse(retryAfter);
	return { perSecond, burst, ...(form === undefined ? {} : { retryAfter: form }) };
}

async function main(): Promise<void> {
	const text = { type: 'string' } as const;
	const { values } = parseArgs({
		options: {
			port: { ...text, default: '8787' },
			host: { ...text, default: '127.0.0.1' },
			'path-prefix': { ...text, default: '' },
			key: { ...text, default: 'demo-key' },
			token: { ...text, default: 'demo-token' },
			'rate-limit': text,
			'retry-after': text,
			latency: { ...text, default: '0' },
			'life-speed': { ...text, default: '1' },
			'failure-status': text,
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(usage);
		return;
	}
	const failureStatus = values['failure-status'];
	const simulator = await startSimulator({
		host: values.host,
		port: number.parse(values.port),
		pathPrefix: values['path-prefix'],
		serviceKey: values.key,
		authToken: values.token,
		latencyMs: number.parse(values.latency),
		lifeSpeed: number.parse(values['life-speed']),
		failureStatus: failureStatus === undefined ? 'mapped' : number.parse(failureStatus),
		rateLimit: rateLimitOf(values['rate-limit'], values['retry-after']),
	});
	process.stdout.write(
		`Push service simulator: ${simulator.url} (key ${values.key}, token ${values.token})\n` +
			`What subscribers see:   ${simulator.origin}/\n`,
	);
	const stop = (): void => {
		void simulator.close();
	};
	process.once('SIGINT', stop);
	process.once('SIGTERM', stop);
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
	process.exitCode = 1;
});
