import { join } from 'node:path';

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
	const binary = process.platform === 'win32' ? 'node.exe' : 'node';
	const node = join(modules, 'node', 'bin', binary);
	// Node.js keeps what it compiled: a quarter less work at each further start. Node.js 20 has no such cache.
	const env = { NODE_COMPILE_CACHE: join(modules, '.cache', 'compiled') };
	return { directory, node, script, nativePackages: ['node', 'sqlite3'], env };
}
