import { join } from 'node:path';
import {
	chromium,
	expect as expectSoon,
	type Browser,
	type Locator,
	type Page,
} from '@playwright/test';
import type { INode } from 'n8n-workflow';
import { artifactsFolder, testOwner } from '../../../host';
import { requireProgram } from './requirements';

/** Nothing is to leave this machine, and no sandbox starts for the root user of a build. */
const chromiumFlags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

/** How long n8n may take to show something, in milliseconds. */
const soon = { timeout: 120_000 };

/** n8n's editor in a real browser, with its owner logged in. */
export class Editor {
	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		private readonly url: string,
	) {}

	/** @param deviceScaleFactor how many pixels a picture has for each that is drawn */
	static async open(url: string, deviceScaleFactor = 1): Promise<Editor> {
		const executablePath = requireProgram('chromium');
		const browser = await chromium.launch({ executablePath, args: chromiumFlags });
		const page = await browser.newPage({
			viewport: { width: 1440, height: 1000 },
			colorScheme: 'light',
			deviceScaleFactor,
		});
		page.setDefaultTimeout(soon.timeout);
		const editor = new Editor(browser, page, url);
		await page.goto(`${url}/signin`);
		await page.locator('input[name=emailOrLdapLoginId]').fill(testOwner.email);
		await page.locator('input[name=password]').fill(testOwner.password);
		await editor.part('form-submit-button').click();
		await page.waitForURL(/home|workflow/);
		return editor;
	}

	async close(): Promise<void> {
		await this.browser.close();
	}

	/** Keeps a picture of the page in `.artifacts/screenshots` for those who look at it. */
	async keepPicture(name: string): Promise<void> {
		await this.page.screenshot({ path: join(artifactsFolder, 'screenshots', `${name}.png`) });
	}

	/** What n8n marks with a test ID, as far as it can be seen. */
	part(name: string, within: Page | Locator = this.page): Locator {
		return within.locator(`[data-test-id="${name}"]`).filter({ visible: true });
	}

	/** Opens an empty workflow and the node panel, and searches there. */
	async searchNodes(text: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`);
		await this.part('canvas-add-button').or(this.page.getByText('Add first step')).first().click();
		// What is typed before the panel is complete is lost.
		await this.part('item-iterator-item').first().waitFor();
		await this.part('node-creator-search-bar').pressSequentially(text, { delay: 20 });
	}

	/** Opens one of a workflow's executions in its list. */
	async openExecution(workflowId: string, executionId: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${workflowId}/executions/${executionId}`);
		await this.part('execution-preview-label').waitFor();
	}

	/** Chooses 'Retry with currently saved workflow' for the open execution. */
	async retryWithSavedWorkflow(): Promise<void> {
		await this.part('execution-preview-retry-button').click();
		await this.page.getByText('Retry with currently saved workflow').click();
	}

	/** Opens one of a saved workflow's nodes. */
	async openNode(workflowId: string, { id }: INode): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${workflowId}/${id}`);
		await this.part('node-parameters').waitFor();
	}

	/** Waits until these are the panel's labels from top to bottom; n8n draws a panel bit by bit. */
	async expectLabels(expected: string[]): Promise<void> {
		await expectSoon(async () => {
			const texts = await this.part('input-label', this.part('node-parameters')).allInnerTexts();
			const labels = texts.map((text) => text.split('\n')[0]?.trim() ?? '').filter(Boolean);
			expect(labels).toEqual(expected);
		}).toPass(soon);
	}

	/** Waits until the hints above the output hold this text. */
	async expectHint(text: string): Promise<void> {
		const hints = async () => (await this.part('node-hint').allInnerTexts()).join('\n');
		await expectSoon.poll(hints, soon).toContain(text);
	}

	/** Waits until all of these texts can be read there. */
	async expectTexts(place: Locator, texts: string[]): Promise<void> {
		for (const text of texts) {
			await expectSoon(place).toContainText(text, { ...soon, useInnerText: true });
		}
	}

	/** The input of a parameter, by the parameter's name. */
	field(parameter: string): Locator {
		return this.part(`parameter-input-${parameter}`).last().locator('input, textarea').first();
	}

	/** Executes the open node, with what comes before it. */
	async execute(): Promise<Locator> {
		await this.part('node-execute-button').click();
		return this.part('output-panel');
	}

	/** Adds one field of a collection to the panel. */
	async add(collection: 'Add Field' | 'Add option', field: string): Promise<void> {
		await this.part('collection-parameter-add', this.part('node-parameters'))
			.filter({ has: this.page.getByPlaceholder(collection) })
			.click();
		const option = this.part('collection-parameter-option').filter({
			has: this.page.getByText(field, { exact: true }),
		});
		await option.click();
		await option.waitFor({ state: 'hidden' });
	}
}
