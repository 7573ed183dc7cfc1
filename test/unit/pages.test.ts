import { spawnSync } from 'node:child_process';
import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { DateTime } from 'luxon';
import { z } from 'zod';

const project = join(__dirname, '../..');
const read = (path: string) => readFileSync(join(project, path), 'utf8');

const pages = ['.', 'docs', 'examples', 'simulator'].flatMap((folder) =>
	readdirSync(join(project, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => join(folder, name)),
);

/** The anchors that GitHub and npm give the headings of a page. */
function anchorsOf(page: string): string[] {
	const text = read(page).replace(/^```.*?^```/gms, '');
	return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
		heading
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.trim()
			.replace(/\s/g, '-'),
	);
}

/** The links of a page that stay in this project: Markdown's own, and those of pictures. */
const linksOf = (page: string) =>
	[...read(page).matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
		.map(([, link, source]) => link ?? source ?? '')
		.filter((link) => !/^[a-z]+:/.test(link));

test.each(pages)('%s links to what is there', (page) => {
	const broken = linksOf(page).filter((link) => {
		const [path = '', anchor] = link.split('#');
		const target = path === '' ? page : join(dirname(page), path);
		if (statSync(join(project, target), { throwIfNoEntry: false }) === undefined) return true;
		return anchor !== undefined && !anchorsOf(target).includes(anchor);
	});
	expect(broken).toEqual([]);
});

test("n8n's editor links to chapters that README.md has", () => {
	const sources = [
		'credentials/PushCampaignApi.credentials.ts',
		'nodes/PushCampaign/PushCampaign.node.json',
		'nodes/PushCampaign/PushCampaignTrigger.node.json',
	];
	const anchors = sources.flatMap((source) =>
		[...read(source).matchAll(/https:\/\/[^'"\s]+#([\w-]+)/g)].map(([, anchor]) => anchor),
	);
	expect(anchors).toHaveLength(5);
	expect(anchorsOf('README.md')).toEqual(expect.arrayContaining(anchors));
});

// A new run begins from the beginning, and n8n's own Retry is the way on; the others silence or repeat the next run.
test('no page and no example tells anybody to run a workflow again, or what silences or repeats its next run', () => {
	const examples = readdirSync(join(project, 'examples')).filter((name) => name.endsWith('.json'));
	const advice =
		/\brun (?:it|them|(?:the|this|your) workflow) (?:again|once more|as often|with)|\bitems alone|\bdeactivate|execute ?once|remove duplicates|remov(?:e|ing) [_*']*send at|another ID/i;
	const all = [...pages, ...examples.map((name) => join('examples', name))];
	expect(all.filter((page) => advice.test(read(page)))).toEqual([]);
});

/** The blocks of code of a page, in a language. */
const blocksOf = (page: string, language: string) =>
	[...read(page).matchAll(/^ *```(\w+)\n([^]*?)^ *```/gm)].flatMap(([, of, code = '']) =>
		of === language ? [code.trim()] : [],
	);

const jsonSchema = z.object({ properties: z.record(z.unknown()) });
const fieldsOf = (schema: string) => {
	const path = `nodes/PushCampaign/__schema__/${schema}.json`;
	return Object.keys(jsonSchema.parse(JSON.parse(read(path))).properties);
};

const isOfSite = (name: string) => /Subscribers(By)?$/.test(name);

test("the reference's tables have a column for each field of a trigger's events, in their order, and a row for their types", () => {
	const all = fieldsOf('v1.0.0');
	const both = ['firstSeen', 'observedAt'];
	const tables = [
		all.filter((name) => !isOfSite(name)),
		all.filter((name) => isOfSite(name) || both.includes(name)),
	];
	const pages = blocksOf('docs/reference.md', 'csv').map((table) => table.split('\n'));
	expect(pages.map(([header = '']) => header.split(','))).toEqual(tables);
	const types = pages.map((lines) => lines.slice(1).map((line) => line.split(',').length));
	expect(types).toEqual(tables.map(({ length }) => [length]));
});

test("the reference's items have the fields that the output schemas have, in their order", () => {
	const items = blocksOf('docs/reference.md', 'json').map((code) =>
		Object.keys(z.record(z.unknown()).parse(JSON.parse(code))),
	);
	const schemas = ['v1.0.0/campaign/sendToAttributes', 'v1.0.0/campaign/getStatus', 'v1.0.0'];
	const fields = schemas.map(fieldsOf);
	const known = items.filter((names) => !names.includes('outcome'));
	expect(known).toEqual(
		fields.map((names, place) => names.filter((name) => known[place]?.includes(name))),
	);
});

test("the reference's expressions read the dates beside them", () => {
	const rows = [
		...read('docs/reference.md').matchAll(
			/^\| (`\d.*?) +\| `\{\{ DateTime\.fromFormat\(\$json\.when, '(.*?)'(.*) \}\}` +\|$/gm,
		),
	];
	const moments = rows.map(([, dates = '', format = '', rest = '']) => {
		const zone = /zone: '(.*?)'/.exec(rest)?.[1] ?? 'UTC';
		const hour = /hour: (\d+)/.exec(rest)?.[1];
		return [...dates.matchAll(/`(.*?)`/g)].map(([, date = '']) => {
			const moment = DateTime.fromFormat(date, format, { zone });
			const at = hour === undefined ? moment : moment.set({ hour: Number(hour) });
			return at.toFormat('yyyy-MM-dd HH:mm ZZ');
		});
	});
	expect(moments).toEqual([
		['2026-12-01 09:00 +00:00', '2026-12-24 09:00 +00:00'],
		['2026-12-01 09:00 +00:00', '2026-12-24 09:00 +00:00'],
		['2026-12-24 21:00 +00:00'],
		['2026-12-24 09:00 +05:30'],
		['2026-12-24 09:00 +00:00'],
	]);
});

/** A file of each room that docs/architecture.md draws. */
const rooms: Record<string, string> = {
	action: 'nodes/PushCampaign/PushCampaign.node',
	triggerNode: 'nodes/PushCampaign/PushCampaignTrigger.node',
	credentials: 'credentials/PushCampaignApi.credentials',
	...Object.fromEntries(
		readdirSync(join(project, 'nodes/PushCampaign'), { withFileTypes: true })
			.filter((entry) => entry.isDirectory() && !entry.name.startsWith('__'))
			.map(({ name }) => [name, `nodes/PushCampaign/${name}/file`]),
	),
};

/** Lints an import from every room to every other one. @returns `a --> b` for those that pass */
function importsThatPass(): string[] {
	const folder = mkdtempSync(join(tmpdir(), 'push-campaign-arrows-'));
	try {
		// Types are not read here: the files are not there.
		const config = read('.oxlintrc.json').replace(/("type(?:Aware|Check)"): true/g, '$1: false');
		writeFileSync(join(folder, '.oxlintrc.json'), config);
		const arrows = Object.entries(rooms).flatMap(([from, file]) => {
			const others = Object.entries(rooms).filter(([to]) => to !== from);
			const imports = others.map(([, other]) => {
				const path = relative(dirname(file), other);
				return `import '${path.startsWith('.') ? path : `./${path}`}';`;
			});
			mkdirSync(join(folder, dirname(file)), { recursive: true });
			writeFileSync(join(folder, `${file}.ts`), imports.join('\n'));
			return others.map(([to], index) => ({
				arrow: `${from} --> ${to}`,
				line: `${file}.ts:${index + 1}:`,
			}));
		});
		const oxlint = join(project, 'node_modules/.bin/oxlint');
		const { stdout } = spawnSync(oxlint, ['--format', 'unix'], { cwd: folder, encoding: 'utf8' });
		// These imports make circles, too, and so other rules speak of them.
		const refused = stdout.split('\n').filter((text) => text.includes('no-restricted-imports'));
		return arrows
			.filter(({ line }) => !refused.some((text) => text.startsWith(line)))
			.map(({ arrow }) => arrow);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

test('the linter lets those imports pass that docs/architecture.md draws, and no others', () => {
	const drawn = read('docs/architecture.md')
		.split('\n')
		.filter((line) => line.includes(' --> '))
		.map((line) => line.trim().replace(/\[.*?\]/g, ''));
	expect(drawn).not.toEqual([]);
	expect(importsThatPass().sort()).toEqual(drawn.sort());
});

const dependencies = z.record(z.string());
const manifest = z.object({
	dependencies: dependencies.default({}),
	devDependencies: dependencies.default({}),
});
const pinned = (path: string) => manifest.parse(JSON.parse(read(join(path, 'package.json'))));

test('README.md names the versions of n8n that are tested', () => {
	const versions = ['host/n8n-2', 'host/n8n-1'].map((path) => pinned(path).dependencies['n8n']);
	expect([...new Set(read('README.md').match(/\b[12]\.\d{2,3}\.\d+\b/g))]).toEqual(versions);
});

test("the engine tests run the same version of n8n's engine as the real server", () => {
	const lock = z.object({ packages: z.record(z.object({ version: z.string().optional() })) });
	const { packages } = lock.parse(JSON.parse(read('host/n8n-2/package-lock.json')));
	const { devDependencies } = pinned('.');
	for (const name of ['n8n-core', 'n8n-workflow']) {
		expect(devDependencies[name]).toBe(packages[`node_modules/${name}`]?.version);
	}
});
