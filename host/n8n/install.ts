import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../process/lock';
import { runNpm } from '../process/npm';
import { hostOf, type Host, type Major } from './hosts';

/**
 * Makes sure that the pinned n8n of a major version is complete: its packages as the lock file
 * beside it says, without their install scripts, and the native parts built. Takes minutes the first
 * time and milliseconds afterwards. Safe when several processes call it at once.
 *
 * @param tell is told what the installation is doing, whenever that changes
 * @throws when npm fails: says what to do, and which file holds npm's words
 */
export async function installHost(
	major: Major,
	tell: (doing: string) => void = () => {},
): Promise<Host> {
	const host = hostOf(major);
	if (await isInstalled(host)) return host;
	await withLock(host.directory, async () => {
		if (await isInstalled(host)) return;
		await install(host, tell);
		await writeFile(stampFile(host), await stampOf(host));
	});
	return host;
}

async function install(host: Host, tell: (doing: string) => void): Promise<void> {
	const { directory: cwd } = host;
	const logFile = join(cwd, 'install.log');
	await rm(logFile, { force: true });
	const npm = async (doing: string, args: string[]) => {
		tell(doing);
		try {
			await runNpm(args, cwd, logFile);
		} catch (error) {
			throw new Error(`${explain(String(error))}\nEverything that npm printed is in ${logFile}`);
		}
	};
	// Without a network an installation would try for many minutes before it says so.
	await npm('Asking the npm registry', ['view', 'n8n', 'version', '--fetch-retries=0']);
	await npm('Downloading n8n (once: 2.5 GB, some minutes)', [
		'install',
		'--legacy-peer-deps',
		'--ignore-scripts',
		'--no-audit',
		'--no-fund',
	]);
	const rebuild = ['rebuild', ...host.nativePackages, '--ignore-scripts=false'];
	await npm('Building SQLite (about a minute)', rebuild);
}

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

/** Says in plain words why npm failed, as far as its output tells. */
export function explain(output: string): string {
	// A build that looked for a ready-made binary first has met the network, too.
	if (/gyp ERR!/.test(output)) {
		return 'n8n was not installed: SQLite has to be compiled here, which needs Python 3, make, a C++ compiler and the network. Install what is missing (Debian, Ubuntu: sudo apt-get install python3 make g++; Fedora: sudo dnf install python3 make gcc-c++; macOS: xcode-select --install), then run the same command again.';
	}
	if (/ENOSPC/.test(output)) {
		return 'n8n was not installed: the disk is full. It takes about 2.5 GB.';
	}
	if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(output)) {
		return 'n8n was not installed: the npm registry was not reached. Check the network (and the proxy, if there is one), then run the same command again: it goes on where it stopped.';
	}
	return 'n8n was not installed: npm stopped.';
}
