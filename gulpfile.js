const { rm } = require('node:fs/promises');
const { Transform } = require('node:stream');
const { dest, parallel, src } = require('gulp');

const sources = ['nodes/**/*', 'credentials/**/*'];
const filesEndingIn = (endings) => sources.map((glob) => `${glob}.${endings}`);

/** The compiler indents by four spaces, which are a hundredth of the package: tabs, as in the sources. */
const withTabs = () =>
	new Transform({
		objectMode: true,
		transform(file, _encoding, done) {
			const script = String(file.contents);
			file.contents = Buffer.from(script.replace(/(?<=^ *) {4}/gm, '\t'));
			done(null, file);
		},
	});

const clean = () => rm('dist', { recursive: true, force: true });
const scripts = () => src('dist/**/*.js').pipe(withTabs()).pipe(dest('dist'));
const icons = () =>
	src(filesEndingIn('{svg,png}'), { base: '.', encoding: false }).pipe(dest('dist'));
// Codex files and output schemas: n8n reads them beside the compiled nodes.
const json = () => src(filesEndingIn('json'), { base: '.' }).pipe(dest('dist'));

exports.clean = clean;
exports.assets = parallel(scripts, icons, json);
