import { cp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectFolder } from '../folders';
import { packagesFolder } from '../n8n/server';
import { packageName } from '../n8n/workflows';
import { run } from '../process/run';

/** What is compiled. */
const sources = ['nodes', 'credentials'];

/** With these variables n8n loads a package again when its files change. */
export const reloadingEnv = { N8N_DEV_RELOAD: 'true' };

/**
 * Brings every edit of the package's sources into a running server, for as long as this process runs:
 * compiles them into the installed package. After an edit that does not compile, n8n keeps the version before.
 *
 * @param since edits after this moment are handled, in milliseconds since 1970
 * @param report gets a sentence about each edit
 */
export async function followEdits(
	userFolder: string,
	since: number,
	report: (words: string) => void,
): Promise<never> {
	const installed = join(packagesFolder(userFolder), 'node_modules', packageName, 'dist');
	for (let handled = since; ; await sleep(1_000, undefined, { ref: false })) {
		const edited = await lastEdit();
		if (edited <= handled) continue;
		handled = edited;
		try {
			await compile(installed);
			report('Your edit is in n8n.\n');
		} catch (error) {
			report(`Your edit is not in n8n, which goes on with the version before.\n${String(error)}\n`);
		}
	}
}

async function compile(outDir: string): Promise<void> {
	const compiler = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
	const options = ['-p', 'tsconfig.build.json', '--noEmitOnError', '--outDir', outDir];
	await run(process.execPath, [compiler, ...options], { cwd: projectFolder });
	const filter = (path: string) => !path.endsWith('.ts');
	for (const folder of sources) {
		await cp(join(projectFolder, folder), join(outDir, folder), { recursive: true, filter });
	}
}

/** When a source was last changed, added or removed, in milliseconds since 1970. */
async function lastEdit(): Promise<number> {
	const listed = sources.map(async (source) => {
		const folder = join(projectFolder, source);
		const inside = await readdir(folder, { recursive: true });
		return [folder, ...inside.map((name) => join(folder, name))];
	});
	const times = (await Promise.all(listed)).flat().map(async (path) => {
		// A file that an editor is just replacing is there at the next look.
		return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
	});
	return Math.max(...(await Promise.all(times)));
}
