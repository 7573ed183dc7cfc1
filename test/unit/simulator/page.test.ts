import { startSimulator, type Simulator } from '../../../simulator';

const content = { title: 'Spring sale', message: 'Half price', target_url: 'https://shop.example' };

let simulator: Simulator;
beforeAll(async () => {
	simulator = await startSimulator({ lifeSpeed: 0 });
});
beforeEach(() => simulator.reset());
afterAll(async () => await simulator.close());

const page = async () => await (await fetch(simulator.origin)).text();

const press = async (button: string) =>
	await fetch(`${simulator.origin}/_simulator/${button}`, { method: 'POST' });

const headers = {
	serviceKey: 'demo-key',
	serviceAuthToken: 'demo-token',
	'Content-Type': 'application/json',
};

/** Whether a send or a read gets an answer of success; undefined if it gets none. */
async function succeeds(path: string, init: RequestInit): Promise<boolean | undefined> {
	const answer = await fetch(`${simulator.url}/v1/${path}`, { headers, ...init }).catch(() => null);
	return answer === null ? undefined : !(await answer.text()).includes('failure');
}

const send = async () =>
	await succeeds('notification/send/all', { method: 'POST', body: JSON.stringify(content) });
const read = async () => await succeeds('site/subscriber_count', {});

test.each([
	{ name: 'lostAnswer', first: undefined, sent: 1, says: 'it went out, but n8n got no answer' },
	{ name: 'notReached', first: undefined, sent: 0, says: 'no answer. Nothing went out' },
	{ name: 'tooManyRequests', first: false, sent: 0, says: 'Too many requests. Nothing went out' },
	{ name: 'down', first: false, sent: 0, says: 'Please try again after some time' },
])('the button $name makes happen what it says', async ({ name, first, sent, says }) => {
	await press(`trouble/${name}`);
	expect(await send()).toBe(first);
	expect(simulator.campaigns.size).toBe(sent);
	expect(await page()).toContain(says);
});

test('the service stays down, for reads as well, until the button is pressed again', async () => {
	await press('trouble/down');
	expect([await send(), await send(), await read()]).toEqual([false, false, false]);
	await press('trouble/down');
	expect([await send(), await read()]).toEqual([true, true]);
});

test('a campaign stays with its button however many go to one subscriber, which have a line each', async () => {
	const id = simulator.addCampaign({ body: content, counters: { delivered: 1_000 } });
	for (let sid = 5001; sid < 5101; sid += 1) {
		simulator.addCampaign({ audience: 'sid', body: { ...content, sid: String(sid) } });
	}
	const text = await page();
	expect(text).toContain(`id="click/${id}"`);
	expect(text.match(/class="notification"/g)).toHaveLength(2);
	expect(text).toContain('To subscriber 5099: <b>Spring sale</b>');
	expect(text).toContain('And 49 more.');
});

test('it listens to this machine alone', async () => {
	// Linux has all of 127.0.0.0/8, so what listens to the network answers there.
	const elsewhere = simulator.origin.replace('127.0.0.1', '127.0.0.2');
	await expect(fetch(elsewhere)).rejects.toThrow('fetch failed');
});

test('times carry their zone', async () => {
	simulator.addCampaign({ body: content, dueAt: Date.UTC(2099, 4, 17, 12) });
	expect(await page()).toMatch(/Goes out on 17 May 2099, \d\d:\d\d [A-Z]/);
});
