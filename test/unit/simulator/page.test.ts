import { createHash } from 'node:crypto';
import { call, useSimulator } from './support';

const simulator = useSimulator({ pathPrefix: '/push' });
const page = () => call(simulator().origin, { path: '/', headers: {} });

test('the page is served without credentials and is no request to the service', async () => {
	const answer = await page();
	expect(answer.status).toBe(200);
	expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
	expect(answer.text).toContain('What your subscribers see');
	expect(simulator().requests).toEqual([]);
});

test.each(['script', 'style'])(
	'the policy allows the very %s of the page, no other',
	async (tag) => {
		const answer = await page();
		const blocks = [...answer.text.matchAll(new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`, 'g'))];
		expect(blocks).toHaveLength(1);
		const hash = createHash('sha256')
			.update(blocks[0]?.[1] ?? '')
			.digest('base64');
		const policy = String(answer.headers['content-security-policy']);
		expect(policy).toContain(`default-src 'none'`);
		expect(policy).toContain(`${tag}-src 'sha256-${hash}';`);
		expect(policy).not.toContain('unsafe');
	},
);

test('what was sent reaches the page as text only', async () => {
	const { text } = await page();
	expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
	expect(text).not.toMatch(/\son\w+="/);
	expect(text).not.toMatch(/(?:src|href)="(?!data:)/);
});

test('only the page itself is at the root', async () => {
	for (const request of [{ path: '/', method: 'POST' }, { path: '/other' }]) {
		const answer = await call(simulator().origin, { ...request, headers: {} });
		expect(answer.json).toMatchObject({ status: 'failure' });
	}
});
