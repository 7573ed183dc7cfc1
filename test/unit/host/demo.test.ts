import { demoWorkflows } from '../../../host/demo/prepare';
import { welcome } from '../../../host/demo/welcome';
import { explain } from '../../../host/n8n/install';

test('the welcome fits into a terminal and opens the first workflow', () => {
	const text = welcome({
		n8n: 'http://127.0.0.1:5678',
		service: 'http://127.0.0.1:8787',
		baseUrl: 'http://127.0.0.1:8787',
		timezone: 'Europe/Berlin',
		workflows: { [demoWorkflows.first]: 'first-id' },
		isLoginChanged: false,
	});
	expect(text).toContain('http://127.0.0.1:5678/workflow/first-id\n');
	expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
});

const gyp = 'npm error prebuild-install warn install getaddrinfo ENOTFOUND github.com\n';

test.each([
	['an unreachable registry', 'npm error code ENOTFOUND', /Check the network.*\nnpm error code/],
	[
		'Python that is missing',
		`${gyp}gyp ERR! stack Error: Could not find any Python`,
		/Python 3.*\ngyp ERR/,
	],
	['make that is missing', `${gyp}gyp ERR! stack Error: not found: make`, /Install Python 3, make/],
	[
		'a compiler that is missing',
		`${gyp}make: g++: No such file or directory`,
		/C\+\+.*\nmake: g\+\+/,
	],
	[
		'headers that were not downloaded',
		`${gyp}gyp http GET https://nodejs.org/node-v20-headers.tar.gz\ngyp ERR! configure error`,
		/headers of Node\.js.*\ngyp http GET/,
	],
	[
		'a compiler that stopped',
		`${gyp}gyp http GET https://nodejs.org/node-v20-headers.tar.gz\ngyp http 200\ngyp ERR! build error`,
		/the compiler stopped/,
	],
	['a full disk', 'npm error ENOSPC: no space left', /disk is full/],
	['anything else', 'npm error something', /npm stopped\.$/],
])('an installation that failed because of %s is explained', (_what, output, words) => {
	expect(explain(output)).toMatch(words);
});
