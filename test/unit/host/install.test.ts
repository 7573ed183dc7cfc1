import { explain, holdsAllOf } from '../../../host/install';

const lock = (packages: Record<string, { version?: string; optional?: boolean }>) => ({ packages });

describe('holdsAllOf', () => {
	const wanted = lock({
		'': {},
		'node_modules/a': { version: '1.0.0' },
		'node_modules/b-for-another-platform': { version: '2.0.0', optional: true },
	});

	test('every package in its version; optional ones may be absent', () => {
		expect(holdsAllOf(wanted, lock({ 'node_modules/a': { version: '1.0.0' } }))).toBe(true);
	});

	test('a package is missing', () => {
		expect(holdsAllOf(wanted, lock({}))).toBe(false);
	});

	test('a package is there in another version', () => {
		expect(holdsAllOf(wanted, lock({ 'node_modules/a': { version: '1.0.1' } }))).toBe(false);
	});
});

describe('explain', () => {
	test('no network: what to check, whatever else is missing', () => {
		const output = 'npm error code ENOTFOUND\nnpm error network request failed';
		expect(explain(output, ['make'])).toMatch(/registry was not reached\. Check the network/);
	});

	test('no compiler: which tools, and how to get them', () => {
		const message = explain('gyp ERR! build error', ['python3', 'g++']);
		expect(message).toMatch(/python3, g\+\+ are missing/);
		expect(message).toMatch(/apt-get install python3 make g\+\+/);
		expect(message).toMatch(/xcode-select --install/);
	});

	test('no compiler, met after a look for a ready-made binary: the compiler is what is missing', () => {
		const output = 'prebuild-install warn ECONNRESET\ngyp ERR! build error';
		expect(explain(output, ['g++'])).toMatch(/g\+\+ is missing/);
	});

	test('one tool is missing', () => {
		expect(explain('gyp ERR! build error', ['make'])).toMatch(/make is missing/);
	});

	test('disk full', () => {
		expect(explain('npm error ENOSPC: no space left on device', [])).toMatch(/disk is full/);
	});

	test('anything else says no more than it knows', () => {
		expect(explain('npm error something', [])).toBe('n8n was not installed: npm stopped.');
	});
});
