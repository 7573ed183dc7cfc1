import type { INodeParameters } from 'n8n-workflow';
import { outputOf, pushCampaign } from '../../../host';
import { content, runNodes, type Stage } from './stage';

interface OperationCase {
	operation: string;
	parameters: INodeParameters;
	/** The end of the request's path, and its body. */
	path: string;
	body?: Record<string, unknown>;
	item: Record<string, unknown>;
}

const { title, message, targetUrl } = content;
const body = { title, message, target_url: targetUrl };
const row = (audience: string, recipients: string) => ({
	status: 'success',
	title,
	audience,
	recipients,
});

/** Every operation: what it asks of the service and what it returns. */
const operationCases: OperationCase[] = [
	{
		operation: 'sendToAll',
		parameters: { ...content, additionalFields: { name: 'Autumn', autoHide: false } },
		path: 'send/all',
		body: { ...body, name: 'Autumn', auto_hide: 0 },
		item: { ...row('all', 'all subscribers'), campaignId: '1001', name: 'Autumn' },
	},
	{
		operation: 'sendToAttributes',
		parameters: { ...content, attributes: { pairs: [{ name: 'plan', value: 'pro' }] } },
		path: 'send/attribute',
		body: { ...body, attribute: { plan: 'pro' } },
		item: { ...row('attributes', 'every subscriber with plan = pro'), campaignId: '1001' },
	},
	{
		operation: 'sendToSegments',
		parameters: {
			...content,
			segmentIds: '11, 12',
			additionalFields: { sendAt: '2035-05-17 9:30', sendAtTimezone: 'Europe/Berlin' },
		},
		path: 'send/segment',
		body: { ...body, segment: ['11', '12'], send_at: '2035-05-17 09:30 +02:00' },
		item: {
			...row('segments', 'segments 11, 12'),
			campaignId: '1001',
			sendAt: '2035-05-17 09:30 +02:00',
		},
	},
	{
		operation: 'sendToSubscriber',
		parameters: { ...content, subscriberId: '5001' },
		path: 'send/sid',
		body: { ...body, sid: '5001' },
		item: { ...row('subscriber', 'subscriber 5001'), subscriberId: '5001' },
	},
	{
		operation: 'getStatus',
		parameters: { campaignId: '2001' },
		path: 'status/id/2001',
		item: {
			campaignId: '2001',
			totalAttempts: 0,
			successfullySent: 800,
			failedToSend: 0,
			delivered: 400,
			clicked: 100,
			closed: 0,
			deliveryRate: 0.5,
			clickRate: 0.25,
		},
	},
	{
		operation: 'getSubscriberCount',
		parameters: { resource: 'site' },
		path: 'site/subscriber_count',
		item: { activeSubscribers: 10_000 },
	},
];

/** Defines a test for each operation: it runs behind a webhook, and the service and n8n have what it says. */
export function testOperations(stage: () => Stage): void {
	test.each(operationCases)(
		'$operation asks the service what it says and returns the answer',
		async ({ operation, parameters, path, body: expected, item }) => {
			const { simulator, credential } = stage();
			const counters = { successfully_sent: 800, delivered: 400, clicked: 100 };
			if (operation === 'getStatus') simulator.addCampaign({ id: '2001', counters });
			const action = pushCampaign({ operation, ...parameters }, { credential });
			const { execution, answer } = await runNodes(stage(), [action]);
			expect(execution.status).toBe('success');
			expect(simulator.requests).toHaveLength(1);
			const [request] = simulator.requests;
			expect(request?.path).toMatch(new RegExp(`/v1/.*${path}$`));
			expect(request?.json).toEqual(expected);
			const [returned] = outputOf(execution, action.name);
			expect(returned?.json).toMatchObject(item);
			expect(answer.json).toEqual([returned?.json]);
		},
	);
}
