import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { diskSpace, installMinutes } from '../../host/n8n/install';
import { policy } from '../../nodes/PushCampaign/delivery/queue';
import { defaultTimeoutMs } from '../../nodes/PushCampaign/operations/options';
import { maxCharacters, minimumLeadMs } from '../../nodes/PushCampaign/service/rules';
import { triggerProperties } from '../../nodes/PushCampaign/trigger/events';

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
	const schemas = ['v1.0.0/campaign/sendToAttributes', 'v1.0.0/campaign/getStatus'];
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

/** What there is in this project, but for what is installed and built. */
const files = [
	...readdirSync(project),
	...['nodes', 'credentials', 'simulator', 'test'].flatMap((folder) =>
		readdirSync(join(project, folder), { encoding: 'utf8', recursive: true }).map((name) =>
			join(folder, name),
		),
	),
];

/** `once.ts`, `test/engine/keys.test.ts`, `send/`: the end of a path is enough. */
const filesNamedOn = (page: string) =>
	[...read(page).matchAll(/`((?:[\w.-]+\/)*[\w.-]+(?:\.ts|\.md|\/))`/g)].map(
		([, name = '']) => name,
	);

test.each(pages)('%s names only files and folders that exist', (page) => {
	const exists = (name: string) => files.some((file) => `/${file}/`.endsWith(`/${name}/`));
	const missing = filesNamedOn(page).filter((name) => !exists(name.replace(/\/$/, '')));
	expect(missing).toEqual([]);
});

/** The row of a table that begins with a cell. */
const rowOf = (page: string, first: string) =>
	read(page)
		.split('\n')
		.find((line) => line.startsWith(`| ${first} `)) ?? '';

test("the reference's numbers are those of the code", () => {
	const page = 'docs/reference.md';
	const limits = {
		Title: maxCharacters.title,
		Message: maxCharacters.message,
		'Target URL': maxCharacters.targetUrl,
		'Action Buttons': maxCharacters.button,
		'Campaign Name': maxCharacters.name,
	};
	for (const [field, limit] of Object.entries(limits)) {
		expect(rowOf(page, field)).toContain(`at most ${limit} characters`);
	}
	expect(rowOf(page, 'Timeout')).toContain(`If left out: ${defaultTimeoutMs}.`);
	const { firstPauseMs, mostRefusalsInARow, longestRetryAfterMs } = policy;
	const longestMs = firstPauseMs * 2 ** (mostRefusalsInARow - 2);
	for (const sentence of [
		`A time less than ${minimumLeadMs / 60_000} minutes`,
		`Up to ${policy.maxConcurrency} requests are in flight at a time,** beginning with ${policy.firstConcurrency}.`,
		`the run pauses: ${firstPauseMs} ms, then twice as long each time, up to ${longestMs / 1000} seconds`,
		`After ${mostRefusalsInARow} refusals in a row with nothing accepted in between (${Math.round((2 * longestMs) / 1000)} seconds)`,
		`asks for more than ${longestRetryAfterMs / 60_000} minutes`,
	]) {
		expect(read(page)).toContain(sentence);
	}
});

test("README.md names the trigger's events as its panel does, and what the first npm start takes", () => {
	const [event] = triggerProperties;
	const names = (event?.options ?? []).map((option) => ('name' in option ? option.name : ''));
	const rows = read('README.md').split('| Trigger On')[1]?.split('\n\n')[0]?.split('\n').slice(2);
	expect(rows?.map((row) => row.split('|')[1]?.trim())).toEqual(names);
	expect(read('README.md')).toContain(`in ${installMinutes}. The folder then has ${diskSpace}.`);
});

test("docs/reliability.md turns on n8n's durable engine as the tests do", () => {
	const [, tested = ''] =
		/durableEngine = \{([^}]*)/.exec(read('test/host/support/watches.ts')) ?? [];
	const variables = [...tested.matchAll(/(N8N_\w+): '(\w+)'/g)].map(
		([, name, value]) => `${name}=${value}`,
	);
	expect(blocksOf('docs/reliability.md', 'bash').map((block) => block.split(/\s+/))).toEqual([
		variables,
	]);
});

test('README.md has the two commands that do everything on a fresh machine', () => {
	const blocks = blocksOf('README.md', 'bash').map((block) => block.trim());
	expect(blocks).toContain('npm install && npm start');
	expect(blocks).toContain('npm install && npm test');
});

test('the npm commands of the pages exist', () => {
	const { scripts } = z
		.object({ scripts: z.record(z.string()) })
		.parse(JSON.parse(read('package.json')));
	const named = pages.flatMap((page) =>
		[...read(page).matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(
			([, run, own]) => run ?? own,
		),
	);
	expect(named).toContain('texts');
	expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
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
