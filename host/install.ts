import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import { hostOf, type Host, type Major } from './hosts';
import { withLock } from './lock';
import { NpmFailed, runNpm } from './npm';

/** What an installation is doing, told when it changes and every second. */
export interface InstallProgress {
	doing: string;
	/** Seconds since the installation began. */
	seconds: number;
}

export interface InstallOptions {
	onProgress?: (progress: InstallProgress) => void;
}

/** An installation that did not succeed: the message says what to do, `logFile` holds npm's words. */
export class InstallFailed extends Error {
	constructor(
		message: string,
		readonly logFile: string,
	) {
		super(`${message}\nEverything that npm printed is in ${logFile}`);
	}
}

/**
 * Makes sure that the pinned n8n of a major version is complete: its packages as the lock file
 * beside it says, without their install scripts, and the native parts built. Takes minutes the first
 * time and milliseconds afterwards. Safe when several processes call it at once.
 *
 * @throws {InstallFailed} when npm fails
 */
export async function installHost(major: Major, options: InstallOptions = {}): Promise<Host> {
	const host = hostOf(major);
	if (await isStamped(host)) return host;
	await withLock(host.directory, async () => {
		if (await isStamped(host)) return;
		await install(host, options);
		await writeFile(stampFile(host), await stampOf(host));
	});
	return host;
}

/** Whether `installHost` has nothing to do for this major version. */
export async function isHostInstalled(major: Major): Promise<boolean> {
	return await isStamped(hostOf(major));
}

async function install(host: Host, { onProgress }: InstallOptions): Promise<void> {
	const logFile = join(host.directory, 'install.log');
	await rm(logFile, { force: true });
	const { n8n: version } = (await readPackage(host)).dependencies;
	const started = Date.now();
	const during = async <T>(doing: string, work: Promise<T>): Promise<T> => {
		const tell = () => onProgress?.({ doing, seconds: Math.floor((Date.now() - started) / 1000) });
		tell();
		const ticking = setInterval(tell, 1000);
		try {
			return await work;
		} finally {
			clearInterval(ticking);
		}
	};
	const npm = async (doing: string, args: string[]) => {
		try {
			await during(doing, runNpm(args, { cwd: host.directory, logFile }));
		} catch (error) {
			if (!(error instanceof NpmFailed)) throw error;
			throw new InstallFailed(explain(error.output, await missingBuildTools()), logFile);
		}
	};
	if (!(await isComplete(host))) {
		// Without a network npm would try for many minutes before it says so.
		const asking = runNpm(['view', `n8n@${version ?? ''}`, 'version', '--fetch-retries=0'], {
			cwd: host.directory,
			logFile,
		});
		await during('Asking the npm registry', asking).catch((error: unknown) => {
			if (!(error instanceof NpmFailed)) throw error;
			if (isNetworkFailure(error.output))
				throw new InstallFailed(explain(error.output, []), logFile);
		});
		await npm(`Downloading n8n ${version ?? ''} (once: 2.5 GB, some minutes)`, [
			'install',
			'--legacy-peer-deps',
			'--ignore-scripts',
			'--no-audit',
			'--no-fund',
		]);
	}
	if (!(await nativePartsLoad(host))) {
		await npm('Building SQLite (about a minute)', [
			'rebuild',
			...host.nativePackages,
			'--ignore-scripts=false',
		]);
		if (!(await nativePartsLoad(host))) {
			throw new InstallFailed('SQLite was built, yet n8n cannot load it.', logFile);
		}
	}
}

const packageSchema = z.object({ dependencies: z.record(z.string()) });

async function readPackage(host: Host): Promise<z.infer<typeof packageSchema>> {
	return packageSchema.parse(
		JSON.parse(await readFile(join(host.directory, 'package.json'), 'utf8')),
	);
}

function stampFile(host: Host): string {
	return join(host.directory, 'node_modules', '.complete');
}

async function stampOf(host: Host): Promise<string> {
	const hash = createHash('sha256');
	for (const name of ['package.json', 'package-lock.json']) {
		hash.update(await readFile(join(host.directory, name)));
	}
	return hash.update(process.platform).update(process.arch).digest('hex');
}

async function isStamped(host: Host): Promise<boolean> {
	const stamp = await readFile(stampFile(host), 'utf8').catch(() => undefined);
	return stamp !== undefined && stamp === (await stampOf(host));
}

const lockSchema = z.object({
	packages: z.record(
		z.object({ version: z.string().optional(), optional: z.boolean().optional() }),
	),
});

/**
 * Whether the packages that npm noted as installed are those of the lock file. Optional ones may be
 * absent: many are for other platforms.
 */
export function holdsAllOf(lockFile: unknown, installed: unknown): boolean {
	const wanted = lockSchema.parse(lockFile).packages;
	const found = lockSchema.parse(installed).packages;
	return Object.entries(wanted).every(
		([path, { version, optional }]) =>
			path === '' || optional === true || found[path]?.version === version,
	);
}

async function isComplete(host: Host): Promise<boolean> {
	const [wanted, installed] = await Promise.all([
		readFile(join(host.directory, 'package-lock.json'), 'utf8'),
		// npm writes this one last, so an interrupted installation lacks it.
		readFile(join(host.directory, 'node_modules', '.package-lock.json'), 'utf8').catch(
			() => undefined,
		),
	]);
	return installed !== undefined && holdsAllOf(JSON.parse(wanted), JSON.parse(installed));
}

async function nativePartsLoad(host: Host): Promise<boolean> {
	try {
		await execa(host.node, ['-e', 'require("sqlite3")'], { cwd: host.directory });
		return true;
	} catch {
		return false;
	}
}

async function missingBuildTools(): Promise<string[]> {
	if (process.platform === 'win32') return [];
	const found = await Promise.all(
		['python3', 'make', 'g++'].map(async (tool) =>
			execa(tool, ['--version']).then(
				() => [],
				() => [tool],
			),
		),
	);
	return found.flat();
}

function isNetworkFailure(output: string): boolean {
	return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET/.test(output);
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
	if (isNetworkFailure(output)) {
		return 'n8n was not installed: the npm registry was not reached. Check the network (and the proxy, if there is one), then run the same command again: it goes on where it stopped.';
	}
	return 'n8n was not installed: npm stopped.';
}
