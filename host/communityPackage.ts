import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import { runNpm } from './npm';

const manifestSchema = z
	.object({
		name: z.string(),
		version: z.string(),
		dependencies: z.record(z.string()).optional(),
	})
	.passthrough();

const installedSchema = z.object({ dependencies: z.record(z.string()).default({}) }).passthrough();

/** The folder under a user folder that n8n loads community packages from. */
export function packagesFolder(userFolder: string): string {
	return join(userFolder, '.n8n', 'nodes');
}

/**
 * Installs a packed tarball as a community package of a server that is not running, with the steps
 * that n8n's own installer takes: unpack it, drop its development and peer dependencies, install the
 * others without scripts, note its version. A version that was there before is replaced.
 *
 * @returns the package's name and version
 */
export async function installCommunityPackage(
	userFolder: string,
	tarball: string,
): Promise<{ name: string; version: string }> {
	const folder = packagesFolder(userFolder);
	const modules = join(folder, 'node_modules');
	await mkdir(modules, { recursive: true });
	const unpacked = await mkdtemp(join(modules, '.unpacked-'));
	try {
		await execa('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
		const manifest = await readManifest(unpacked);
		const {
			devDependencies: _development,
			peerDependencies: _peer,
			optionalDependencies: _optional,
			...kept
		} = manifest;
		await writeFile(join(unpacked, 'package.json'), JSON.stringify(kept, null, 2));
		if (Object.keys(manifest.dependencies ?? {}).length > 0) {
			await runNpm(
				[
					'install',
					'--audit=false',
					'--fund=false',
					'--bin-links=false',
					'--install-strategy=shallow',
					'--ignore-scripts=true',
					'--package-lock=false',
				],
				{ cwd: unpacked },
			);
		}
		const target = join(modules, manifest.name);
		await rm(target, { recursive: true, force: true });
		await mkdir(dirname(target), { recursive: true });
		await rename(unpacked, target);
		await noteVersion(folder, manifest.name, manifest.version);
		return { name: manifest.name, version: manifest.version };
	} finally {
		await rm(unpacked, { recursive: true, force: true });
	}
}

async function readManifest(folder: string): Promise<z.infer<typeof manifestSchema>> {
	return manifestSchema.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
}

async function noteVersion(folder: string, name: string, version: string): Promise<void> {
	const file = join(folder, 'package.json');
	const text = await readFile(file, 'utf8').catch(() => undefined);
	const noted = installedSchema.parse(
		text === undefined ? { name: 'installed-nodes', private: true } : JSON.parse(text),
	);
	const dependencies = { ...noted.dependencies, [name]: version };
	await writeFile(file, JSON.stringify({ ...noted, dependencies }, null, 2));
}
