// Takes the pictures of the pages, from the real editor and the simulator's page: `npm run docs:pictures`.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { startStage, type Stage } from '../test/host/support';
import { Editor } from '../test/host/support/editor';
import { exampleFile, chooseCredential, parseWorkflow } from './demo/examples';
import { actionType, chain, node, projectFolder, pushCampaign } from '.';

const folder = join(projectFolder, 'docs', 'pictures');

/** What moves, or says more of n8n than of the workflow. */
const withoutDistractions = `
	*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important; }
	.el-notification, .vue-flow__controls, [data-test-id="canvas-controls"], [data-test-id="canvas-minimap"],
	[data-test-id="canvas-handle-plus-wrapper"], [data-test-id="canvas-add-button"],
	[data-test-id="canvas-execute-workflow-buttons"], [data-test-id="ask-assistant-floating-button"],
	[class*="canvasBuilderFloating"] { display: none !important; }
`;

/** Takes the parts of a page, with a margin around them all, in light and in dark. */
async function take(page: Page, name: string, parts: Locator, margin: number): Promise<void> {
	await page.addStyleTag({ content: withoutDistractions });
	const devTools = await page.context().newCDPSession(page);
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		// The canvas fits itself into the window after it is drawn.
		await page.waitForTimeout(1_500);
		const found = await Promise.all((await parts.all()).map((part) => part.boundingBox()));
		const boxes = found.filter((box) => box !== null);
		const x = Math.max(0, Math.min(...boxes.map((box) => box.x)) - margin);
		const y = Math.max(0, Math.min(...boxes.map((box) => box.y)) - margin);
		const right = Math.max(...boxes.map((box) => box.x + box.width)) + margin;
		const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + margin;
		const clip = { x, y, width: right - x, height: bottom - y, scale: 1 };
		// Playwright has no WebP, which takes a fifth of the bytes.
		const taken = await devTools.send('Page.captureScreenshot', {
			format: 'webp',
			quality: 85,
			clip,
		});
		const path = join(folder, `${name}.${colorScheme}.webp`);
		await writeFile(path, Buffer.from(taken.data, 'base64'));
	}
	await page.emulateMedia({ colorScheme: 'light' });
}

const sale = {
	title: 'Summer sale starts today',
	message: '20% off everything until Sunday.',
	targetUrl: 'https://shop.example.com/sale',
	actionButtons: { button: [{ title: 'Shop now', url: 'https://shop.example.com/new' }] },
};
const schedule = {
	additionalFields: { sendAt: '2030-05-17T09:30:00', sendAtTimezone: 'Europe/Berlin' },
};

async function takeAll(editor: Editor, stage: Stage): Promise<void> {
	const { page } = editor;
	const { credential } = stage;
	const post = parseWorkflow(await readFile(exampleFile('announce-rss-posts'), 'utf8')).draft;
	const { name, nodes, connections, settings } = chooseCredential(post, actionType, credential);
	// Without its note, and without the mark for a pinned post.
	const shown = nodes.filter(({ type }) => !type.endsWith('stickyNote'));
	const { id } = await stage.client.createWorkflow({ name, connections, settings, nodes: shown });
	await page.setViewportSize({ width: 900, height: 500 });
	await page.goto(`${stage.server.url}/workflow/${id}`);
	await editor.part('canvas-node').first().waitFor();
	const names = '[data-test-id="canvas-node"] [class*="description"]';
	await take(page, 'canvas', page.locator(`.vue-flow__node, ${names}`), 24);

	const start = node('Start', 'n8n-nodes-base.manualTrigger');
	const dryRun = pushCampaign({ ...sale, ...schedule }, { name: 'Look first', credential });
	await page.setViewportSize({ width: 1440, height: 1600 });
	const look = await stage.client.createWorkflow(chain('Look first', [start, dryRun]));
	await editor.openNode(look.id, dryRun);
	await editor.add('Add option', 'Dry Run');
	await editor.execute();
	await editor.expectHint('Nothing was sent');
	await take(page, 'dry-run', editor.part('node-hint'), 8);

	addCampaigns(stage);
	await page.setViewportSize({ width: 1040, height: 1400 });
	await page.goto(stage.simulator.origin);
	await take(page, 'notification', page.locator('.notification').last(), 16);
}

/** One campaign of each kind that the page can show. They are so slow that they stand still while a picture is taken. */
function addCampaigns({ simulator }: Stage): void {
	const hours = (count: number) => Date.now() + count * 3_600_000;
	const speed = 1 / 200;
	simulator.addCampaign({ body: bodyOf(sale), dueAt: hours(-6), speed });
	const image = 'https://shop.example.com/boots.png';
	const boots = {
		...bodyOf({ ...sale, title: 'The boots are back', message: 'In all sizes.' }),
		image,
	};
	simulator.addCampaign({
		audience: 'segment',
		audienceSize: 2_500,
		body: { ...boots, segment: ['101'], name: 'Back in stock' },
		dueAt: hours(14),
		speed,
	});
}

/** What the service keeps of a send. */
const bodyOf = ({ title, message, targetUrl, actionButtons }: typeof sale) => ({
	title,
	message,
	target_url: targetUrl,
	action_buttons: actionButtons.button,
});

async function run(): Promise<void> {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	const stage = await startStage({ editor: true, simulator: { lifeSpeed: 1 } });
	const editor = await Editor.open(stage.server.url, 2);
	try {
		await takeAll(editor, stage);
	} finally {
		await editor.close();
		await stage.close();
	}
}

void run();
