import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';

const manifestSchema = z.object({ name: z.string(), version: z.string() }).passthrough();
const installedSchema = z.object({ dependencies: z.record(z.string()).default({}) }).passthrough();

/** The folder under a user folder that n8n loads community packages from. */
export function packagesFolder(userFolder: string): string {
	return join(userFolder, '.n8n', 'nodes');
}

/**
 * Installs a packed tarball as a community package of a server that is not running, with the steps
 * that n8n's own installer takes for a package without scope and dependencies: unpack it, drop its
 * development and peer dependencies, note its version. A version that was there is replaced.
 */
export async function installCommunityPackage(userFolder: string, tarball: string): Promise<void> {
	const folder = packagesFolder(userFolder);
	const modules = join(folder, 'node_modules');
	await mkdir(modules, { recursive: true });
	const unpacked = await mkdtemp(join(modules, '.unpacked-'));
	await execa('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
	const manifestFile = join(unpacked, 'package.json');
	const manifest = manifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
	const kept = { ...manifest, devDependencies: undefined, peerDependencies: undefined };
	await writeFile(manifestFile, JSON.stringify(kept, null, 2));
	const target = join(modules, manifest.name);
	await rm(target, { recursive: true, force: true });
	await rename(unpacked, target);

	const notes = join(folder, 'package.json');
	const text = await readFile(notes, 'utf8').catch(() => '{ "name": "installed-nodes" }');
	const noted = installedSchema.parse(JSON.parse(text));
	const dependencies = { ...noted.dependencies, [manifest.name]: manifest.version };
	await writeFile(notes, JSON.stringify({ ...noted, dependencies, private: true }, null, 2));
}
