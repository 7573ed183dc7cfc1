import { join } from 'node:path';
import {
	chromium,
	expect as expectSoon,
	type Browser,
	type Locator,
	type Page,
} from '@playwright/test';
import type { INode } from 'n8n-workflow';
import { artifactsFolder, testOwner, until } from '../../../host';
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

const timeout = 120_000;

/** How long n8n may take to show something, in milliseconds. */
const soon = { timeout: 60_000 };

/** n8n's editor in a real browser, with its owner logged in. */
export class Editor {
	private constructor(
		private readonly browser: Browser,
		readonly page: Page,
		private readonly url: string,
	) {}

	static async open(url: string): Promise<Editor> {
		const executablePath = requireProgram('chromium');
		const browser = await chromium.launch({ executablePath, args: chromiumFlags });
		try {
			const viewport = { width: 1440, height: 1000 };
			const page = await browser.newPage({ viewport, colorScheme: 'light' });
			page.setDefaultTimeout(timeout);
			const editor = new Editor(browser, page, url);
			const { tracing } = page.context();
			await tracing.start({ snapshots: true });
			// This begins a chunk by itself; each test has one of its own.
			await tracing.stopChunk();
			await editor.login();
			return editor;
		} catch (error) {
			await browser.close();
			throw error;
		}
	}

	async close(): Promise<void> {
		await this.page.context().tracing.stop();
		await this.browser.close();
	}

	/**
	 * Runs a test's work. If it fails, a picture of the page and Playwright's trace of the test are kept in
	 * `.artifacts/failed`; `npx playwright show-trace <file>` opens the trace.
	 */
	async observed(work: () => Promise<void>): Promise<void> {
		const title = expect.getState().currentTestName ?? 'test';
		const path = join(artifactsFolder, 'failed', title.replace(/\W+/g, '-'));
		const { tracing } = this.page.context();
		await tracing.startChunk({ title });
		try {
			await work();
		} catch (error) {
			await this.page.screenshot({ path: `${path}.png` });
			await tracing.stopChunk({ path: `${path}.zip` });
			throw error;
		}
		await tracing.stopChunk();
	}

	/** Keeps pictures of the page, in light and in dark, in `.artifacts/screenshots` for those who look at them. */
	async keepPictures(name: string): Promise<void> {
		for (const colorScheme of ['dark', 'light'] as const) {
			await this.page.emulateMedia({ colorScheme });
			const path = join(artifactsFolder, 'screenshots', `${name}.${colorScheme}.png`);
			await this.page.screenshot({ path });
		}
	}

	/** What n8n marks with a test ID, as far as it can be seen. */
	part(name: string, within: Page | Locator = this.page): Locator {
		return within.locator(`[data-test-id="${name}"]`).filter({ visible: true });
	}

	private async login(): Promise<void> {
		await this.page.goto(`${this.url}/signin`);
		await this.page.locator('input[name=emailOrLdapLoginId]').fill(testOwner.email);
		await this.page.locator('input[name=password]').fill(testOwner.password);
		await this.part('form-submit-button').click();
		await this.page.waitForURL(/home|workflow/);
	}

