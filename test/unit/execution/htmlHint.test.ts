import type { NodeExecutionHint } from 'n8n-workflow';
import { htmlHint } from '../../../nodes/PushCampaign/execution/htmlHint';
import { runItems } from '../../../nodes/PushCampaign/execution/runItems';
import { readSend } from '../../../nodes/PushCampaign/operations/sendFields';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { content, itemOf } from '../operations/support';
import { executeFunctions } from './support';

const send = (parameters: object) => readSend(itemOf({ ...content, ...parameters }), sendToAll);
const bold = send({ title: '<b>Sale</b>' });
const advice =
	'HTML, which subscribers see as it is. To send plain text, add the option Convert HTML to Text.';
const messageOf = (sends: ReadonlyArray<ReturnType<typeof send>>) =>
	htmlHint(new Map(sends.entries())).map(({ message }) => message);

test.each([
	{ name: 'in the title', parameters: { title: 'A<br>B' } },
	{ name: 'in the message', parameters: { message: 'won&#8217;t' } },
	{ name: 'in the name', parameters: { additionalFields: { name: 'A&amp;B' } } },
	{
		name: 'in the title of a button',
		parameters: { actionButtons: { button: [{ title: '<i>A</i>', url: 'https://a.example' }] } },
	},
])('HTML $name is pointed out with the number of its item', ({ parameters }) => {
	expect(messageOf([send({}), send(parameters)])).toEqual([`Item 1 contains ${advice}`]);
});

test('the items are listed, and many of them counted', () => {
	expect(messageOf([bold, send({}), bold])).toEqual([`Items 0, 2 contain ${advice}`]);
	expect(messageOf(Array.from({ length: 13 }, () => bold))).toEqual([
		`Items 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more contain ${advice}`,
	]);
});

test('nothing is said of addresses, of plain text, and of HTML that is converted', () => {
	const targetUrl = 'https://a.example/?a=1&amp;b=2';
	const converted = send({ title: '&amp;lt;', options: { htmlToText: true } });
	expect(messageOf([send({ targetUrl }), converted])).toEqual([]);
});

test.each([
	{ name: 'a run', options: {} },
	{ name: 'a dry run', options: { dryRun: true } },
])('it is said after $name', async ({ options }) => {
	const hints: NodeExecutionHint[] = [];
	const { context } = executeFunctions({
		items: [{ json: { title: 'A' } }, { json: { title: 'A &amp; B' } }],
		parameters: { operation: 'sendToAll', ...content, title: '={{ $json.title }}', options },
		addExecutionHints: (...added) => hints.push(...added),
	});
	await runItems(context);
	expect(hints.map(({ message }) => message)).toContain(`Item 1 contains ${advice}`);
});
