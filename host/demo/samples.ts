import { DateTime } from 'luxon';
import type { Simulator } from '../../simulator';
import type { Row } from '../n8n/dataTables';

/** It began to go out so long before the first start, so that there are numbers to see at once. */
const headStartMs = 6 * 3_600_000;

/** Slow enough that something moves nearly every minute for days. */
const speed = 1 / 2000;

/**
 * Puts the campaign that the demo's trigger watches into a simulator that has none.
 *
 * @param since the demo's first start, in milliseconds since 1970
 */
export function addDemoCampaign(simulator: Simulator, since: number): void {
	if (simulator.campaigns.has('1001')) return;
	simulator.addCampaign({
		id: '1001',
		dueAt: since - headStartMs,
		speed,
		body: {
			title: 'Autumn sale: 20% off everything',
			message: 'Only this week, in the shop and online. Have a look before your size is gone.',
			target_url: 'https://example.com/sale',
			name: 'Demo campaign',
		},
	});
}

/** What a user writes into the examples before the first run: it is empty in the files, so that nothing is sent before. */
const written = {
	title: 'Hello from n8n',
	message: 'This notification was sent by a workflow.',
	targetUrl: 'https://example.com/hello',
	testSubscriberId: '5001',
};

/** Fills in what is empty in the text of an example, and says in its note that this is done. */
export function fillIn(example: string): string {
	const noted = example.replace(
		/\*\*Before you (?:run|publish) it\*\*/,
		'$& (in this demo the credential is chosen, and samples are filled in)',
	);
	return Object.entries(written).reduce(
		(text, [name, value]) => text.replaceAll(`"${name}": ""`, `"${name}": "${value}"`),
		noted,
	);
}

/** Rows for the data tables of the examples, by the tables' names, so that each example has something to do. */
export function sampleRows(now: number, timezone: string): Record<string, Row[]> {
	const inHours = (hours: number) =>
		DateTime.fromMillis(now, { zone: timezone })
			.plus({ hours })
			.startOf('hour')
			.toFormat('yyyy-MM-dd HH:mm');
	const plan = { url: 'https://example.com/sale', timezone, state: 'ready' };
	return {
		'Push shipped orders': [
			{ orderId: 'A-1001', subscriberId: '5001', firstName: 'Ada' },
			{ orderId: 'A-1002', subscriberId: '5002', firstName: 'Grace' },
			// Nobody has this ID, so that one row is not sent.
			{ orderId: 'A-1003', subscriberId: '4711', firstName: 'Charles' },
			{ orderId: 'A-1004', subscriberId: '5003', firstName: 'Alan' },
		],
		'Push campaign calendar': [
			{
				...plan,
				title: 'The sale starts today',
				message: '20% off everything until Sunday.',
				sendAt: inHours(6),
			},
			{
				...plan,
				title: 'Last day of the sale',
				message: 'Until midnight: 20% off everything.',
				sendAt: inHours(6 * 24),
			},
		],
	};
}
