import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { changeNode, chooseCredential, exampleNames, readExample } from '../examples/read';
import type { WorkflowDraft } from '../host';
import { readExamples } from '../host/demo/prepare';
import type { NewCampaign } from '../simulator';
import { startStage, type Stage } from '../test/host/support';
import { Editor } from '../test/host/support/editor';

const folder = join(__dirname, 'pictures');
const themes = ['light', 'dark'] as const;
const maxBytes = 180_000;
const maxBytesInAll = 3_700_000;
const margin = 24;

/** What moves, or says more of n8n than of the workflow. */
const withoutDistractions = `
	*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important; }
	.el-notification, .vue-flow__controls, [data-test-id="canvas-controls"],
	[data-test-id="canvas-minimap"], [data-test-id="node-creator"],
	[data-test-id="canvas-handle-plus-wrapper"], [data-test-id="canvas-add-button"],
	[data-test-id="canvas-execute-workflow-buttons"], [data-test-id="ask-assistant-floating-button"],
	[data-test-id="canvas-execute-button"], [class*="chatTrigger"], [class*="canvasBuilderFloating"],
	[class*="executionButtons"], [class*="nodeButtonsWrapper"]
	{ display: none !important; }
`;

interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

function around(boxes: Box[], padding: number, above: number): Box {
	const left = Math.min(...boxes.map(({ x }) => x)) - padding;
	const top = Math.min(...boxes.map(({ y }) => y)) - above;
	const right = Math.max(...boxes.map(({ x, width }) => x + width)) + padding;
	const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + padding;
	return { x: left, y: top, width: right - left, height: bottom - top };
}

function intersection(one: Box, other: Box): Box {
	const left = Math.max(one.x, other.x);
	const top = Math.max(one.y, other.y);
	const right = Math.min(one.x + one.width, other.x + other.width);
	const bottom = Math.min(one.y + one.height, other.y + other.height);
	return { x: left, y: top, width: right - left, height: bottom - top };
}

/** Takes pictures of one editor, each in light and in dark. */
class Photographer {
	constructor(
		readonly editor: Editor,
		private readonly stage: Stage,
	) {}

	/**
	 * Takes the parts of the editor that `parts` finds, with a margin around them all, another one above
	 * them if that is given. The margins end where the part `within` ends.
	 */
	async take(
		name: string,
		parts: Locator,
		{ padding, above = padding, within }: { padding: number; above?: number; within?: Locator },
	): Promise<void> {
		const { page } = this.editor;
		await page.addStyleTag({ content: withoutDistractions });
		for (const colorScheme of themes) {
			await page.emulateMedia({ colorScheme });
			// The canvas fits itself into the window after it has been drawn.
			await page.waitForTimeout(1_000);
			const boxes = await Promise.all((await parts.all()).map((part) => part.boundingBox()));
			const whole = around(
				boxes.flatMap((box) => (box === null ? [] : [box])),
				padding,
				above,
			);
			const limit = await within?.boundingBox();
			const clip = limit ? intersection(whole, limit) : whole;
			await page.screenshot({ path: join(folder, `${name}.${colorScheme}.png`), clip });
		}
		await page.emulateMedia({ colorScheme: 'light' });
	}

	/** Takes the whole page. */
	async takePage(name: string): Promise<void> {
		for (const colorScheme of themes) {
			await this.editor.page.emulateMedia({ colorScheme });
			await this.editor.page.waitForTimeout(1_000);
			const path = join(folder, `${name}.${colorScheme}.png`);
			await this.editor.page.screenshot({ path, fullPage: true });
		}
	}

	/** Opens a workflow, in a window so large that the canvas need not shrink it much. */
	async open(draft: WorkflowDraft): Promise<void> {
		const { id } = await this.stage.client.createWorkflow(draft);
		const { page } = this.editor;
		const right = Math.max(...draft.nodes.map(({ position }) => position[0]));
		await page.setViewportSize({ width: right > 1600 ? 2000 : 1600, height: 1000 });
		await page.goto(`${this.stage.server.url}/workflow/${id}`);
		await this.editor.part('canvas-node').first().waitFor();
	}

	/** Everything on the canvas, names below nodes included. */
	async canvas(name: string): Promise<void> {
		const named = '[data-test-id="canvas-node"] [class*="description"]';
		await this.take(name, this.editor.page.locator(`.vue-flow__node, ${named}`), {
			padding: margin,
		});
	}

	/** The panel of the open node, from its credential to its last parameter. */
	async panel(name: string): Promise<void> {
		const panel = this.editor.part('node-parameters');
		const parameters = panel.locator(
			'[data-test-id="input-label"], [data-test-id^="parameter-input-"], [data-test-id="collection-parameter-add"], button',
		);
		// The credential and its label are above the first of these.
		const margins = { padding: 16, above: 80, within: panel };
		await this.take(name, parameters.filter({ visible: true }), margins);
	}

