import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { answerJson, serve, type LoopbackService } from './loopback';

/** A published version of a package. */
export interface Publication {
	name: string;
	version: string;
	/** The path of its tarball. */
	tarball: string;
}

export interface Registry extends LoopbackService {
	/** Publishes a version; the latest that was published is the one that `latest` names. */
	publish(publication: Publication): Promise<void>;
}

/** A package registry on loopback: as much of npm's interface as `npm pack` and `npm view` use. */
export async function startRegistry(): Promise<Registry> {
	const published = new Map<string, { publication: Publication; bytes: Buffer }>();
	const service = await serve((request, _body, response) => {
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
		const entries = versions.map(({ publication, bytes }): [string, unknown] => [
			publication.version,
			{
				name,
				version: publication.version,
				dist: {
					tarball: `http://${request.headers.host ?? ''}/${name}/-/${fileName(publication)}`,
					integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
				},
			},
		]);
		const versionsByName = Object.fromEntries<unknown>(entries);
		const found = { name, 'dist-tags': { latest }, versions: versionsByName };
		answerJson(response, found, latest === undefined ? 404 : 200);
	});
	return {
		...service,
		publish: async (publication) => {
			const bytes = await readFile(publication.tarball);
			published.set(`${publication.name}@${publication.version}`, { publication, bytes });
		},
	};
}

const fileName = ({ name, version }: Publication): string =>
	`${name.split('/').at(-1) ?? name}-${version}.tgz`;
