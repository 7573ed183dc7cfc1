import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const project = join(__dirname, '..', '..', '..');
const folders = ['', 'docs', 'examples', 'simulator'].map((name) => join(project, name));
const pages = folders.flatMap((folder) =>
	readdirSync(folder)
		.filter((name) => name.endsWith('.md'))
		.map((name) => join(folder, name)),
);

/** The anchor that GitHub and npm give a heading. */
const anchorOf = (heading: string) =>
	heading
		.toLowerCase()
		.replace(/[^\p{L}\p{N}\s_-]/gu, '')
		.trim()
		.replace(/\s/g, '-');

function anchorsOf(page: string): string[] {
	const text = readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '');
	return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** The links of a page that stay in this project: Markdown's own, and those of pictures. */
const linksOf = (page: string) =>
	[...readFileSync(page, 'utf8').matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)]
		.map(([, link, source]) => link ?? source ?? '')
		.filter((link) => !/^[a-z]+:/.test(link));

const named = pages.map((page) => ({ name: relative(project, page), page }));

describe.each(named)('$name', ({ page }) => {
	test('links to what is there', () => {
		const broken = linksOf(page).filter((link) => {
			const [path = '', anchor] = link.split('#');
			const target = path === '' ? page : join(dirname(page), path);
			if (statSync(target, { throwIfNoEntry: false }) === undefined) return true;
			return anchor !== undefined && !anchorsOf(target).includes(anchor);
		});
		expect(broken).toEqual([]);
	});
});

test('the editor links to chapters that the README has', () => {
	const sources = [
		'credentials/PushCampaignApi.credentials.ts',
		'nodes/PushCampaign/PushCampaign.node.json',
		'nodes/PushCampaign/PushCampaignTrigger.node.json',
	].map((path) => readFileSync(join(project, path), 'utf8'));
	const anchors = sources.flatMap((source) =>
		[...source.matchAll(/example\.com\/[\w-]+#([\w-]+)/g)].map(([, anchor]) => anchor),
	);
	expect(anchors.length).toBeGreaterThanOrEqual(sources.length);
	expect(anchorsOf(join(project, 'README.md'))).toEqual(expect.arrayContaining(anchors));
});
