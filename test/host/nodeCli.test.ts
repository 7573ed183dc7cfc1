import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import execa from 'execa';
import { artifactsFolder, projectFolder } from '../../host';
import { tarballVariable } from './support/stage';

// `npm run build` makes the package; `n8n-node build` is what n8n's documentation tells authors to use.

/** Inside of the project, so that what the tool needs is found there. */
const folder = join(artifactsFolder, 'n8n-node');

const filesIn = (dist: string): string[] =>
	readdirSync(dist, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => relative(dist, join(parentPath, name)))
		.sort();

/** n8n's tool lets the compiler copy the codex files, which indents them in another way. */
const contentOf = (file: string): unknown => {
	const text = readFileSync(file, 'utf8');
	return file.endsWith('.json') ? JSON.parse(text) : text;
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('`n8n-node build` makes the same files as `npm run build`', async () => {
	rmSync(folder, { recursive: true, force: true });
	for (const name of ['package.json', 'nodes', 'credentials']) {
		cpSync(join(projectFolder, name), join(folder, name), { recursive: true });
	}
	const tsconfig = {
		extends: '../../tsconfig.build.json',
		compilerOptions: { outDir: 'dist', rootDir: '.', resolveJsonModule: true },
		include: ['nodes/**/*.ts', 'nodes/**/*.node.json', 'credentials/**/*.ts'],
	};
	writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
	const tool = join(projectFolder, 'node_modules/@n8n/node-cli/bin/n8n-node.mjs');
	await execa(process.execPath, [tool, 'build'], { cwd: folder });
	const packed = join(folder, 'packed');
	mkdirSync(packed);
	await execa('tar', ['-xzf', process.env[tarballVariable] ?? '', '-C', packed]);
	const [own, built] = [join(packed, 'package/dist'), join(folder, 'dist')];
	expect(filesIn(own)).not.toHaveLength(0);
	expect(filesIn(built)).toEqual(filesIn(own));
	for (const file of filesIn(own)) {
		expect(contentOf(join(built, file))).toEqual(contentOf(join(own, file)));
	}
});
