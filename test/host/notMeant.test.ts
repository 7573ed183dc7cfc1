import { randomUUID } from 'node:crypto';
import type { INodeParameters } from 'n8n-workflow';
import {
	connect,
	node,
	outputOf,
	pushCampaign,
	webhookWorkflow,
	type Execution,
	type Major,
} from '../../host';
import { useStage } from './support';

// A real server builds a workflow several times for an execution, and evaluates expressions in its own way.

const group = (collection: string, name: string): INodeParameters => ({
	additionalFields: { [collection]: { [name]: '={{ {} }}' } },
});
const asExpression = (name: string) =>
	`${name} is written as one expression, which n8n does not pass on`;

interface Refused {
	readonly parameters: INodeParameters;
	readonly message: string;
}
const refused: Refused[] = [
	{ parameters: { options: '={{ { dryRun: true } }}' }, message: asExpression('Options') },
	{
		parameters: { additionalFields: '={{ { sendAt: "2099-01-01T00:00Z" } }}' },
		message: asExpression('Additional Fields'),
	},
	{ parameters: { actionButtons: '={{ {} }}' }, message: asExpression('Action Buttons') },
	{
		parameters: { actionButtons: { button: '={{ [{ title: "Go" }] }}' } },
		message: asExpression('Action Buttons'),
	},
	{
		parameters: { operation: 'sendToAttributes', attributes: '={{ {} }}' },
		message: asExpression('Attributes'),
	},
	{
		parameters: { operation: 'sendToAttributes', attributes: { pairs: '={{ [] }}' } },
		message: asExpression('Attributes'),
	},
	{
		parameters: { operation: 'getStatus', campaignId: '1', options: '={{ {} }}' },
		message: asExpression('Options'),
	},
	{
		parameters: { actionButtons: { button: ['={{ {} }}'] } },
		message: asExpression('Action Buttons'),
	},
	{
		parameters: { additionalFields: { quietHours: '={{ { hours: {} } }}' } },
		message: asExpression('Quiet Hours'),
	},
	{ parameters: group('expireAfter', 'duration'), message: asExpression('Expire After') },
	{ parameters: group('quietHours', 'hours'), message: asExpression('Quiet Hours') },
	{ parameters: group('utmParameters', 'parameters'), message: asExpression('UTM Parameters') },
	{
		parameters: { additionalFields: { quietHours: {} } },
		message: 'Quiet Hours was added and is empty',
	},
	{
		parameters: { title: '=New: {{ ({ rendered: "X" }) }}' },
		message:
			'Title holds [object Object], which is an object and not a text: "New: [object Object]"',
	},
	{
		parameters: { message: "={{ 'Hello ' + $json.name }}" },
		message: 'Message holds undefined: its expression found no value: "Hello undefined"',
	},
	{
		parameters: { targetUrl: '=https://example.com/{{ $json.slug }}' },
		message: 'Target URL has an empty part: {{ $json.slug }} gave nothing: "https://example.com/"',
	},
	{
		parameters: { title: '=For {{ $json.customer.name }}, {{ "now".toUpperCase() }}' },
		message: 'Title has an empty part: {{ $json.customer.name }} gave nothing: "For , NOW"',
	},
	{
		parameters: { title: 'Hello {{ $json.name }}' },
		message:
			'Title holds {{ $json.name }} as plain text, because the field is set to Fixed: "Hello {{ $json.name }}"',
	},
	{
		parameters: { message: '=Until {{ DateTime.fromISO("soon").toFormat("d LLL") }}' },
		message: 'Message holds Invalid DateTime, a date that can’t be read: "Until Invalid DateTime"',
	},
	{
		parameters: { targetUrl: '=https://example.com/{{ "🌷".slice(0, 1) }}' },
		message: 'Target URL was cut in the middle of a character: "https://example.com/\uFFFD"',
	},
	{
		parameters: {
			actionButtons: { button: [{ title: '=See {{ $json.name }}', url: 'https://a.example' }] },
		},
		message:
			'Title of button 1 in Action Buttons has an empty part: {{ $json.name }} gave nothing: "See"',
	},
	{
		parameters: {
			additionalFields: { utmParameters: { parameters: { campaign: '=sale-{{ $json.city }}' } } },
		},
		message: 'Campaign in UTM Parameters has an empty part: {{ $json.city }} gave nothing: "sale-"',
	},
	{
		parameters: {
			operation: 'sendToAttributes',
			attributes: { pairs: [{ name: 'plan', value: "={{ 'pro-' + $json.city }}" }] },
		},
		message:
			'Value of pair 1 in Attributes holds undefined: its expression found no value: "pro-undefined"',
	},
	{
		parameters: {
			operation: 'sendToAttributes',
			specifyAttributes: 'json',
			attributesJson: '={"plan": "{{ $json.plan }}", "city": "Oslo"}',
		},
		message:
			'Attributes (JSON) has an empty part: {{ $json.plan }} gave nothing: "{"plan": "", "city": "Oslo"}"',
	},
	{
		parameters: { operation: 'sendToSegments', segmentIds: '=12, {{ $json.segment }}' },
		message: 'Segment IDs has an empty part: {{ $json.segment }} gave nothing: "12,"',
	},
	{
		parameters: { options: { idempotencyKey: '={{ `order_${$json.id ?? null}` }}' } },
		message: 'Idempotency Key holds null, as if a value were missing: "order_null"',
	},
	{
		parameters: { options: { idempotencyKey: '=order-{{ $json.id }}', allowEmptyParts: true } },
		message: 'Idempotency Key has an empty part: {{ $json.id }} gave nothing: "order-"',
	},
	{
		parameters: { options: { idempotencyKey: '=Order {{ $json.orderId }} is on its way' } },
		message:
			'Idempotency Key has an empty part: {{ $json.orderId }} gave nothing: "Order is on its way"',
	},
	{
		parameters: { options: { idempotencyKey: '=post-{{ ({ id: 1 }) }}' } },
		message:
			'Idempotency Key holds [object Object], which is an object and not a text: "post-[object Object]"',
	},
];

