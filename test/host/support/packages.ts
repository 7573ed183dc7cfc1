import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import { packagesFolder } from '../../../host';

const manifestSchema = z.object({ name: z.string(), version: z.string() }).passthrough();

/**
 * Makes a tarball with another version number out of a packed package.
 *
 * @param folder an existing folder that receives it
 * @returns its path
 */
export async function repack(tarball: string, version: string, folder: string): Promise<string> {
	const unpacked = join(folder, `unpacked-${version}`);
	await mkdir(unpacked);
	await execa('tar', ['-xzf', tarball, '-C', unpacked]);
	const file = join(unpacked, 'package', 'package.json');
	const manifest = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
	await writeFile(file, JSON.stringify({ ...manifest, version }, null, '\t'));
	const repacked = join(folder, `${manifest.name}-${version}.tgz`);
	await execa('tar', ['-czf', repacked, '-C', unpacked, 'package']);
	return repacked;
}

/** The name and version that a packed package gives itself. */
export async function identityOf(tarball: string): Promise<{ name: string; version: string }> {
	const { stdout } = await execa('tar', ['-xzOf', tarball, 'package/package.json']);
	return manifestSchema.parse(JSON.parse(stdout));
}

const installedSchema = z.object({ dependencies: z.record(z.string()) }).passthrough();

/** Uninstalls a community package of a server that is not running, as n8n's own installer does. */
export async function removeCommunityPackage(userFolder: string, name: string): Promise<void> {
	const folder = packagesFolder(userFolder);
	await rm(join(folder, 'node_modules', name), { recursive: true });
	const file = join(folder, 'package.json');
	const noted = installedSchema.parse(JSON.parse(await readFile(file, 'utf8')));
	const { [name]: _removed, ...dependencies } = noted.dependencies;
	await writeFile(file, JSON.stringify({ ...noted, dependencies }, null, 2));
}
