const { rm } = require('node:fs/promises');
const { Transform } = require('node:stream');
const { dest, parallel, src } = require('gulp');

const sources = ['nodes/**/*', 'credentials/**/*'];
const filesEndingIn = (endings) => sources.map((glob) => `${glob}.${endings}`);

/**
 * What the compiler writes and nobody needs is a fortieth of the package: four spaces in the place of a tab, and each
 * export without a value in front of its value, for modules that import each other. None here do.
 */
const toShort = (script) =>
	script.replace(/(?<=^ *) {4}/gm, '\t').replace(/^(?:exports\.\w+ = )+void 0;\n/gm, '');

const shorten = () =>
	new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			file.contents = Buffer.from(toShort(String(file.contents)));
			done(null, file);
		},
	});

const clean = () => rm('dist', { recursive: true, force: true });
const scripts = () => src('dist/**/*.js').pipe(shorten()).pipe(dest('dist'));
const icons = () =>
	src(filesEndingIn('{svg,png}'), { base: '.', encoding: false }).pipe(dest('dist'));
// Codex files and output schemas: n8n reads them beside the compiled nodes.
const json = () => src(filesEndingIn('json'), { base: '.' }).pipe(dest('dist'));

exports.clean = clean;
exports.assets = parallel(scripts, icons, json);
