import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { credentialsFor, inputOf, outputOf, push, useSimulator } from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// Texts that look like a mistake and are none. What is refused is in host/notMeant.

const simulator = useSimulator();

const run = async (parameters: INodeParameters, input: INodeExecutionData[] = [{ json: {} }]) =>
	await runWorkflow(chain([push(parameters)]), { credentials: credentialsFor(simulator()), input });

const bodies = () => simulator().requests.map(({ json }) => json);

test('a part may be empty with Allow Empty Parts', async () => {
	const parameters = { title: '=Hello{{ $json.name }}!', options: { allowEmptyParts: true } };
	expect(outputOf(await run(parameters))).toMatchObject([{ title: 'Hello!' }]);
});

test.each([
	{ name: 'the item holds', title: '={{ $json.title }}', item: { title: 'NaN is undefined' } },
	{ name: 'the expression holds', title: "={{ 'NaN is ' + 'undefined' }}", item: {} },
	{ name: 'was entered', title: 'NaN is undefined', item: {} },
])('a word of JavaScript is sent that $name', async ({ title, item }) => {
	await run({ title }, inputOf(item));
	expect(bodies()).toMatchObject([{ title: 'NaN is undefined' }]);
});

test('HTML is sent as plain text with Convert HTML to Text', async () => {
	const text = 'You won&#8217;t <b>believe</b> &amp; more';
	const parameters = {
		title: text,
		message: text,
		additionalFields: { name: text },
		actionButtons: { button: [{ title: text, url: 'https://a.example/?a=1&amp;b=2' }] },
	};
	await run({ ...parameters, options: { htmlToText: true } });
	await run(parameters);
	const plain = 'You won’t believe & more';
	const url = 'https://a.example/?a=1&amp;b=2';
	const sent = (each: string) => ({
		title: each,
		message: each,
		name: each,
		action_buttons: [{ title: each, url }],
	});
	expect(bodies()).toMatchObject([sent(plain), sent(text)]);
});

test('HTML becomes text before its length is judged', async () => {
	await run({ title: `${'<b>a</b>'.repeat(100)}`, options: { htmlToText: true } });
	expect(bodies()).toMatchObject([{ title: 'a'.repeat(100) }]);
});
