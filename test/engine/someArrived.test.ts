import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
	byTitle,
	faultFor,
	lost,
	outputOf,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';

// Of several items that are unknown, only some arrived: docs/reliability.md gives an expression for that.

const simulator = useSimulator();
const run = runsAt(simulator);
const retry = retriesAt(simulator);

/** The expression of the page, for an item 2 in place of the page's own. */
function expressionOfPage(): string {
	const page = readFileSync(join(__dirname, '../../docs/reliability.md'), 'utf8');
	const [expression = ''] = /\{\{ .*\$itemIndex.* \}\}/.exec(page) ?? [];
	return `=${expression.replace(/\[.*?\]/, '[2]')}`;
}

test.each([
	{ what: 'without an ID', options: {} },
	{ what: 'with an ID', options: { idempotencyKey: '={{ $json.title }}' } },
])(
	'of what is unknown, a Retry $what sends the items again that the expression of the page lists, and no other',
	async ({ options }) => {
		simulator().addFault(faultFor('arrived', lost));
		simulator().addFault(faultFor('missing', { kind: 'reset-before' }));
		const input = titled('first', 'arrived 1', 'missing', 'arrived 2', 'last');
		const failed = await run({ ...byTitle, options }, input);
		simulator().clearFaults();
		simulator().requests.length = 0;
		const unknownOutcome = expressionOfPage();
		const retried = await retry(failed, { ...byTitle, options: { ...options, unknownOutcome } });
		expect(titlesAt(simulator())).toEqual(['missing']);
		expect(outputOf(retried).map(({ status }) => status)).toEqual([
			...['success', 'alreadySent', 'success', 'alreadySent', 'success'],
		]);
	},
);
