import { readdirSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join, parse } from 'node:path';
import { answer } from './http';

const folder = join(__dirname, 'page');
const pathStart = '/page/';

const commonHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

// Titles and messages come from anywhere: the page runs nothing but its own script and loads
// nothing from elsewhere.
const htmlHeaders = {
	...commonHeaders,
	'content-type': 'text/html; charset=utf-8',
	'content-security-policy':
		"default-src 'none'; img-src data:; connect-src 'self'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'",
};

/** The page's style sheets and modules, by the path that asks for them. */
const parts = new Map(
	readdirSync(folder)
		.map((file) => ({ file, ...parse(file) }))
		.filter(({ ext }) => ext === '.css' || ext === '.ts')
		.map(({ file, name, ext }) => [pathStart + (ext === '.css' ? file : name), file]),
);

const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** A module as a browser runs it: without its types. */
async function scriptOf(file: string): Promise<string> {
	// It takes a while to load, and most simulators show no page.
	const { default: ts } = await import('typescript');
	const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
	return ts.transpileModule(read(file), { compilerOptions }).outputText;
}

/** Answers with the page that shows the campaigns. */
export function answerPage(response: ServerResponse): void {
	answer(response, 200, htmlHeaders, read('index.html'));
}

/** Whether a path is that of a part of the page. */
export const isPart = (path: string) => parts.has(path);

/** Answers with a style sheet or a module of the page. Throws a RangeError for another path. */
export async function answerPart(response: ServerResponse, path: string): Promise<void> {
	const file = parts.get(path);
	if (file === undefined) throw new RangeError(`The page has no ${path}`);
	const isStyle = file.endsWith('.css');
	const type = isStyle ? 'text/css' : 'text/javascript';
	const headers = { ...commonHeaders, 'content-type': `${type}; charset=utf-8` };
	answer(response, 200, headers, isStyle ? read(file) : await scriptOf(file));
}
