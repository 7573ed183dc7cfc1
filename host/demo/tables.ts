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
	const dayAgo = (days: number) =>
		DateTime.fromMillis(now, { zone: timezone }).minus({ days }).toFormat('yyyy-MM-dd');
	const planned = (title: string, message: string, hours: number) => ({
		title,
		message,
		url: 'https://example.com/sale',
		sendAt: at(hours),
		timezone,
	});
	return [
		{
			name: 'Push shipped orders',
			columns: texts('orderId', 'subscriberId', 'firstName'),
			rows: [
				{ orderId: 'A-1001', subscriberId: '5001', firstName: 'Ada' },
				{ orderId: 'A-1002', subscriberId: '5002', firstName: 'Grace' },
				// Nobody has this ID, so that the second table gets a row, too.
				{ orderId: 'A-1003', subscriberId: '4711', firstName: 'Charles' },
				{ orderId: 'A-1004', subscriberId: '5003', firstName: 'Alan' },
			],
		},
		{
			name: 'Push not sent',
			columns: texts('orderId', 'subscriberId', 'firstName', 'outcome', 'reason'),
		},
		{
			name: 'Push morning subscribers',
			columns: texts('subscriberId', 'firstName', 'timezone'),
			rows: [
				{ subscriberId: '5001', firstName: 'Ada', timezone: 'Europe/London' },
				{ subscriberId: '5002', firstName: 'Grace', timezone: 'America/New_York' },
				{ subscriberId: '5003', firstName: 'Alan', timezone: 'Pacific/Auckland' },
			],
		},
		{ name: 'Push title tests', columns: texts('week', 'title', 'campaignId') },
		{
			name: 'Push subscriber counts',
			columns: { day: 'string', active: 'number', total: 'number' },
			rows: [
				{ day: dayAgo(7), active: 9810, total: 12_230 },
				{ day: dayAgo(1), active: 9985, total: 12_480 },
			],
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
