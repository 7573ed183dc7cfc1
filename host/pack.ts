import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artifactsFolder, projectFolder } from './hosts';
import { withLock } from './lock';
import { NpmFailed, runNpm } from './npm';

const packedSchema = z.object({
	tarball: z.string(),
	/** The paths inside the package. */
	files: z.array(z.string()),
	/** Size of the tarball in bytes. */
	size: z.number(),
});

/** The package as it would be published. */
export type Packed = z.infer<typeof packedSchema>;

export interface PackOptions {
	/** The folder that receives the tarball, in a folder of its own for each content. */
	outDir?: string;
}

/**
 * Builds the package and packs it with npm, once for each state of its sources: later calls, also
 * from other processes, get the same tarball.
 *
 * @throws when the build or `npm pack` fails, with what they printed
 */
export async function packPackage({
	outDir = join(artifactsFolder, 'package'),
}: PackOptions = {}): Promise<Packed> {
	const folder = join(outDir, await contentHash());
	const note = join(folder, 'packed.json');
	return await withLock(outDir, async () => {
		const known = await readFile(note, 'utf8').catch(() => undefined);
		if (known !== undefined) return packedSchema.parse(JSON.parse(known));
		await mkdir(folder, { recursive: true });
		const packed = await buildAndPack(folder);
		// Written aside and renamed: a note that exists is whole.
		await writeFile(`${note}.new`, JSON.stringify(packed, null, '\t'));
		await rename(`${note}.new`, note);
		return packed;
	});
}

const npmPackSchema = z
	.array(
		z.object({
			filename: z.string(),
			size: z.number(),
			files: z.array(z.object({ path: z.string() })),
		}),
	)
	.length(1);

async function buildAndPack(folder: string): Promise<Packed> {
	try {
		await runNpm(['run', 'build', '--silent'], { cwd: projectFolder });
		const printed = await runNpm(
			['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
			{ cwd: projectFolder },
		);
		const [entry] = npmPackSchema.parse(JSON.parse(printed));
		if (entry === undefined) throw new Error('npm pack named no package');
		const { filename, size, files } = entry;
		return { tarball: join(folder, filename), files: files.map(({ path }) => path), size };
	} catch (error) {
		if (!(error instanceof NpmFailed)) throw error;
		throw new Error(`The package was not built: ${error.message}\n${error.output}`);
	}
}

async function contentHash(): Promise<string> {
	const hash = createHash('sha256');
	for (const path of await sources()) {
		hash
			.update(path)
			.update('\0')
			.update(await readFile(join(projectFolder, path)));
	}
	return hash.digest('hex').slice(0, 16);
}

async function sources(): Promise<string[]> {
	const single = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'gulpfile.js', 'LICENSE'];
	const found = await Promise.all(
		['nodes', 'credentials'].map(async (folder) => {
			const entries = await readdir(join(projectFolder, folder), {
				recursive: true,
				withFileTypes: true,
			});
			return entries
				.filter((entry) => entry.isFile())
				.map((entry) => join(entry.parentPath, entry.name).slice(projectFolder.length + 1));
		}),
	);
	const top = await readdir(projectFolder);
	return [...single, 'README.md'].filter((name) => top.includes(name)).concat(found.flat().sort());
}
