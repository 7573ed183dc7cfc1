import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeParameters } from 'n8n-workflow';
import {
	credentialsFor,
	faultFor,
	outputOf,
	titled,
	titlesAt,
	useDatabase,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { retryRun, runWorkflow } from './support/run';

// Of several items that are unknown, only some arrived: docs/reliability.md gives an expression for that.

const simulator = useSimulator();
useDatabase();

/** The expression of the page, for an item 2 in place of the page's own. */
function expressionOfPage(): string {
	const page = readFileSync(join(__dirname, '../../docs/reliability.md'), 'utf8');
	const [expression = ''] = /\{\{ .*\$itemIndex.* \}\}/.exec(page) ?? [];
	return `=${expression.replace(/\[.*?\]/, '[2]')}`;
}

/** Five sends, of which two arrived although they are unknown, and one did not. */
async function leaveUnknown(options: INodeParameters) {
	simulator().addFault(faultFor('arrived 1', { kind: 'reset-after' }));
	simulator().addFault(faultFor('lost', { kind: 'reset-before' }));
	simulator().addFault(faultFor('arrived 2', { kind: 'reset-after' }));
	const input = titled('first', 'arrived 1', 'lost', 'arrived 2', 'last');
	const failed = await runWorkflow(workflow(options), { ...credentials(), input });
	simulator().clearFaults();
	simulator().requests.length = 0;
	return failed;
}
const credentials = () => ({ credentials: credentialsFor(simulator()) });
const workflow = (options: INodeParameters) => workflowOf({ title: '={{ $json.title }}', options });

test.each([
	{ what: 'without an ID', options: {} },
	{ what: 'with an ID', options: { idempotencyKey: '={{ $json.title }}' } },
])(
	'of what is unknown, a Retry $what sends the items again that the expression of the page lists, and no other',
	async ({ options }) => {
		const failed = await leaveUnknown(options);
		const unknownOutcome = expressionOfPage();
		const retried = await retryRun(failed, workflow({ ...options, unknownOutcome }), credentials());
		expect(titlesAt(simulator())).toEqual(['lost']);
		expect(outputOf(retried).map(({ status }) => status)).toEqual([
			...['success', 'alreadySent', 'success', 'alreadySent', 'success'],
		]);
	},
);
