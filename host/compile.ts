import { copyFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';

// Compiles the package anew whenever one of its files changes. A process of its own: a compilation
// takes seconds in which whoever started it could not answer anything. Ends with its starter.

const orderSchema = z.object({
	/** The folder with `nodes`, `credentials` and `tsconfig.build.json`. */
	project: z.string(),
	/** The `dist` folder to bring up to date. */
	outDir: z.string(),
});

export type CompileOrder = z.infer<typeof orderSchema>;

export const compiledSchema = z.object({
	/** What the compiler says; empty where all is well. Nothing is written otherwise. */
	refusals: z.array(z.string()),
	/** How many files are new or other than before. */
	changed: z.number(),
});

/** What came of a compilation. */
export type Compiled = z.infer<typeof compiledSchema>;

/** TypeScript's "Found 1 error." and "Found … errors.", with which a compilation ends. */
const finished = [6193, 6194];

async function compile({ project, outDir }: CompileOrder): Promise<void> {
	// Not above: whoever reads the messages has no use for the compiler.
	const { default: ts } = await import('typescript');
	let compiled: Compiled = { refusals: [], changed: 0 };
	const report = () => {
		if (process.connected) process.send?.(compiled);
		compiled = { refusals: [], changed: 0 };
	};
	const files = {
		getCurrentDirectory: () => project,
		getCanonicalFileName: (name: string) => name,
		getNewLine: () => '\n',
	};
	const host = ts.createWatchCompilerHost(
		join(project, 'tsconfig.build.json'),
		{ outDir, noEmitOnError: true },
		{
			...ts.sys,
			writeFile: (path, data) => {
				if (ts.sys.readFile(path) === data) return;
				ts.sys.writeFile(path, data);
				compiled.changed += 1;
			},
		},
		ts.createEmitAndSemanticDiagnosticsBuilderProgram,
		(diagnostic) => compiled.refusals.push(ts.formatDiagnostic(diagnostic, files).trim()),
		({ code }) => {
			if (finished.includes(code)) report();
		},
	);
	ts.createWatchProgram(host);
	for (const folder of ['nodes', 'credentials']) {
		for (const file of ts.sys.readDirectory(join(project, folder), ['.svg', '.png', '.json'])) {
			ts.sys.watchFile?.(file, () => {
				copyFileSync(file, join(outDir, relative(project, file)));
				compiled.changed += 1;
				report();
			});
		}
	}
}

if (require.main === module) {
	// A Ctrl-C in the terminal is for the starter, with which this ends.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
	process.once('disconnect', () => process.exit());
	process.once('message', (message) => void compile(orderSchema.parse(message)));
}
