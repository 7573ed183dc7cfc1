import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import { hostOf } from '../host';

const files = [
	'nodes/PushCampaign/PushCampaign.node.js',
	'nodes/PushCampaign/PushCampaignTrigger.node.js',
	'credentials/PushCampaignApi.credentials.js',
];

/** What n8n has loaded before it comes to community packages, as far as this package uses it. */
const warm = ['n8n-workflow', 'zod', 'zod/v3', 'luxon', 'crypto'];

const script = `
const { createRequire } = require('node:module');
const hostRequire = createRequire(process.argv[1]);
for (const name of ${JSON.stringify(warm)}) hostRequire(name);
// What loading n8n left to clear away is not this package's.
global.gc();
const from = performance.now();
for (const file of process.argv.slice(2)) require(file);
process.stdout.write(String(performance.now() - from));
`;

/**
 * Requires the installed package in new processes of n8n's Node.js.
 * @returns the times, in milliseconds
 */
export async function timeLoading(packageFolder: string, runs: number): Promise<number[]> {
	const { node, directory } = hostOf('2');
	const modules = join(directory, 'node_modules');
	const paths = files.map((file) => join(packageFolder, 'dist', file));
	const args = ['--expose-gc', '-e', script, join(modules, 'n8n', 'package.json'), ...paths];
	const env = { ...process.env, NODE_PATH: modules };
	const times: number[] = [];
	while (times.length <= runs) {
		const { stdout } = await execa(node, args, { env, timeout: 60_000 });
		times.push(z.coerce.number().parse(stdout));
	}
	// The first reads from the disk.
	return times.slice(1);
}
