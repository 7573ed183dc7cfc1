import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactsFolder, projectFolder } from '../folders';
import { withLock } from './lock';
import { runNpm } from './run';

/** What the package is made of, and made with. */
const sources = [
	'nodes',
	'credentials',
	'package.json',
	'tsconfig.build.json',
	'gulpfile.js',
	'README.md',
];

/**
 * Packs the package with npm, as it is published. It is built only if a source changed since the last time.
 *
 * @returns where the tarball is
 */
export async function packPackage(): Promise<{ tarball: string }> {
	const folder = join(artifactsFolder, 'package');
	const tarball = join(folder, 'packed.tgz');
	return await withLock('package', async () => {
		const began = new Date();
		const packed = await stat(tarball).catch(() => undefined);
		if (packed !== undefined && packed.mtimeMs > (await lastEdit())) return { tarball };
		await mkdir(folder, { recursive: true });
		const made = await mkdtemp(join(folder, 'new-'));
		try {
			await runNpm(['run', 'build', '--silent'], projectFolder);
			await runNpm(['pack', '--ignore-scripts', '--pack-destination', made], projectFolder);
			const [name = ''] = await readdir(made);
			// What was edited meanwhile may not be in it.
			await utimes(join(made, name), began, began);
			await rename(join(made, name), tarball);
			return { tarball };
		} finally {
			await rm(made, { recursive: true, force: true });
		}
	});
}

/** When a source was last changed, added or removed, in milliseconds since 1970. */
export async function lastEdit(): Promise<number> {
	const listed = sources.map(async (source) => {
		const path = join(projectFolder, source);
		const inside = await readdir(path, { recursive: true }).catch(() => []);
		return [path, ...inside.map((name) => join(path, name))];
	});
	const times = (await Promise.all(listed)).flat().map(async (path) => {
		// A file that an editor is just replacing is there at the next look.
		return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
	});
	return Math.max(...(await Promise.all(times)));
}
