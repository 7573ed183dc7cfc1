import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { z } from 'zod';

/** A published version of a package. */
export interface Publication {
	name: string;
	version: string;
	/** The path of its tarball. */
	tarball: string;
}

export interface Registry {
	url: string;
	/** Publishes a version; the latest that was published is the one that `latest` names. */
	publish(publication: Publication): Promise<void>;
	close(): Promise<void>;
}

const addressSchema = z.object({ port: z.number() });

/** A package registry on loopback: as much of npm's interface as `npm pack` and `npm view` use. */
export async function startRegistry(): Promise<Registry> {
	const published = new Map<string, { publication: Publication; bytes: Buffer }>();
	const server = createServer((request, response) => {
		const [name = '', file] = decodeURIComponent(request.url ?? '/')
			.slice(1)
			.split('/-/');
		const versions = [...published.values()].filter(({ publication }) => publication.name === name);
		const latest = versions.at(-1)?.publication.version;
		if (file !== undefined) {
			const found = versions.find(({ publication }) => file === fileName(publication));
			response.writeHead(found ? 200 : 404, { 'content-type': 'application/octet-stream' });
			response.end(found?.bytes);
			return;
		}
		response.writeHead(latest === undefined ? 404 : 200, { 'content-type': 'application/json' });
		const entries = versions.map(({ publication, bytes }): [string, unknown] => [
			publication.version,
			{
				name,
				version: publication.version,
				dist: {
					tarball: `${url()}/${name}/-/${fileName(publication)}`,
					integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
				},
			},
		]);
		response.end(
			JSON.stringify({
				name,
				'dist-tags': { latest },
				versions: Object.fromEntries<unknown>(entries),
			}),
		);
	});
	const url = () => `http://127.0.0.1:${addressSchema.parse(server.address()).port}`;
	await new Promise<void>((resolve, reject) => {
		server.once('error', reject).listen(0, '127.0.0.1', resolve);
	});
	return {
		url: url(),
		publish: async (publication) => {
			const bytes = await readFile(publication.tarball);
			published.set(`${publication.name}@${publication.version}`, { publication, bytes });
		},
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

const fileName = ({ name, version }: Publication): string =>
	`${name.split('/').at(-1) ?? name}-${version}.tgz`;
