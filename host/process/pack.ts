import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artifactsFolder, projectFolder } from '../folders';
import { withLock } from './lock';
import { runNpm } from './npm';

/**
 * Builds the package and packs it with npm, as it would be published. The tarball is named by its
 * content, so whoever packs the same meanwhile takes nothing away.
 *
 * @returns where it is
 * @throws when the build or `npm pack` fails, with what they printed
 */
export async function packPackage(): Promise<{ tarball: string }> {
	const outDir = join(artifactsFolder, 'package');
	return await withLock('package', async () => {
		await mkdir(outDir, { recursive: true });
		const folder = await mkdtemp(join(outDir, 'new-'));
		try {
			await runNpm(['run', 'build', '--silent'], projectFolder);
			const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
			const report = z.tuple([z.object({ filename: z.string() })]);
			const [{ filename }] = report.parse(JSON.parse(await runNpm(args, projectFolder)));
			const packed = join(folder, filename);
			const hash = createHash('sha256').update(await readFile(packed));
			const tarball = join(outDir, `${hash.digest('hex').slice(0, 16)}.tgz`);
			await rename(packed, tarball);
			return { tarball };
		} finally {
			await rm(folder, { recursive: true, force: true });
		}
	});
}
