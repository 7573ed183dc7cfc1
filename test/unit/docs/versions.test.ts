import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const read = (path: string) => readFileSync(join(__dirname, '../../..', path), 'utf8');
const named = z.record(z.string());
const readManifest = (path: string) =>
	z
		.object({ dependencies: named.default({}), devDependencies: named.default({}) })
		.parse(JSON.parse(read(path)));
const lockFile = z.object({ packages: z.record(z.object({ version: z.string().optional() })) });

/** The version of a package that a pinned n8n brings, by its lock file. */
const versionIn = (host: string, name: string) =>
	lockFile.parse(JSON.parse(read(`host/${host}/package-lock.json`))).packages[
		`node_modules/${name}`
	]?.version;

const pinOf = (host: string) => readManifest(`host/${host}/package.json`).dependencies['n8n'] ?? '';
const [oldest, newest] = [pinOf('n8n-1'), pinOf('n8n-2')];
const { devDependencies } = readManifest('package.json');

/** Versions of n8n in full, such as 2.41.1. */
const versionsIn = (page: string) => [...new Set(read(page).match(/\b[12]\.\d{2,3}\.\d+\b/g))];

describe('the versions of n8n', () => {
	test('in README.md are those that host/ pins', () => {
		expect(versionsIn('README.md').sort()).toEqual([oldest, newest].sort());
		expect(read('README.md')).toContain(`on n8n ${oldest} and newer`);
	});

	test('in docs/reliability.md are those that host/ pins', () => {
		expect(versionsIn('docs/reliability.md').sort()).toEqual([oldest, newest].sort());
	});

	test('in docs/compatibility.md are those that host/ pins', () => {
		const page = 'docs/compatibility.md';
		expect(versionsIn(page).sort()).toEqual([oldest, newest].sort());
		expect(read(page)).toMatch(new RegExp(`\\| Version +\\| ${newest} +\\| ${oldest} +\\|`));
		expect(read(page)).toContain(`**The oldest n8n that passes is ${oldest}**`);
	});

	test.each(['n8n-core', 'n8n-workflow'])(
		'that the engine tests run are those of the newest pinned n8n: %s',
		(name) => {
			expect(devDependencies[name]).toBe(versionIn('n8n-2', name));
		},
	);

	test.each(['zod', 'luxon'])(
		'that the sources are checked with are the oldest ones: %s',
		(name) => {
			expect(devDependencies[name]).toBe(versionIn('n8n-1', name));
		},
	);
});

describe('the versions of Node.js', () => {
	test('in docs/compatibility.md are those that the pinned servers run on', () => {
		const [major] = (versionIn('n8n-2', 'node') ?? '').split('.');
		const [development] = read('.nvmrc').split('.');
		expect(read('docs/compatibility.md')).toMatch(
			new RegExp(`\\| Node.js that n8n runs on +\\| ${major} +\\| ${development} +\\|`),
		);
	});

	test('that the workflow tests are the oldest one that package.json allows, 22 and 24', () => {
		const { engines } = z
			.object({ engines: z.object({ node: z.string() }) })
			.parse(JSON.parse(read('package.json')));
		const floor = engines.node.replace('>=', '');
		expect(read('.github/workflows/ci.yml')).toContain(`node: ['${floor}', '22', '24']`);
	});
});
