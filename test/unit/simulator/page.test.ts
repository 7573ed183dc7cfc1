import { createHash } from 'node:crypto';
import { call, useSimulator } from './support';

const simulator = useSimulator({ pathPrefix: '/push' });
const page = () => call(simulator().origin, { path: '/', headers: {} });

test('is served without credentials, alone at the root, and is no request to the service', async () => {
	const answer = await page();
	expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
	expect(answer.text).toContain('What your subscribers see');
	expect(simulator().requests).toEqual([]);
	for (const request of [{ path: '/', method: 'POST' }, { path: '/other' }]) {
		const other = await call(simulator().origin, { ...request, headers: {} });
		expect(other.json).toMatchObject({ status: 'failure' });
	}
});

test.each(['script', 'style'])('its policy allows its very %s, no other', async (tag) => {
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
});

test('shows what was sent as text only', async () => {
	const { text } = await page();
	expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
	expect(text).not.toMatch(/\son\w+="/);
	expect(text).not.toMatch(/(?:src|href)="(?!data:)/);
});
