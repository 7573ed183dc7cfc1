import { chain, connect, node, pollEvery, pushCampaign, webhookWorkflow } from '../../../host';

test('a chain connects each node to the next', () => {
	const draft = chain('Three', [node('A', 'a'), node('B', 'b'), node('C', 'c')]);
	expect(draft.connections).toEqual({
		A: { main: [[{ node: 'B', type: 'main', index: 0 }]] },
		B: { main: [[{ node: 'C', type: 'main', index: 0 }]] },
	});
	expect(draft.nodes.map(({ position }) => position)).toEqual([
		[0, 0],
		[220, 0],
		[440, 0],
	]);
});

test('a connection from the error output leaves the first output as it was', () => {
	const draft = chain('Two', [node('A', 'a'), node('B', 'b'), node('Errors', 'c')]);
	const connected = connect(draft, 'A', 'Errors', { output: 1 });
	expect(connected.connections['A']?.['main']).toEqual([
		[{ node: 'B', type: 'main', index: 0 }],
		[{ node: 'Errors', type: 'main', index: 0 }],
	]);
	expect(draft.connections['A']?.['main']).toHaveLength(1);
});

test('poll times that are seconds apart', () => {
	expect(pollEvery(20).item).toEqual([
		{ mode: 'custom', cronExpression: '0 * * * * *' },
		{ mode: 'custom', cronExpression: '20 * * * * *' },
		{ mode: 'custom', cronExpression: '40 * * * * *' },
	]);
	expect(pollEvery(30, 7).item).toEqual([
		{ mode: 'custom', cronExpression: '7 * * * * *' },
		{ mode: 'custom', cronExpression: '37 * * * * *' },
	]);
});

test('a webhook workflow hands the items of a call to the nodes under test', () => {
	const credential = { id: '1', name: 'Mine', type: 'pushCampaignApi' };
	const draft = webhookWorkflow('sends', [
		pushCampaign({ title: '={{ $json.title }}' }, { credential, onError: 'continueErrorOutput' }),
	]);
	expect(draft.nodes.map(({ name }) => name)).toEqual(['Webhook', 'Items', 'Push Campaign']);
	expect(draft.nodes[2]).toMatchObject({
		credentials: { pushCampaignApi: { id: '1', name: 'Mine' } },
		onError: 'continueErrorOutput',
	});
});
