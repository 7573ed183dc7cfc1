import { cp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import execa from 'execa';
import { projectFolder } from '../folders';
import { packagesFolder } from '../n8n/communityPackage';
import type { N8nServer } from '../n8n/server';
import { packageName } from '../n8n/workflows';

/** With these variables n8n loads a package again when its files change. */
export const reloadingEnv = { N8N_DEV_RELOAD: 'true' };

const folders = ['nodes', 'credentials'];
const checkEveryMs = 1_000;
const mostReasons = 5;

export interface WatchOptions {
	/** A running server, started with `reloadingEnv`. */
	server: N8nServer;
	/** The folder with the package's sources. Left out: this project. */
	project?: string;
	/** Edits after this moment are handled, epoch milliseconds. */
	since: number;
	/** How long n8n may take from saying that it loads a package again to having done so, milliseconds. */
	loadingMs?: number;
	/** Called with a sentence about each edit. */
	report: (words: string) => void;
}

/**
 * Brings every edit of the package's sources into a running server: compiles it into the installed
 * package, which n8n then loads again. After an edit that does not compile, n8n keeps the version before.
 *
 * @returns a function that ends the watching
 */
export function watchEdits(options: WatchOptions): () => void {
	const { server, project = projectFolder, since, loadingMs = 2_000, report } = options;
	const installed = join(packagesFolder(server.userFolder), 'node_modules', packageName, 'dist');
	let watching = true;
	const watch = async () => {
		for (let handled = since; watching; await sleep(checkEveryMs)) {
			const last = await lastEdit(project);
			if (last <= handled) continue;
			handled = last;
			const words = await update(server, project, installed, loadingMs);
			const time = new Date().toTimeString().slice(0, 8);
			if (watching) report(`${time}  ${words}\n`);
		}
	};
	void watch().catch((error: unknown) => report(`Edits are no longer handled: ${String(error)}\n`));
	return () => {
		watching = false;
	};
}

/** When a source was last changed, added or removed, epoch milliseconds. */
async function lastEdit(project: string): Promise<number> {
	const listed = folders.map(async (folder) => {
		const names = await readdir(join(project, folder), { recursive: true });
		return ['.', ...names].map((name) => join(project, folder, name));
	});
	const times = (await Promise.all(listed)).flat().map(async (path) => {
		// A file that an editor is just replacing is there at the next check.
		return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
	});
	return Math.max(...(await Promise.all(times)));
}

/** Brings the sources into n8n; gives a sentence about the result. */
async function update(
	server: N8nServer,
	project: string,
	installed: string,
	loadingMs: number,
): Promise<string> {
	const last = (what: string) => server.log().lastIndexOf(`Hot reload ${what} for ${packageName}`);
	const before = last('triggered');
	const reasons = await compile(project, installed);
	if (reasons.length > 0) {
		// Most follow from the first.
		const lines = reasons.slice(0, mostReasons).map((reason) => `\n  ${reason}`);
		return `Your edit is not in n8n, which goes on with the version before:${lines.join('')}`;
	}
	const deadline = Date.now() + 30_000;
	while (last('triggered') === before) {
		if (Date.now() > deadline) return 'Your edit compiles, but n8n has not tried to load it.';
		await sleep(100);
	}
	// n8n may begin to load while files are still being written, fail, and load again.
	let tried: number;
	do {
		tried = last('triggered');
		await sleep(loadingMs);
	} while (last('triggered') > tried);
	return last('failed') < tried
		? 'Your edit is in n8n.'
		: `Your edit compiles, but n8n has not loaded it: its log ${server.userFolder}/n8n.log says why.`;
}

/** Compiles the sources, writes nothing if that fails, and gives the compiler's complaints. */
async function compile(project: string, outDir: string): Promise<string[]> {
	const compiler = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
	const options = ['-p', 'tsconfig.build.json', '--noEmitOnError', '--pretty', 'false'];
	const { failed, all = '' } = await execa(
		process.execPath,
		[compiler, ...options, '--outDir', outDir],
		{ cwd: project, all: true, reject: false },
	);
	if (failed) return all.split('\n');
	const filter = (path: string) => !path.endsWith('.ts');
	for (const folder of folders) {
		await cp(join(project, folder), join(outDir, folder), { recursive: true, filter });
	}
	return [];
}
