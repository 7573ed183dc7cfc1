import { chromium, expect as expectOfPage, type Browser, type Page } from '@playwright/test';
import { startSimulator, type Simulator } from '../../simulator';
import { requireProgram } from './support/requirements';

const expectSoon = expectOfPage.configure({ timeout: 30_000 });

let browser: Browser;
let simulator: Simulator;
let page: Page;
let complaints: string[];

beforeAll(async () => {
	const executablePath = requireProgram('chromium');
	browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
	simulator = await startSimulator({ lifeSpeed: 0 });
});
beforeEach(async () => {
	simulator.reset();
	page = await browser.newPage();
	complaints = [];
	page.on('console', (message) => complaints.push(message.text()));
	page.on('pageerror', (error) => complaints.push(error.message));
});
afterEach(async () => {
	await page.close();
	expect(complaints).toEqual([]);
});
afterAll(async () => {
	await browser.close();
	await simulator.close();
});

/** Campaigns with the titles Sale 1, Sale 2 and so on. */
function addSales(count: number): void {
	for (let sale = 1; sale <= count; sale += 1) {
		const body = { title: `Sale <b>${sale}</b>`, message: 'New', target_url: 'https://a.example' };
		simulator.addCampaign({ body, counters: { delivered: 1000, clicked: 25 } });
	}
}

const cards = () => page.locator('#newest .campaign');
const rows = () => page.locator('#older .row');

test("the simulator's page shows the newest three campaigns large and the older ones as rows", async () => {
	addSales(60);
	await page.goto(simulator.origin);
	await expectSoon(cards()).toHaveCount(3);
	await expectSoon(rows()).toHaveCount(47);
	await expectSoon(cards().first().locator('.title')).toHaveText('Sale <b>60</b>');
	const row = rows().first();
	await expectSoon(row).toContainText('Sale <b>57</b>');
	await expectSoon(row).toContainText('1,000 delivered · 2.5% clicked');

	await row.locator('summary').click();
	await expectSoon(row.locator('.notification .title')).toBeVisible();
	await page.locator('#more').click();
	await expectSoon(rows()).toHaveCount(57);
	await expectSoon(page.locator('#more')).toBeHidden();

	// A new campaign moves the third into the rows, and what was open stays open.
	addSales(1);
	await expectSoon(rows()).toHaveCount(58);
	await expectSoon(rows().nth(1).locator('.notification .title')).toBeVisible();
	await expectSoon(cards()).toHaveCount(3);
});

test("a search on the simulator's page finds old campaigns that were not shown", async () => {
	addSales(200);
	await page.goto(simulator.origin);
	await expectSoon(cards()).toHaveCount(3);
	await page.locator('#query').fill('sale <b>7</b>');
	await expectSoon(page.locator('#found')).toHaveText('1 of 200 sends');
	await expectSoon(cards()).toHaveCount(1);
	await expectSoon(rows()).toHaveCount(0);
	await page.locator('#query').fill('');
	await expectSoon(rows()).toHaveCount(47);
});

test("a click on the simulator's page makes people click, and switches a fault on", async () => {
	const body = { title: 'Sale', message: 'New', target_url: 'https://a.example' };
	simulator.addCampaign({ body, dueAt: Date.now() - 3_600_000, speed: 1 });
	await page.goto(simulator.origin);
	const clicked = cards().locator('[data-counter=clicked]');
	const before = Number((await clicked.textContent())?.replace(',', ''));
	await page.getByRole('button', { name: '50 people click' }).click();
	await expectSoon(clicked).not.toHaveText(before.toLocaleString('en-US'));
	await page.getByRole('button', { name: 'Service down' }).click();
	await expectSoon(page.getByRole('button', { name: 'Service down · 1 left' })).toBeVisible();
});
