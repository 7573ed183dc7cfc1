// Takes the pictures of the pages, from the real editor and the simulator's page: `npm run docs:pictures`.

import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { actionType, chain, node, pushCampaign, pushCampaignTrigger } from '../host';
import { exampleFile, chooseCredential, parseWorkflow } from '../host/demo/examples';
import { startStage, type Stage } from '../test/host/support';
import { Editor } from '../test/host/support/editor';

const folder = join(__dirname, 'pictures');

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
		const clip = { x, y, width: right - x, height: bottom - y };
		await page.screenshot({ path: join(folder, `${name}.${colorScheme}.png`), clip });
	}
	await page.emulateMedia({ colorScheme: 'light' });
}

const sale = {
	title: 'Summer sale starts today',
	message: '20% off everything until Sunday.',
	targetUrl: 'https://shop.example.com/sale',
	actionButtons: { button: [{ title: 'Shop now', url: 'https://shop.example.com/new' }] },
	additionalFields: {
		sendAt: '2030-05-17T09:30:00',
		sendAtTimezone: 'Europe/Berlin',
		quietHours: { hours: { from: '21:00', to: '08:00' } },
	},
};

/** What of an open node's panel is a parameter: without the frame, which reaches to the bottom of the window. */
const parameters = '[data-test-id="node-parameters"] .parameter-item:visible';

async function takeAll(editor: Editor, stage: Stage): Promise<void> {
	const { page } = editor;
	const { credential } = stage;
	const post = parseWorkflow(await readFile(exampleFile('announce-rss-posts'), 'utf8')).draft;
	const rss = chooseCredential(post, actionType, credential);
	const { id } = await stage.client.createWorkflow({
		...rss,
		nodes: rss.nodes.filter(({ type }) => !type.endsWith('stickyNote')),
	});
	await page.setViewportSize({ width: 900, height: 500 });
	await page.goto(`${stage.server.url}/workflow/${id}`);
	await editor.part('canvas-node').first().waitFor();
	const names = '[data-test-id="canvas-node"] [class*="description"]';
	await take(page, 'canvas', page.locator(`.vue-flow__node, ${names}`), 24);

	const start = node('Start', 'n8n-nodes-base.manualTrigger');
	const send = pushCampaign(sale, { name: 'Send to all', credential });
	const saved = await stage.client.createWorkflow(chain('Summer sale', [start, send]));
	await page.setViewportSize({ width: 1440, height: 1500 });
	await editor.openNode(saved.id, send);
	await take(page, 'panel', page.locator(parameters), 10);
	await editor.add('Add option', 'Dry Run');
	await editor.execute();
	await editor.expectHint('Nothing was sent');
	await take(page, 'dry-run', editor.part('node-hint'), 8);

	const watch = pushCampaignTrigger(
		{
			event: 'campaignReached',
			campaignIds: '1001',
			number: 100,
			pollTimes: { item: [{ mode: 'everyMinute' }] },
		},
		{ name: 'When clicks reach 100', credential },
	);
	const alert = await stage.client.createWorkflow(chain('Alert on clicks', [watch]));
	await editor.openNode(alert.id, watch);
	await take(page, 'trigger', page.locator(parameters), 10);

	// So slow that its numbers stand still while a picture is taken: the page replaces what has changed.
	stage.simulator.addCampaign({
		body: bodyOf(sale),
		dueAt: Date.now() - 6 * 3_600_000,
		speed: 1 / 200,
	});
	await page.setViewportSize({ width: 1180, height: 900 });
	await page.goto(stage.simulator.origin);
	await take(page, 'notification', page.locator('.notification').first(), 16);
	await take(page, 'simulator', page.locator('body'), 0);
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