/** The last one is sent: it shows that the nodes in front of it were reached. */
const sent: INodeParameters = {
	title: '={{ "Tulip 🌷🌷".slice(0, 7) }}',
	message: '=You won&#8217;t {{ "believe".trim() }} {{ 1 + 1 }}',
	options: { htmlToText: true },
};

const majors: Major[] = ['2', '1'];

describe.each(majors)('on n8n %s.x', (major) => {
	const stage = useStage({ major });

	test('what nobody meant is sent neither in a manual nor in a production execution', async () => {
		const { client, credential, simulator } = stage();
		const path = randomUUID();
		const usual = {
			operation: 'sendToAll',
			title: 'A',
			message: 'B',
			targetUrl: 'https://a.example',
		};
		const nodes = [...refused.map(({ parameters }) => parameters), sent].map((parameters, index) =>
			pushCampaign(
				{ ...usual, ...parameters },
				{ name: `Push ${index}`, credential, onError: 'continueRegularOutput' },
			),
		);
		const workflow = webhookWorkflow(path, nodes);
		const withManual = {
			...workflow,
			nodes: [...workflow.nodes, node('Manual', 'n8n-nodes-base.manualTrigger')],
		};
		const { id } = await client.createWorkflow(connect(withManual, 'Manual', 'Push 0'));

		const messagesIn = (execution: Execution) =>
			refused.map((_row, index) => outputOf(execution, `Push ${index}`)[0]?.json['error']);
		const expected = refused.map(({ message }): unknown => expect.objectContaining({ message }));
		const body = { title: 'Tulip ', message: 'You won’t believe 2' };

		const manual = await client.runManually(id, 'Manual');
		expect(messagesIn(manual)).toEqual(expected);
		expect(simulator.requests.map(({ json }) => json)).toMatchObject([body]);

		await client.activate(id);
		await client.runWebhook(path, { items: [{}] });
		const [summary] = await client.waitForExecutions({ workflowId: id, count: 2 });
		expect(messagesIn(await client.execution(summary?.id ?? ''))).toEqual(expected);
		expect(simulator.requests.map(({ json }) => json)).toMatchObject([body, body]);
		await client.deactivate(id);
	});
});
