const { rm } = require('node:fs/promises');
const { dest, parallel, src } = require('gulp');

const sources = ['nodes/**/*', 'credentials/**/*'];
const filesEndingIn = (endings) => sources.map((glob) => `${glob}.${endings}`);

const clean = () => rm('dist', { recursive: true, force: true });
const icons = () =>
	src(filesEndingIn('{svg,png}'), { base: '.', encoding: false }).pipe(dest('dist'));
const codex = () => src(filesEndingIn('node.json'), { base: '.' }).pipe(dest('dist'));

exports.clean = clean;
exports.assets = parallel(icons, codex);