	/** Opens an empty workflow and the node panel, and searches there. */
	async searchNodes(text: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/new`);
		await this.part('canvas-add-button').or(this.page.getByText('Add first step')).first().click();
		// What is typed before the panel is complete is lost.
		await this.part('item-iterator-item').first().waitFor();
		await this.part('node-creator-search-bar').pressSequentially(text, { delay: 20 });
	}

	/** Searches again in the node panel that is open. */
	async search(text: string): Promise<void> {
		await this.part('node-creator-search-bar').fill(text);
	}

	/** Opens the panel of tools of the AI Agent in a saved workflow. */
	async openTools(workflowId: string): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${workflowId}`);
		const handle = this.page.locator('[data-handleid="inputs/ai_tool/0"]');
		const plus = this.part('canvas-handle-plus', handle).first();
		const title = this.part('nodes-list-header').getByText('Tools', { exact: true });
		// A busy n8n opens another panel now and then: its own of the AI nodes, where no tool is found.
		await until(
			async () => {
				await plus.click();
				await this.part('item-iterator-item').first().waitFor();
				return await title.waitFor({ timeout: 15_000 }).then(
					() => true,
					() => false,
				);
			},
			(isOpen) => isOpen,
			{ within: 60_000, late: () => "n8n's panel of tools did not open" },
		);
	}

	/** Opens one of a saved workflow's nodes. */
	async openNode(workflowId: string, { id }: INode): Promise<void> {
		await this.page.goto(`${this.url}/workflow/${workflowId}/${id}`);
		await this.part('node-parameters').waitFor();
	}

	/** The panel's labels from top to bottom, nested ones included. */
	private async labels(): Promise<string[]> {
		const labels = await this.part('input-label', this.part('node-parameters')).allInnerTexts();
		return labels.map((text) => text.split('\n')[0]?.trim() ?? '').filter((text) => text !== '');
	}

	/** Waits until the panel's labels meet the expectation; n8n draws a panel bit by bit. */
	async expectLabels(expectation: (labels: string[]) => void): Promise<void> {
		await expectSoon(async () => expectation(await this.labels())).toPass(soon);
	}

	/** Waits until these are the parameters in the dialog of a credential, beside n8n's own, in any order. */
	async expectFields(names: string[]): Promise<void> {
		const inputs = this.page
			.locator('[data-test-id^="parameter-input-"]')
			.filter({ visible: true });
		const ofN8n = ['parameter-input-field', 'parameter-input-allowedHttpRequestDomains'];
		const wanted = new Set([...ofN8n, ...names.map((name) => `parameter-input-${name}`)]);
		const testId = async (input: Locator) =>
			await input.getAttribute('data-test-id', { timeout: 1_000 });
		await expectSoon(async () => {
			const seen = await Promise.all((await inputs.all()).map(testId));
			expect(new Set([...ofN8n, ...seen])).toEqual(wanted);
		}).toPass(soon);
	}

	/** Waits until a hint holds this text. */
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

	/** The input of a parameter, by the parameter's name; the last where there are several. */
	field(parameter: string): Locator {
		return this.part(`parameter-input-${parameter}`).last().locator('input, textarea').first();
	}

	/** Executes the open node, with what comes before it. */
	async execute(): Promise<Locator> {
		await this.part('node-execute-button').click();
		return this.part('output-panel');
	}

	/** Chooses from the list of a parameter; of one of the panel where nothing else is said. */
	async choose(
		parameter: string,
		option: string,
		within: Locator = this.part('node-parameters'),
	): Promise<void> {
		await this.part(`parameter-input-${parameter}`, within).click();
		const item = this.part('parameter-input-item').filter({
			has: this.page.getByText(option, { exact: true }),
		});
		await item.click();
		await item.waitFor({ state: 'hidden' });
	}

	private addButton(collection: 'Add Field' | 'Add option'): Locator {
		return this.part('collection-parameter-add', this.part('node-parameters')).filter({
			has: this.page.getByPlaceholder(collection),
		});
	}

	/** What a collection still offers to add. */
	async offered(collection: 'Add Field' | 'Add option'): Promise<string[]> {
		await this.addButton(collection).click();
		await this.part('collection-parameter-option').first().waitFor();
		const offered = await this.part('collection-parameter-option').allInnerTexts();
		await this.page.keyboard.press('Escape');
		await this.part('collection-parameter-option').first().waitFor({ state: 'hidden' });
		return offered.map((text) => text.trim());
	}

	/** Adds one field of a collection to the panel. */
	async add(collection: 'Add Field' | 'Add option', field: string): Promise<void> {
		await this.addButton(collection).click();
		const option = this.part('collection-parameter-option').filter({
			has: this.page.getByText(field, { exact: true }),
		});
		await option.click();
		await option.waitFor({ state: 'hidden' });
	}
}
