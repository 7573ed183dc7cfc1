import { createHash } from 'node:crypto';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { withLock } from '../process/lock';
import { runNpm } from '../process/npm';
import { hostOf, type Host, type Major } from './hosts';

/** What a caller may want to show of an installation. */
export interface InstallProgress {
	/** A step begins. */
	begin?: (step: string) => void;
	/** The step has come that far, such as `812 of 2,100 packages`. */
	reach?: (amount: string) => void;
}

const countEveryMs = 1_000;

/**
 * Makes sure that the pinned n8n of a major version is complete: its packages as the lock file
 * beside it says, without their install scripts, and the native parts built. Takes minutes the first
 * time and milliseconds afterwards. Safe when several processes call it at once.
 *
 * @throws when npm fails: says what to do, and which file holds npm's words
 */
export async function installHost(major: Major, progress: InstallProgress = {}): Promise<Host> {
	const host = hostOf(major);
	if (await isInstalled(host)) return host;
	await withLock(`n8n-${major}`, async () => {
		if (await isInstalled(host)) return;
		await install(host, progress);
		await writeFile(stampFile(host), await stampOf(host));
	});
	return host;
}

async function install(host: Host, progress: InstallProgress): Promise<void> {
	const { directory: cwd } = host;
	const logFile = join(cwd, 'install.log');
	await rm(logFile, { force: true });
	const npm = async (step: string, args: string[]) => {
		progress.begin?.(step);
		try {
			await runNpm(args, cwd, logFile);
		} catch (error) {
			throw new Error(`${explain(String(error))}\nEverything that npm printed is in ${logFile}`);
		}
	};
	// Without a network an installation would try for many minutes before it says so.
	await npm('Asking the npm registry', ['view', 'n8n', 'version', '--fetch-retries=0']);
	const endCounting = countPackages(host, logFile, progress);
	// Without --no-save npm adds to the lock file what it knows of other platforms. At this log level it
	// writes each of its requests to the log, which are counted there.
	const flags = ['--no-save', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
	flags.push('--loglevel=http');
	try {
		await npm('Downloading n8n (once: 2.5 GB, some minutes)', ['install', ...flags]);
	} finally {
		endCounting();
	}
	const rebuild = ['rebuild', ...host.nativePackages, '--ignore-scripts=false'];
	await npm('Building SQLite (about a minute)', rebuild);
}

const lockSchema = z.object({
	packages: z.record(
		z.object({
			os: z.array(z.string()).default([process.platform]),
			cpu: z.array(z.string()).default([process.arch]),
		}),
	),
});

/** The name of the package at a path of the lock file. */
const nameOf = (path: string) => path.split('node_modules/').pop() ?? path;

/**
 * How many of these packages npm has asked the registry about, by its log. npm asks about some of them
 * more than once, and about others that it does not install.
 */
export function countAsked(log: string, names: ReadonlySet<string>): number {
	const urls = log.matchAll(/http (?:fetch|cache) .*?https?:\/\/(\S+)/g);
	const asked = [...urls].map(([, url = '']) => {
		// A scoped name may be written `@scope%2fname`.
		const [scope = '', name = ''] = url.replace(/%2f/i, '/').split('/').slice(-2);
		return scope.startsWith('@') ? `${scope}/${name}` : name;
	});
	return new Set(asked.filter((name) => names.has(name))).size;
}

/**
 * Reports again and again how many packages of the lock file are unpacked. npm first asks the
 * registry about each of them, and unpacks none meanwhile: then it reports how many were asked about.
 *
 * @returns a function that ends the counting
 */
function countPackages(
	{ directory }: Host,
	logFile: string,
	{ reach }: InstallProgress,
): () => void {
	let isCounting = reach !== undefined;
	const count = async () => {
		const text = await readFile(join(directory, 'package-lock.json'), 'utf8');
		const { packages } = lockSchema.parse(JSON.parse(text));
		const paths = Object.entries(packages).flatMap(([path, { os, cpu }]) => {
			const isForHere = os.includes(process.platform) && cpu.includes(process.arch);
			return path !== '' && isForHere ? [join(directory, path, 'package.json')] : [];
		});
		const number = new Intl.NumberFormat('en-US');
		const names = new Set(Object.keys(packages).filter(Boolean).map(nameOf));
		while (isCounting) {
			const found = await Promise.all(paths.map(exists));
			const unpacked = found.filter(Boolean).length;
			const log = unpacked > 0 ? '' : await readFile(logFile, 'utf8').catch(() => '');
			const asked = countAsked(log, names);
			reach?.(
				unpacked > 0
					? `${number.format(unpacked)} of ${number.format(paths.length)} packages`
					: `asked about ${number.format(asked)} of ${number.format(names.size)} packages`,
			);
			await sleep(countEveryMs);
		}
	};
	// Whatever is wrong with the lock file, npm says it better.
	void count().catch(() => {});
	return () => {
		isCounting = false;
	};
}

const exists = async (path: string): Promise<boolean> =>
	await access(path).then(
		() => true,
		() => false,
	);

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
