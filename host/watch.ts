import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { packagesFolder } from './communityPackage';
import { compiledSchema, type Compiled, type CompileOrder } from './compile';
import { projectFolder } from './hosts';
import type { N8nServer } from './server';
import { until } from './until';
import { packageName } from './workflows';

/** The variables by which n8n takes up a package again when its files change. */
export const reloadingEnv = { N8N_DEV_RELOAD: 'true' };

/** How long n8n takes from saying that it loads a package again to having done so, in milliseconds. */
const loadingMs = 1_000;

/** What became of an edit. One that is refused leaves n8n with the version before. */
export type Edit =
	| { kind: 'taken' }
	| { kind: 'refused'; reasons: string[] }
	| { kind: 'not-loaded'; reason: string };

export interface WatchOptions {
	/** A running server, started with `reloadingEnv`. */
	server: N8nServer;
	/** The folder with the package's sources. Left out: this project. */
	project?: string;
	/** Is told of each edit. */
	tell: (edit: Edit) => void;
}

/**
 * Brings every edit of the package's sources into a running server: compiles it into the installed
 * package, which n8n then loads again.
 *
 * @returns a function that ends the watching
 */
export function watchEdits({ server, project = projectFolder, tell }: WatchOptions): () => void {
	const compiler = fork(join(__dirname, 'compile.ts'), [], {
		execArgv: ['--import', pathToFileURL(require.resolve('tsx')).href],
	});
	const installed = join(packagesFolder(server.userFolder), 'node_modules', packageName);
	compiler.send({ project, outDir: join(installed, 'dist') } satisfies CompileOrder);
	const times = (what: string) =>
		server.log().split(`Hot reload ${what} for ${packageName}`).length;
	let loaded = times('triggered');
	let failed = times('failed');
	const load = async (): Promise<Edit> => {
		try {
			const late = () => 'it did not try to within half a minute';
			const again = (count: number) => count > loaded;
			await until(() => times('triggered'), again, { within: 30_000, late });
		} catch (error) {
			return { kind: 'not-loaded', reason: error instanceof Error ? error.message : String(error) };
		}
		await sleep(loadingMs);
		const failedBefore = failed;
		[loaded, failed] = [times('triggered'), times('failed')];
		if (failed === failedBefore) return { kind: 'taken' };
		return { kind: 'not-loaded', reason: `its log ${server.userFolder}/n8n.log says why` };
	};
	let isFirst = true;
	const heed = async ({ refusals, changed }: Compiled): Promise<void> => {
		if (refusals.length > 0) tell({ kind: 'refused', reasons: refusals });
		else if (changed > 0) tell(await load());
		// Another comment, or an edit taken back: n8n has what there is.
		else if (!isFirst) tell({ kind: 'taken' });
		isFirst = false;
	};
	let last = Promise.resolve();
	compiler.on('message', (message) => {
		last = last.then(() => heed(compiledSchema.parse(message)));
	});
	compiler.once('exit', () => {
		tell({
			kind: 'refused',
			reasons: ['The compiler has ended. Start again to have edits taken.'],
		});
	});
	return () => {
		compiler.removeAllListeners();
		if (compiler.connected) compiler.disconnect();
	};
}
