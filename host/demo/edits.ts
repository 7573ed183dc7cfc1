import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectFolder } from '../folders';
import { packagesFolder } from '../n8n/server';
import { packageName } from '../n8n/workflows';
import { lastEdit } from '../process/pack';
import { run } from '../process/run';

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
	for (const folder of ['nodes', 'credentials']) {
		await cp(join(projectFolder, folder), join(outDir, folder), { recursive: true, filter });
	}
}
