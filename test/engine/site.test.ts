import {
	credentialsFor,
	inputOf,
	outputOf,
	push,
	useDatabase,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// What keys belong to beside the node and its workflow: the address, and the credential in n8n.

const simulator = useSimulator();
const otherSite = useSimulator();
useDatabase();

/** Sends under one key, with a credential of this ID. */
const send = async (id: string, changes = {}, json = {}) => {
	const credentials = { pushCampaignApi: { id, name: 'Test' } };
	const node = push({ options: { idempotencyKey: 'order-1' } }, { credentials });
	const done = await runWorkflow(chain([node]), {
		credentials: credentialsFor(simulator(), changes),
		input: inputOf(json),
	});
	return outputOf(done)[0]?.['status'];
};

test('a new key or token in a credential leaves the site as it is', async () => {
	expect(await send('1')).toBe('success');
	expect(await send('1', { apiKey: 'new-key', authToken: 'new-token' })).toBe('alreadySent');
});

test('another credential at the same address is another site', async () => {
	expect([await send('1'), await send('2'), await send('2')]).toEqual([
		'success',
		'success',
		'alreadySent',
	]);
});

test('another address is another site, and a slash behind it makes none', async () => {
	expect([
		await send('1'),
		await send('1', { baseUrl: `${simulator().url}/` }),
		await send('1', { baseUrl: otherSite().url }),
	]).toEqual(['success', 'alreadySent', 'success']);
});

test('an API key that an expression gives makes a site of its own', async () => {
	const changes = { apiKey: '={{ $json.key }}' };
	expect(await send('1', changes, { key: 'demo-key' })).toBe('success');
	simulator().configure({ serviceKey: 'other-key' });
	expect([
		await send('1', changes, { key: 'other-key' }),
		await send('1', changes, { key: 'demo-key' }),
	]).toEqual(['success', 'alreadySent']);
});
