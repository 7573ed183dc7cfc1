import { outputOf, pushCampaign } from '../../host';
import { runNodes, useStage } from './support';

describe.each(['2', '1'] as const)('n8n %s.x', (major) => {
	const stage = useStage({ major });

	test('sends to all subscribers', async () => {
		const { simulator, credential } = stage();
		const node = pushCampaign(
			{ title: 'Sale', message: 'Only today', targetUrl: 'https://example.com/sale' },
			{ credential },
		);
		const { execution, answer } = await runNodes(stage(), [node]);
		const [item] = outputOf(execution, 'Push Campaign');
		expect(item?.json).toMatchObject({ campaignId: '1001', audience: 'all', status: 'success' });
		expect(answer.json).toEqual([item?.json]);
		expect(simulator.requests).toHaveLength(1);
	});
});