	/** Opens a node of the workflow that is open, in a window that shows all of its panel. */
	async openNode(name: string, width = 1440, height = 1600): Promise<void> {
		const { page } = this.editor;
		await page.setViewportSize({ width, height });
		await page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`).dblclick();
		await this.editor.part('node-parameters').waitFor();
		await page.mouse.move(0, 0);
	}
}

async function demoWorkflow({ credential }: Stage): Promise<WorkflowDraft> {
	const [first] = await readExamples();
	if (first === undefined) throw new Error('The demo has no workflow');
	// Its note is about the demo and its simulator.
	const nodes = first.draft.nodes.filter(({ type }) => !type.endsWith('.stickyNote'));
	return chooseCredential({ ...first.draft, nodes }, 'n8n-nodes-push-campaign.', credential);
}

async function exampleWorkflow(name: string, { client, credential }: Stage) {
	const draft = chooseCredential(await readExample(name), 'n8n-nodes-push-campaign.', credential);
	if (name === 'ai-agent-with-approval') {
		const openAi = await client.createCredential('OpenAI', 'openAiApi', { apiKey: 'none' });
		return chooseCredential(draft, '@n8n/n8n-nodes-langchain.lmChatOpenAi', openAi);
	}
	if (name !== 'approval-in-chat') return draft;
	const bot = await client.createCredential('Telegram', 'telegramApi', { accessToken: 'none' });
	return chooseCredential(draft, 'n8n-nodes-base.telegram', bot);
}

const filledIn = {
	title: 'Summer sale starts today',
	message: '20% off everything until Sunday.',
	targetUrl: 'https://shop.example.com/sale',
	additionalFields: {
		autoHide: false,
		expireAfter: { duration: { amount: 2, unit: 'd' } },
		sendAt: '2030-05-17T09:30:00',
	},
};

const minute = 60_000;

/** What the simulator's page shows beside the campaign that the demo's workflow sent. */
const moreCampaigns: NewCampaign[] = [
	{
		audience: 'segment',
		audienceSize: 2400,
		dueAt: Date.now() - 4 * minute,
		body: {
			...campaignContent('Five things you should not miss', 'Our picks of the week are here.'),
			name: 'Weekly, title B',
			segment: ['102'],
			action_buttons: [{ title: 'Shop now', url: 'https://shop.example.com/weekly' }],
		},
	},
	{
		audience: 'attribute',
		audienceSize: 310,
		dueAt: Date.now() + 90 * minute,
		body: {
			...campaignContent('Your plan is about to end', 'Renew it with one click.'),
			name: 'Renewal',
			attribute: { plan: 'pro' },
		},
	},
];

function campaignContent(title: string, message: string) {
	return { title, message, target_url: 'https://shop.example.com' };
}

async function takeAll(photographer: Photographer, stage: Stage): Promise<void> {
	const { editor } = photographer;
	const demo = await demoWorkflow(stage);
	await photographer.open(demo);
	await editor.part('execute-workflow-button').first().click();
	await editor.page.getByText('Workflow executed successfully').first().waitFor();
	await photographer.openNode('Read its status', 3000, 420);
	const output = editor.part('output-panel');
	await photographer.take('output-table', output.locator('table'), { padding: 8, within: output });

	await photographer.open(changeNode(demo, 'Send to all', { parameters: filledIn }));
	await photographer.openNode('Send to all');
	await photographer.panel('send-to-all-panel');

	await editor.add('Add option', 'Dry Run');
	await editor.execute();
	await editor.part('node-hint').filter({ hasText: 'Nothing was sent' }).waitFor();
	await photographer.take('dry-run', editor.part('node-hint'), { padding: 8 });

	for (const name of await exampleNames()) {
		await photographer.open(await exampleWorkflow(name, stage));
		await photographer.canvas(name);
		if (name !== 'alert-on-clicks') continue;
		await photographer.openNode('When clicks reach 100');
		await photographer.panel('trigger-panel');
	}

	for (const campaign of moreCampaigns) stage.simulator.addCampaign(campaign);
	await editor.page.setViewportSize({ width: 1180, height: 1080 });
	await editor.page.goto(stage.simulator.origin);
	await editor.page.waitForTimeout(1_500);
	await photographer.takePage('simulator');
}

async function checkSizes(): Promise<void> {
	const files = (await readdir(folder)).filter((file) => file.endsWith('.png'));
	let all = 0;
	for (const file of files) {
		const { size } = await stat(join(folder, file));
		all += size;
		if (size > maxBytes) throw new Error(`${file} has ${size} bytes; at most ${maxBytes}`);
	}
	if (all > maxBytesInAll) throw new Error(`All pictures have ${all} bytes`);
	process.stdout.write(`${files.length} pictures, ${Math.round(all / 1000)} kB\n`);
}

/** Makes every picture of the documentation again, from the real editor and the simulator's page. */
async function run(): Promise<void> {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	const stage = await startStage({ major: '2', editor: true, simulator: { lifeSpeed: 1 } });
	try {
		const editor = await Editor.open(stage.server.url);
		try {
			await takeAll(new Photographer(editor, stage), stage);
		} finally {
			await editor.close();
		}
	} finally {
		await stage.close();
	}
	await checkSizes();
}

run().catch((error: unknown) => {
	process.stderr.write(
		`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
	);
	process.exitCode = 1;
});
