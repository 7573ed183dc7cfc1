import { spawnSync } from 'node:child_process';
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';

const projectFolder = join(__dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'push-campaign-verify-'));
/** The package as npm packs it, unpacked. */
const packageFolder = join(scratch, 'package');

/** Runs a program to its end; throws with what it printed when it failed. */
function run(command: string, args: string[], { cwd = projectFolder, timeout = 180_000 } = {}) {
	// The rules find other things when NODE_ENV says that they are being tested.
	const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV|JEST_)/i.test(name));
	const { status, stdout, stderr, error } = spawnSync(command, args, {
		cwd,
		encoding: 'utf8',
		timeout,
		env: {
			...Object.fromEntries(own),
			// What is set up on this machine, or left in its temp folder, is none of the package's business.
			npm_config_userconfig: join(scratch, 'npmrc'),
			npm_config_update_notifier: 'false',
			TMPDIR: scratch,
		},
	});
	if (error === undefined && status === 0) return { stdout, stderr };
	throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`, {
		cause: error,
	});
}

/** What n8n allows a verified package to import, as far as this one does. */
const broughtByN8n = ['n8n-workflow', 'luxon', 'zod'];

const packReport = z.object({
	filename: z.string(),
	size: z.number(),
	files: z.array(z.object({ path: z.string() })),
});
const names = z.array(z.string());
const manifestSchema = z
	.object({ keywords: names, n8n: z.object({ nodes: names, credentials: names }).passthrough() })
	.passthrough();

/** What was packed, and what npm printed beside. */
let packed: { files: string[]; size: number; printed: string };
let manifest: z.infer<typeof manifestSchema>;

const readManifest = (folder: string) =>
	manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

beforeAll(() => {
	run('npm', ['run', 'build']);
	const options = ['--json', '--ignore-scripts', '--pack-destination', scratch];
	const { stdout, stderr } = run('npm', ['pack', ...options]);
	const [{ filename, size, files }] = z.tuple([packReport]).parse(JSON.parse(stdout));
	mkdirSync(packageFolder);
	const tarball = join(scratch, filename);
	run('tar', ['-xzf', tarball, '-C', packageFolder, '--strip-components=1']);
	packed = { files: files.map(({ path }) => path).sort(), size, printed: stderr };
	manifest = readManifest(packageFolder);
}, 600_000);

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the packed files', () => {
	test('are what is built from the sources, the manifest, the README and the licence', () => {
		const built = ['nodes', 'credentials'].flatMap((folder) =>
			readdirSync(join(projectFolder, folder), { recursive: true, withFileTypes: true })
				.filter((entry) => entry.isFile())
				.map(({ parentPath, name }) => join(parentPath, name).slice(projectFolder.length + 1))
				.map((path) => `dist/${path.replace(/\.ts$/, '.js')}`),
		);
		expect(packed.files).toEqual(['LICENSE', 'README.md', 'package.json', ...built].sort());
	});

	test('stay under 90 kB, and are packed without a warning', () => {
		expect(packed.size).toBeLessThan(90_000);
		expect(packed.printed).not.toMatch(/npm (warn|error)/i);
	});
});

describe('the manifest', () => {
	test('leaves nothing for npm to correct when it is published', () => {
		const folder = join(scratch, 'fixed');
		cpSync(packageFolder, folder, { recursive: true });
		run('npm', ['pkg', 'fix'], { cwd: folder });
		expect(readManifest(folder)).toEqual(manifest);
	});

	test('is marked as an n8n community package for n8n Cloud', () => {
		expect(manifest.keywords).toContain('n8n-community-node-package');
		expect(manifest.n8n).toMatchObject({ n8nNodesApiVersion: 1, strict: true });
		expect(manifest['peerDependencies']).toEqual({ 'n8n-workflow': '*' });
	});

	test('names files that export the class that n8n looks for, and load with what n8n brings alone', () => {
		const modules = join(scratch, 'node_modules');
		mkdirSync(modules);
		for (const name of broughtByN8n) {
			symlinkSync(join(projectFolder, 'node_modules', name), join(modules, name));
		}
		for (const path of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
			const module = JSON.stringify(join(packageFolder, path));
			const code = `console.log(JSON.stringify(Object.keys(require(${module}))))`;
			const exported = names.parse(JSON.parse(run(process.execPath, ['-e', code]).stdout));
			expect(exported).toContain(basename(path).split('.')[0]);
		}
	});
});

const lintReports = z.array(z.object({ files: z.number(), messages: names })).length(3);

test('n8n’s verification finds nothing in the package and its sources, and would find what it looks for', () => {
	const careless = join(scratch, 'careless');
	cpSync(packageFolder, careless, { recursive: true });
	writeFileSync(join(careless, 'dist/careless.js'), 'setTimeout(() => console.log(1));\n');
	const lints = [
		{ folder: packageFolder, patterns: ['**/*.js', 'package.json'] },
		{
			folder: projectFolder,
			patterns: ['package.json', '{nodes,credentials}/**/*.{js,ts,json}'],
		},
		{ folder: careless, patterns: ['**/*.js'] },
	];
	const script = join(__dirname, 'scan.mjs');
	const { stdout } = run(process.execPath, [script, JSON.stringify(lints)], { timeout: 600_000 });
	const found = lintReports.parse(JSON.parse(stdout)).map(({ files, messages }) => {
		expect(files).toBeGreaterThan(manifest.n8n.nodes.length);
		return messages.join('\n');
	});
	expect(found.slice(0, 2)).toEqual(['', '']);
	expect(found[2]).toContain('no-console');
	expect(found[2]).toContain('no-restricted-globals');
}, 600_000);
