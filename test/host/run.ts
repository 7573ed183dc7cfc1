import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import execa from 'execa';
import {
	artifactsFolder,
	installHost,
	killGroup,
	packPackage,
	Progress,
	projectFolder,
	startN8n,
	type Major,
} from '../../host';
import { endProcessesOf } from './support/leftovers';
import { missingRequirements } from './support/requirements';
import { preparedFolder, preparedVariable, tarballVariable } from './support/stage';

const graceMs = 20_000;

const majors: Major[] = ['2', '1'];

/** The exit code of an interrupted run, whose suites had no chance to tidy up. */
const interrupted = 130;

/** What n8n and tsx keep in a temporary folder for good, and what a browser that had to be killed leaves there. */
const shared = /^(tsx-\d+|n8nDataTableUploads|\.org\.chromium\..*|playwright.*)$/;

/**
 * Everything that the suites need is made here, once: the pinned servers, the packed package, and
 * one folder that holds all that they write.
 *
 * @param args handed to jest, such as a part of a suite's name
 * @returns jest's exit code; 1 where a process or a file was left behind
 */
async function run(args: readonly string[]): Promise<number> {
	const missing = missingRequirements();
	if (missing !== undefined) throw new Error(missing);
	const progress = new Progress(process.stdout);
	await progress.step('Looking for n8n 2.x and 1.x (once: 5 GB, some minutes)', async () => {
		const installs = await Promise.allSettled(majors.map((major) => installHost(major)));
		for (const install of installs) if (install.status === 'rejected') throw install.reason;
	});
	const { tarball } = await progress.step('Building the package', () => packPackage());
	await mkdir(artifactsFolder, { recursive: true });

	const folder = await mkdtemp(join(tmpdir(), 'push-campaign-test-'));
	try {
		// PostgreSQL runs as another user and has to reach its own folder in here.
		await chmod(folder, 0o711);
		const prepared = join(folder, 'prepared');
		await progress.step('Setting up the databases of n8n', async () => {
			const env = { N8N_DISABLE_UI: 'true', TMPDIR: folder };
			const setUp = async (major: Major) => {
				const userFolder = preparedFolder(prepared, major);
				const server = await startN8n({ major, userFolder, env });
				await server.stop();
			};
			await Promise.all(majors.map(setUp));
		});
		const exitCode = await runJest(args, {
			...process.env,
			[tarballVariable]: tarball,
			[preparedVariable]: prepared,
			TMPDIR: folder,
		});
		// Whoever interrupts the suites leaves servers behind that nobody ends in order.
		const left = await endProcessesOf(folder, exitCode === interrupted ? 0 : graceMs);
		for (const { pid, command } of left) {
			process.stderr.write(`Left running, and ended now: ${pid} ${command}\n`);
		}
		await rm(prepared, { recursive: true });
		const written = exitCode === interrupted ? [] : await readdir(folder);
		const files = written.filter((name) => !shared.test(name));
		for (const name of files) process.stderr.write(`Left in the temporary folder: ${name}\n`);
		return exitCode !== 0 ? exitCode : left.length + files.length > 0 ? 1 : 0;
	} finally {
		await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
	}
}

async function runJest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
	const jest = execa(
		process.execPath,
		[
			require.resolve('jest/bin/jest'),
			'--json',
			`--outputFile=${join(artifactsFolder, 'test-host.json')}`,
			...args,
		],
		// A group of its own: its workers end with it. The report for programs goes to the file alone.
		{
			cwd: projectFolder,
			env,
			detached: true,
			stdio: ['ignore', 'ignore', 'inherit'],
			reject: false,
		},
	);
	const { pid } = jest;
	const interrupt = () => {
		if (pid === undefined) return;
		killGroup(pid, 'SIGTERM');
		setTimeout(() => killGroup(pid, 'SIGKILL'), 5_000).unref();
	};
	const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
	for (const signal of signals) process.on(signal, interrupt);
	try {
		return (await jest).exitCode ?? interrupted;
	} finally {
		if (pid !== undefined) killGroup(pid, 'SIGKILL');
		for (const signal of signals) process.off(signal, interrupt);
	}
}

run(process.argv.slice(2)).then(
	(exitCode) => process.exit(exitCode),
	(error: unknown) => {
		process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
		process.exit(1);
	},
);
