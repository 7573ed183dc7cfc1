import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

const emptyNode = 'exports.Empty = class { description = { properties: [] } };';

/**
 * Requires the packed package, and as many empty nodes, in new processes of n8n's Node.js.
 *
 * @returns the times, in milliseconds
 */
export async function timeLoading(
	tarball: string,
	runs: number,
): Promise<{ ours: number[]; empty: number[] }> {
	const { node, directory } = hostOf('2');
	const folder = await mkdtemp(join(tmpdir(), 'bench-loading-'));
	try {
		await execa('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1']);
		await mkdir(join(folder, 'empty'));
		const empty = files.map((_, index) => join(folder, 'empty', `${index}.js`));
		for (const file of empty) await writeFile(file, emptyNode);
		const ours = files.map((file) => join(folder, 'dist', file));
		const time = async (required: readonly string[]) => {
			const { stdout } = await execa(
				node,
				[
					'--expose-gc',
					'-e',
					script,
					join(directory, 'node_modules', 'n8n', 'package.json'),
					...required,
				],
				{ env: { ...process.env, NODE_PATH: join(directory, 'node_modules') }, timeout: 60_000 },
			);
			return z.coerce.number().parse(stdout);
		};
		const times: { ours: number[]; empty: number[] } = { ours: [], empty: [] };
		for (let run = 0; run <= runs; run += 1) {
			const taken = { ours: await time(ours), empty: await time(empty) };
			// The first reads from the disk.
			if (run === 0) continue;
			times.ours.push(taken.ours);
			times.empty.push(taken.empty);
		}
		return times;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}
