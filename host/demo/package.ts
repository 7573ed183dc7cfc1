import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactsFolder, projectFolder } from '../folders';
import { packPackage } from '../process/pack';

/** Everything that the packed package is made of, and made with. */
const sources = [
	'nodes',
	'credentials',
	'package.json',
	'package-lock.json',
	'gulpfile.js',
	'tsconfig.json',
	'tsconfig.build.json',
	'README.md',
	'LICENSE',
];

/**
 * The packed package. It is built only if its sources have changed since the last time, because a
 * build takes longer than anything else that a restart does before n8n.
 *
 * @returns the path of the tarball
 */
export async function packChanged(): Promise<string> {
	const note = join(artifactsFolder, 'package', `sources-${await hashOfSources()}.txt`);
	const known = await readFile(note, 'utf8').catch(() => '');
	if (known !== '' && existsSync(known)) return known;
	const { tarball } = await packPackage();
	await writeFile(note, tarball);
	return tarball;
}

async function hashOfSources(): Promise<string> {
	const hash = createHash('sha256');
	for (const source of sources) {
		for (const file of await filesOf(join(projectFolder, source))) {
			hash.update(file).update(await readFile(file));
		}
	}
	return hash.digest('hex').slice(0, 16);
}

/** The files of a folder in a fixed order; a file is its own. */
async function filesOf(path: string): Promise<string[]> {
	const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => null);
	if (entries === null) return [path];
	const files = entries.filter((entry) => entry.isFile());
	return files.map((file) => join(file.parentPath, file.name)).sort();
}
