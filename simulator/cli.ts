import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startSimulator } from './index';

const usage = `Usage: npx tsx simulator/cli.ts [options]

  --port <number>         default 8787; 0 takes a free one
  --path-prefix <path>    what stands before /v1/, e.g. /push
  --key <text>            default demo-key
  --token <text>          default demo-token
  --life-speed <number>   how fast counters move, default 1; 0 stands still
  --state-file <path>     keeps campaigns there for the next start
`;

const number = z.coerce.number().nonnegative();

async function main(): Promise<void> {
	const text = { type: 'string' } as const;
	const { values } = parseArgs({
		options: {
			port: { ...text, default: '8787' },
			'path-prefix': { ...text, default: '' },
			key: { ...text, default: 'demo-key' },
			token: { ...text, default: 'demo-token' },
			'life-speed': { ...text, default: '1' },
			'state-file': text,
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) {
		process.stdout.write(usage);
		return;
	}
	const stateFile = values['state-file'];
	const simulator = await startSimulator({
		port: number.parse(values.port),
		pathPrefix: values['path-prefix'],
		serviceKey: values.key,
		authToken: values.token,
		lifeSpeed: number.parse(values['life-speed']),
		...(stateFile === undefined ? {} : { stateFile }),
	});
	process.stdout.write(
		`Push service simulator: ${simulator.url} (key ${values.key}, token ${values.token})\n` +
			`What subscribers see:   ${simulator.origin}/\n`,
	);
	for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void simulator.close());
}

main().catch((error: unknown) => {
	process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
	process.exitCode = 1;
});
