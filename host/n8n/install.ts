import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { withLock } from '../process/lock';
import type { Progress } from '../process/progress';
import { runNpm } from '../process/run';

/** The two n8n lines that are pinned under `host/`: the current one and the last 1.x. */
export type Major = '2' | '1';

/** Where a pinned n8n lies and what runs it. */
export interface Host {
	directory: string;
	/** The Node.js binary: n8n 2.x needs a newer one than the project and brings it as a package. */
	node: string;
	/** n8n's own entry script. */
	script: string;
	/** Packages with native parts: the only ones whose install scripts may run. */
	nativePackages: string[];
	/** Variables that this line needs beside the common ones. */
	env: Record<string, string>;
}

/** The pinned host of a major version. Gives paths only: nothing is checked or installed. */
export function hostOf(major: Major): Host {
	const directory = join(__dirname, '..', `n8n-${major}`);
	const modules = join(directory, 'node_modules');
	const script = join(modules, 'n8n', 'bin', 'n8n');
	if (major === '1') {
		// Its isolated-vm is not built (no install scripts), so expressions run in the older engine.
		const env = { N8N_EXPRESSION_ENGINE: 'legacy', N8N_RUNNERS_ENABLED: 'false' };
		return { directory, node: process.execPath, script, nativePackages: ['sqlite3'], env };
	}
	const node = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
	// Node.js keeps what it compiled: a quarter less work at each further start.
	const env = { NODE_COMPILE_CACHE: join(modules, '.cache', 'compiled') };
	return { directory, node, script, nativePackages: ['node', 'sqlite3'], env };
}

/** How long that took on 2 cores. */
export const installMinutes = '5 to 15 minutes';

/** What this project then takes, with its own packages and n8n 2. */
export const diskSpace = '3.5 GB';

/**
 * Makes sure that the pinned n8n of a major version is complete: its packages as the lock file beside it
 * says, without their install scripts, and the native parts built. Takes minutes the first time.
 *
 * @param progress tells how far it is, if anything has to be installed
 * @throws if npm fails, with what to do, and which file holds npm's words
 */
export async function installHost(major: Major, progress?: Progress): Promise<Host> {
	const host = hostOf(major);
	const stampFile = join(host.directory, 'node_modules', '.complete');
	const stamp = await stampOf(host.directory);
	const isInstalled = async () => (await readFile(stampFile, 'utf8').catch(() => '')) === stamp;
	if (await isInstalled()) return host;
	await withLock(`n8n-${major}`, async () => {
		if (await isInstalled()) return;
		const name = `Installing n8n ${major}.x (${installMinutes})`;
		if (progress === undefined) await install(host);
		else await progress.step(name, async (reach) => await install(host, reach));
		await writeFile(stampFile, stamp);
	});
	return host;
}

async function install(host: Host, reach: (what: string) => void = () => undefined): Promise<void> {
	const { directory, nativePackages } = host;
	const npm = async (args: string[], env = {}) => await runNpm(args, directory, env);
	try {
		reach('reaching the npm registry');
		// Without a network an installation would try for many minutes before it says so.
		await npm(['view', 'n8n', 'version', '--fetch-retries=0']);
		// Without --no-save npm adds to the lock file what it knows of other platforms.
		// The folder's .npmrc says the rest.
		const timer = setInterval(() => void progressIn(directory).then(reach), 5_000);
		await npm(['install', '--no-save']).finally(() => clearInterval(timer));
		reach('building SQLite, which takes minutes');
		await npm(['rebuild', ...nativePackages, '--ignore-scripts=false'], headersHere());
	} catch (error) {
		const logFile = join(directory, 'install.log');
		await writeFile(logFile, String(error));
		throw new Error(`${explain(String(error))}\nEverything that npm printed is in ${logFile}`);
	}
}

/**
 * Makes node-gyp take the headers that most installations of Node.js bring along, instead of downloading them from
 * nodejs.org. SQLite is built on Node-API, so what is built for this Node.js runs in n8n's newer one.
 */
function headersHere(): Record<string, string> {
	const prefix = dirname(dirname(realpathSync(process.execPath)));
	const isHere = existsSync(join(prefix, 'include', 'node', 'node_api.h'));
	return isHere ? { npm_config_nodedir: prefix } : {};
}

const lockSchema = z.object({ packages: z.record(z.unknown()) });

/** How far an installation is. npm asks about every package before it unpacks the first. */
async function progressIn(directory: string): Promise<string> {
	const lock = await readFile(join(directory, 'package-lock.json'), 'utf8');
	const { '': _root, ...packages } = lockSchema.parse(JSON.parse(lock)).packages;
	const paths = Object.keys(packages);
	const isHere = (path: string) => existsSync(join(directory, path, 'package.json'));
	const here = paths.filter(isHere).length;
	if (here === 0) return `asking npm about ${paths.length} packages`;
	return `downloading, ${here} of ${paths.length} packages`;
}

async function stampOf(directory: string): Promise<string> {
	const hash = createHash('sha256');
	for (const name of ['package.json', 'package-lock.json']) {
		hash.update(await readFile(join(directory, name)));
	}
	return hash.update(process.platform).update(process.arch).digest('hex');
}

const again = 'then run the same command again';
const installTools = `Install Python 3, make and a C++ compiler (Debian, Ubuntu: sudo apt-get install python3 make g++; macOS: xcode-select --install), ${again}.`;

/**
 * What npm prints when it fails, and what that means. The first that is found counts: a build that fails has met
 * the network before, looking for a ready-made binary.
 */
const reasons = [
	{ line: /^.*ENOSPC.*$/m, why: `the disk is full. All of this project takes ${diskSpace}.` },
	{
		line: /^.*(?:Could not find any Python|not found: g?make\b|make: \S+: (?:No such file|not found|Command not found)|No Xcode or CLT).*$/m,
		why: `SQLite has to be compiled here, and a program for that is missing. ${installTools}`,
	},
	{
		line: /^.*gyp http GET \S+headers\.tar\.gz.*$(?![^]*gyp http 200)/m,
		why: `SQLite has to be compiled here, and the headers of Node.js, which that takes, could not be downloaded. Check the network (and the proxy, if there is one), or use a Node.js that brings them along, as those from nodejs.org and nvm do; ${again}.`,
	},
	{
		line: /^.*gyp ERR! (?:stack Error|build error|configure error).*$/m,
		why: 'SQLite has to be compiled here, and the compiler stopped.',
	},
	{
		line: /^.*(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ECONNRESET).*$/m,
		why: `the npm registry was not reached. Check the network (and the proxy, if there is one), ${again}: it goes on where it stopped.`,
	},
];

/** Says in plain words why npm failed, as far as its output tells, and by which line of it. */
export function explain(output: string): string {
	for (const { line, why } of reasons) {
		const [said] = line.exec(output) ?? [];
		if (said !== undefined) return `n8n was not installed: ${why}\n${said.trim()}`;
	}
	return 'n8n was not installed: npm stopped.';
}
