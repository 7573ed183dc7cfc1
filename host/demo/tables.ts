import { DateTime } from 'luxon';
import type { DataTable } from '../n8n/dataTables';
import { demoCampaignId, demoTitle } from './campaign';

const texts = (...names: string[]): DataTable['columns'] =>
	Object.fromEntries(names.map((name) => [name, 'string']));

/**
 * The data tables that the examples read and write, filled so that each of them has something to do.
 *
 * @param now epoch milliseconds
 * @param campaignSince when the demo campaign went out, epoch milliseconds
 * @param timezone IANA name, for the calendar
 */
export function demoTables(now: number, campaignSince: number, timezone: string): DataTable[] {
	const at = (hours: number) =>
		DateTime.fromMillis(now, { zone: timezone })
			.plus({ hours })
			.startOf('hour')
			.toFormat('yyyy-MM-dd HH:mm');
	const planned = (title: string, message: string, hours: number) => ({
		title,
		message,
		url: 'https://example.com/sale',
		sendAt: at(hours),
		timezone,
	});
	return [
		{
			name: 'Push subscribers',
			columns: texts('subscriberId', 'firstName', 'orderId'),
			rows: [
				{ subscriberId: '5001', firstName: 'Ada', orderId: 'A-1001' },
				{ subscriberId: '5002', firstName: 'Grace', orderId: 'A-1002' },
				// Nobody has this ID, so that the second table gets a row, too.
				{ subscriberId: '4711', firstName: 'Charles', orderId: 'A-1003' },
				{ subscriberId: '5003', firstName: 'Alan', orderId: 'A-1004' },
			],
		},
		{
			name: 'Push not sent',
			columns: texts('subscriberId', 'outcome', 'reason'),
		},
		{
			name: 'Push campaign calendar',
			columns: texts('title', 'message', 'url', 'sendAt', 'timezone', 'state', 'campaignId'),
			rows: [
				planned('The sale starts today', '20% off everything until Sunday.', 6),
				planned('Last day of the sale', 'Until midnight: 20% off everything.', 6 * 24),
			],
		},
		{
			name: 'Push campaign log',
			columns: {
				...texts('campaignId', 'title', 'name', 'audience'),
				goesOutAt: 'date',
				status: 'string',
				successfullySent: 'number',
				delivered: 'number',
				clicked: 'number',
				clickRate: 'number',
				alerted: 'boolean',
			},
			rows: [
				{
					campaignId: demoCampaignId,
					title: demoTitle,
					name: 'Demo campaign',
					audience: 'all',
					goesOutAt: new Date(campaignSince).toISOString(),
					status: 'sent',
					alerted: false,
				},
			],
		},
	];
}
