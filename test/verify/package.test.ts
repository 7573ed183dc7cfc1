import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PackedPackage, projectFolder } from './packed';

const KILOBYTE = 1000;

let packed: PackedPackage;

beforeAll(() => {
	if (!existsSync(join(projectFolder, 'dist'))) throw new Error('Run `npm run build` first');
	packed = new PackedPackage();
});

afterAll(() => packed.remove());

const sourcesIn = (folder: string) =>
	readdirSync(join(projectFolder, folder), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath, entry.name).slice(projectFolder.length + 1));

describe('the packed files', () => {
	test('are what is built from the sources, the manifest, the README and the licence', () => {
		const built = [...sourcesIn('nodes'), ...sourcesIn('credentials')].map(
			(path) => `dist/${path.replace(/\.ts$/, '.js')}`,
		);
		expect(packed.files).toEqual(['LICENSE', 'README.md', 'package.json', ...built].sort());
	});

	test('hold no test, declaration, source map or source', () => {
		expect(packed.files.filter((path) => /test|\.d\.ts$|\.map$|\.ts$/.test(path))).toEqual([]);
	});

	test('stay under 60 kB', () => {
		expect(packed.size).toBeLessThan(60 * KILOBYTE);
	});

	test('are packed without a warning', () => {
		expect(packed.printed).not.toMatch(/npm (warn|error)/i);
	});
});

describe('the manifest', () => {
	test('asks for n8n-workflow alone', () => {
		expect(packed.manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
		for (const field of ['dependencies', 'optionalDependencies', 'bundleDependencies', 'overrides'])
			expect(packed.manifest).not.toHaveProperty(field);
	});

	test('leaves nothing for npm to correct when it is published', () => {
		expect(packed.manifestAsNpmWantsIt()).toEqual(packed.manifest);
	});

	test('is marked as an n8n community package for n8n Cloud', () => {
		expect(packed.manifest['keywords']).toContain('n8n-community-node-package');
		expect(packed.manifest.n8n).toMatchObject({ n8nNodesApiVersion: 1, strict: true });
	});

	test('names files that are there and export the class that n8n looks for', () => {
		const { nodes, credentials } = packed.manifest.n8n;
		for (const path of [...nodes, ...credentials]) {
			expect(packed.files).toContain(path);
			expect(packed.exportsOf(path)).toContain(basename(path).split('.')[0]);
		}
	});

	test('names nodes that have a codex file beside them', () => {
		for (const path of packed.manifest.n8n.nodes)
			expect(packed.files).toContain(path.replace(/\.js$/, '.json'));
	});

	test('names nodes and credentials whose icons are there', () => {
		const { nodes, credentials } = packed.manifest.n8n;
		for (const path of [...nodes, ...credentials]) {
			const text = readFileSync(join(packed.folder, path), 'utf8');
			const icons = [...text.matchAll(/'file:([^']+)'/g)].map(([, file = '']) => file);
			expect(icons.length).toBeGreaterThanOrEqual(2);
			for (const file of icons) expect(packed.files).toContain(join(dirname(path), file));
		}
	});
});

describe("n8n's verification", () => {
	let inPackage: string[][] = [];
	let inSources: string[][] = [];
	let inCareless: string[][] = [];

	beforeAll(() => {
		const careless = 'setTimeout(() => console.log(1));\n';
		const found = packed.scan([
			{ folder: packed.folder, patterns: ['**/*.js', 'package.json'] },
			{
				folder: projectFolder,
				patterns: ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'],
			},
			{ folder: packed.copyWith('dist/careless.js', careless), patterns: ['**/*.js'] },
		]);
		[inPackage = [], inSources = [], inCareless = []] = found.map(({ scanner, newest }) => {
			expect(scanner.files).toBeGreaterThan(packed.manifest.n8n.nodes.length);
			return [scanner.messages, newest.messages];
		});
	}, 180_000);

	test('finds nothing in the packed files', () => {
		expect(inPackage).toEqual([[], []]);
	});

	test('finds nothing in the sources', () => {
		expect(inSources).toEqual([[], []]);
	});

	test('would find what it looks for', () => {
		expect(inCareless).toHaveLength(2);
		for (const messages of inCareless) {
			expect(messages.join('\n')).toContain('no-console');
			expect(messages.join('\n')).toContain('no-restricted-globals');
		}
	});
});
