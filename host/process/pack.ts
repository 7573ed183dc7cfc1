import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactsFolder, projectFolder } from '../folders';
import { withLock } from './lock';
import { runNpm } from './run';

/**
 * Builds the package, and packs it with npm as it is published.
 *
 * @returns where the tarball is
 */
export async function packPackage(): Promise<{ tarball: string }> {
	const folder = join(artifactsFolder, 'package');
	const tarball = join(folder, 'packed.tgz');
	return await withLock('package', async () => {
		await mkdir(folder, { recursive: true });
		const made = await mkdtemp(join(folder, 'new-'));
		try {
			await runNpm(['run', 'build', '--silent'], projectFolder);
			await runNpm(['pack', '--ignore-scripts', '--pack-destination', made], projectFolder);
			const [name = ''] = await readdir(made);
			// Another command may be reading the one before.
			await rename(join(made, name), tarball);
			return { tarball };
		} finally {
			await rm(made, { recursive: true, force: true });
		}
	});
}
