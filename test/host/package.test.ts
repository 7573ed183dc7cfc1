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
import { basename, join, relative } from 'node:path';
import { z } from 'zod';
import { projectFolder } from '../../host';
import { tarball } from './support';

const modules = join(projectFolder, 'node_modules');
const scratch = mkdtempSync(join(tmpdir(), 'push-campaign-verify-'));
/** The package as npm packs it, unpacked. */
const packageFolder = join(scratch, 'package');

/** Runs a program to its end; throws with what it printed if it failed. */
function run(command: string, args: string[], cwd = projectFolder) {
	// n8n's rules find other things if NODE_ENV says that they are being tested.
	const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV|JEST_)/i.test(name));
	const env = { ...Object.fromEntries(own), npm_config_update_notifier: 'false' };
	const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
	if (status === 0) return { stdout, stderr };
	throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`);
}

/** The paths of all files in a folder and its folders. */
const filesIn = (folder: string) =>
	readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map(({ parentPath, name }) => join(parentPath, name));

const names = z.array(z.string());
const manifestSchema = z
	.object({ n8n: z.object({ nodes: names, credentials: names }) })
	.passthrough();

const readManifest = (folder: string) =>
	manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

beforeAll(async () => {
	mkdirSync(packageFolder);
	run('tar', ['-xzf', await tarball(), '-C', packageFolder, '--strip-components=1']);
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the packed package', () => {
	test('holds what is built from the sources, the manifest, the README and the license', () => {
		const built = ['nodes', 'credentials'].flatMap((folder) =>
			filesIn(join(projectFolder, folder)).map(
				(path) => `dist/${relative(projectFolder, path).replace(/\.ts$/, '.js')}`,
			),
		);
		const packed = filesIn(packageFolder).map((path) => relative(packageFolder, path));
		expect(packed.sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...built].sort());
	});

	test('is packed without a warning, not by npm pack alone, and without what was packed before', () => {
		const folder = join(scratch, 'source');
		mkdirSync(folder);
		for (const name of ['.npmrc', 'LICENSE', 'README.md', 'package.json']) {
			cpSync(join(projectFolder, name), join(folder, name));
		}
		cpSync(join(packageFolder, 'dist'), join(folder, 'dist'), { recursive: true });
		// What was built may be older than the last edit.
		expect(() => run('npm', ['pack'], folder)).toThrow('npm-run-package');
		const pack = () =>
			run('npm', ['pack', '--json', '--loglevel=warn', '--pack-destination', 'dist'], folder);
		const first = pack();
		expect(first.stderr).not.toMatch(/npm (warn|error)/i);
		expect(pack().stdout).toBe(first.stdout);
	});

	test('leaves nothing in package.json for npm to correct when it is published', () => {
		const folder = join(scratch, 'corrected');
		cpSync(packageFolder, folder, { recursive: true });
		run('npm', ['pkg', 'fix'], folder);
		expect(readManifest(folder)).toEqual(readManifest(packageFolder));
	});

	test('exports the class that n8n looks for from each file that package.json names', () => {
		const { n8n } = readManifest(packageFolder);
		symlinkSync(modules, join(scratch, 'node_modules'));
		const paths = [...n8n.nodes, ...n8n.credentials];
		const code = `
			const exported = process.argv.slice(1).flatMap((path) => Object.keys(require(path)));
			console.log(JSON.stringify(exported));`;
		const built = paths.map((path) => join(packageFolder, path));
		const { stdout } = run(process.execPath, ['-e', code, ...built]);
		expect(JSON.parse(stdout)).toEqual(paths.map((path) => basename(path).split('.')[0]));
	});
});

test("`n8n-node lint` takes the ESLint config for n8n's own in strict mode", () => {
	// In a folder of its own: it lints all that it finds, as if it were published.
	const folder = join(scratch, 'strict');
	mkdirSync(folder);
	for (const name of ['package.json', 'eslint.config.mjs']) {
		cpSync(join(projectFolder, name), join(folder, name));
	}
	symlinkSync(modules, join(folder, 'node_modules'));
	expect(run(process.execPath, [join(modules, '.bin/n8n-node'), 'lint'], folder)).toBeDefined();
});

describe("n8n's verification", () => {
	const code = `
		import { analyzePackage } from '@n8n/scan-community-package/scanner/scanner.mjs';
		const scan = async (folder) => await analyzePackage(folder, ['**/*.js', 'package.json']);
		console.log(JSON.stringify(await Promise.all(process.argv.slice(1).map(scan))));`;
	const scans = z.array(z.object({ passed: z.boolean(), details: z.string().default('') }));

	test('finds nothing in the packed package, and would find what is not allowed', () => {
		const careless = join(scratch, 'careless');
		mkdirSync(careless);
		writeFileSync(join(careless, 'index.js'), 'setTimeout(() => console.log(1));\n');
		// In a process of its own: n8n's rules do not work inside jest.
		const args = ['--input-type=module', '-e', code, packageFolder, careless];
		const [packed, found] = scans.parse(JSON.parse(run(process.execPath, args).stdout));
		expect(packed).toEqual({ passed: true, details: '' });
		expect(found?.details).toContain('no-restricted-globals');
		expect(found?.details).toContain('no-console');
	});
});
