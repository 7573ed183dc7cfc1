const { spawn } = require('node:child_process');
const { rm } = require('node:fs/promises');
const { dest, parallel, src } = require('gulp');

const sources = ['nodes/**/*', 'credentials/**/*'];
const filesEndingIn = (endings) => sources.map((glob) => `${glob}.${endings}`);

const clean = () => rm('dist', { recursive: true, force: true });
const icons = () =>
	src(filesEndingIn('{svg,png}'), { base: '.', encoding: false }).pipe(dest('dist'));
// Codex files and output schemas: n8n reads them beside the compiled nodes.
const json = () => src(filesEndingIn('json'), { base: '.' }).pipe(dest('dist'));

/**
 * `n8n-node lint`, which n8n asks of a package. Folders that are not published say so in an eslint.config.mjs of
 * their own. ESLint 9 reads these with this flag alone, ESLint 10 always.
 */
const lint = () =>
	spawn(process.execPath, ['node_modules/@n8n/node-cli/bin/n8n-node.mjs', 'lint'], {
		env: { ...process.env, ESLINT_FLAGS: 'unstable_config_lookup_from_file' },
		stdio: 'inherit',
	});

exports.clean = clean;
exports.assets = parallel(icons, json);
exports.lint = lint;
