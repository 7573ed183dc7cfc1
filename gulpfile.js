const { rm } = require('node:fs/promises');
const { dest, parallel, src } = require('gulp');

const sources = ['nodes/**/*', 'credentials/**/*'];
const filesEndingIn = (endings) => sources.map((glob) => `${glob}.${endings}`);

const clean = () => rm('dist', { recursive: true, force: true });
const icons = () =>
	src(filesEndingIn('{svg,png}'), { base: '.', encoding: false }).pipe(dest('dist'));
// Codex files and output schemas: n8n reads them beside the compiled nodes.
const json = () => src(filesEndingIn('json'), { base: '.' }).pipe(dest('dist'));

exports.clean = clean;
exports.assets = parallel(icons, json);
