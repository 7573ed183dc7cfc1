import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import { withLock } from '../process/lock';
import { NpmFailed, runNpm } from '../process/npm';
import { hostOf, type Host, type Major } from './hosts';

export interface InstallOptions {
	/** Is told what the installation is doing, whenever that changes. */
	onProgress?: (progress: { doing: string }) => void;
}

/**
 * Makes sure that the pinned n8n of a major version is complete: its packages as the lock file
 * beside it says, without their install scripts, and the native parts built. Takes minutes the first
 * time and milliseconds afterwards. Safe when several processes call it at once.
 *
 * @throws when npm fails: says what to do, and which file holds npm's words
 */
export async function installHost(major: Major, options: InstallOptions = {}): Promise<Host> {
	const host = hostOf(major);
	if (await isInstalled(host)) return host;
	await withLock(host.directory, async () => {
		if (await isInstalled(host)) return;
		await install(host, options);
		await writeFile(stampFile(host), await stampOf(host));
	});
	return host;
}

/** Whether `installHost` has nothing to do for this major version. */
export async function isHostInstalled(major: Major): Promise<boolean> {
	return await isInstalled(hostOf(major));
}

const packageSchema = z.object({ dependencies: z.object({ n8n: z.string() }) });

async function install(host: Host, { onProgress }: InstallOptions): Promise<void> {
	const { directory: cwd } = host;
	const logFile = join(cwd, 'install.log');
	await rm(logFile, { force: true });
	const manifest: unknown = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'));
	const { n8n: version } = packageSchema.parse(manifest).dependencies;
	const npm = async (doing: string, args: string[]) => {
		onProgress?.({ doing });
		try {
			await runNpm(args, { cwd, logFile });
		} catch (error) {
			if (!(error instanceof NpmFailed)) throw error;
			throw failed(explain(error.output, await missingBuildTools()), logFile);
		}
	};
	// Without a network an installation would try for many minutes before it says so.
	await npm('Asking the npm registry', ['view', `n8n@${version}`, 'version', '--fetch-retries=0']);
	await npm(`Downloading n8n ${version} (once: 2.5 GB, some minutes)`, [
		'install',
		'--legacy-peer-deps',
		'--ignore-scripts',
		'--no-audit',
		'--no-fund',
	]);
	if (await nativePartsLoad(host)) return;
	const rebuild = ['rebuild', ...host.nativePackages, '--ignore-scripts=false'];
	await npm('Building SQLite (about a minute)', rebuild);
	if (await nativePartsLoad(host)) return;
	throw failed('SQLite was built, yet n8n cannot load it.', logFile);
}

const failed = (message: string, logFile: string) =>
	new Error(`${message}\nEverything that npm printed is in ${logFile}`);

const stampFile = (host: Host) => join(host.directory, 'node_modules', '.complete');

async function stampOf({ directory }: Host): Promise<string> {
	const hash = createHash('sha256');
	for (const name of ['package.json', 'package-lock.json']) {
		hash.update(await readFile(join(directory, name)));
	}
	return hash.update(process.platform).update(process.arch).digest('hex');
}

async function isInstalled(host: Host): Promise<boolean> {
	const stamp = await readFile(stampFile(host), 'utf8').catch(() => undefined);
	return stamp === (await stampOf(host));
}

async function nativePartsLoad({ node, directory }: Host): Promise<boolean> {
	const { failed: isFailed } = await execa(node, ['-e', 'require("sqlite3")'], {
		cwd: directory,
		reject: false,
	});
	return !isFailed;
}

async function missingBuildTools(): Promise<string[]> {
	if (process.platform === 'win32') return [];
	const found = ['python3', 'make', 'g++'].map(async (tool) => {
		const { failed: isMissing } = await execa(tool, ['--version'], { reject: false });
		return isMissing ? [tool] : [];
	});
	return (await Promise.all(found)).flat();
}

/** Says in plain words why npm failed, as far as its output and the missing build tools tell. */
export function explain(output: string, missingTools: readonly string[]): string {
	// A build that looked for a ready-made binary first has met the network, too: the tools decide.
	if (missingTools.length > 0 && /gyp ERR!/.test(output)) {
		return `n8n was not installed: SQLite has to be compiled here, and ${missingTools.join(', ')} ${missingTools.length > 1 ? 'are' : 'is'} missing. Install what a C++ build needs (Debian, Ubuntu: sudo apt-get install python3 make g++; Fedora: sudo dnf install python3 make gcc-c++; macOS: xcode-select --install), then run the same command again.`;
	}
	if (/ENOSPC/.test(output)) {
		return 'n8n was not installed: the disk is full. It takes about 2.5 GB.';
	}
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(output)) {
		return 'n8n was not installed: the npm registry was not reached. Check the network (and the proxy, if there is one), then run the same command again: it goes on where it stopped.';
	}
	return 'n8n was not installed: npm stopped.';
}
