import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
	artifactsFolder,
	installHost,
	killGroup,
	packPackage,
	Progress,
	projectFolder,
} from '../../host';
import { tarballVariable } from './support';
import { missingRequirements } from './support/requirements';

/**
 * Makes what all suites need (the pinned servers, the packed package, one folder for all that they write), and runs
 * them.
 *
 * @param args handed to jest, such as a part of a suite's name
 * @returns jest's exit code
 */
async function runSuites(args: readonly string[]): Promise<number> {
	const missing = missingRequirements();
	if (missing !== undefined) throw new Error(missing);
	const progress = new Progress(process.stdout);
	for (const major of ['2', '1'] as const) await installHost(major, progress);
	const { tarball } = await progress.step('Building the package', packPackage);
	await mkdir(artifactsFolder, { recursive: true });
	const folder = await mkdtemp(join(tmpdir(), 'push-campaign-test-'));
	try {
		// PostgreSQL runs as another user and has to reach its own folder in here.
		await chmod(folder, 0o711);
		return await runJest(args, { ...process.env, [tarballVariable]: tarball, TMPDIR: folder });
	} finally {
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	}
}

async function runJest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
	const report = `--outputFile=${join(artifactsFolder, 'test-host.json')}`;
	const config = join(__dirname, 'jest.config.js');
	const jest = spawn(
		process.execPath,
		[require.resolve('jest/bin/jest'), '--config', config, '--json', report, ...args],
		// In a group of its own: its workers end with it. The report for programs goes to the file alone.
		{ cwd: projectFolder, env, detached: true, stdio: ['ignore', 'ignore', 'inherit'] },
	);
	const end = () => jest.pid !== undefined && killGroup(jest.pid, 'SIGKILL');
	process.once('exit', end);
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => process.exit(130));
	}
	await once(jest, 'exit');
	end();
	return jest.exitCode ?? 1;
}

runSuites(process.argv.slice(2)).then(
	(exitCode) => process.exit(exitCode),
	(error: unknown) => {
		process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	},
);
