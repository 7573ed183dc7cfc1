import { join } from 'node:path';
import type { IDataObject } from 'n8n-workflow';

import { getStatus } from '../../../nodes/PushCampaign/operations/getStatus';
import type { SendOperation } from '../../../nodes/PushCampaign/operations/operation';
import { sendToAll } from '../../../nodes/PushCampaign/operations/sendToAll';
import { sendToAttributes } from '../../../nodes/PushCampaign/operations/sendToAttributes';
import { sendToSegments } from '../../../nodes/PushCampaign/operations/sendToSegments';
import { sendToSubscriber } from '../../../nodes/PushCampaign/operations/sendToSubscriber';
import { lateness, requireTimezone } from '../../../nodes/PushCampaign/operations/timing';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';
import { expectPage } from '../../support/page';
import { adviceOf, itemOf, prepare, refusalOf } from './support';

// What a person reads of a field that can't be sent, whole, as `refusals.md` has it: read that file aloud. Which values are
// refused, and which are not, is in the other tests.

beforeAll(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1) }));
afterAll(() => jest.useRealTimers());

/** What is entered, and what the input item holds. */
type Row = readonly [entered: object, input?: IDataObject];

const long = (count: number) => 'x'.repeat(count);
const page = 'https://shop.example/sale';
const day = { sendAt: '2030-05-17 22:00' };
const field = (additionalFields: object): Row => [{ additionalFields }];
const option = (options: object, input?: IDataObject): Row => [{ options }, input ?? {}];

const texts: readonly Row[] = [
	[{ title: '' }],
	[{ title: '={{ $json.title }}' }],
	[{ title: true }],
	[{ title: { rendered: 'Sale' } }],
	[{ title: 2 ** 60 }],
	[{ title: long(101) }],
	[{ title: '=={{ $json.title }}' }],
	[{ title: '={{ $json.title.( }}' }],
	[{ title: 'Hello [object Object]' }],
	[{ title: 'Ends Invalid Date' }],
	[{ title: 'MÃ¼nchen' }],
	[{ title: 'M\uFFFDnchen' }],
	[{ title: 'Hello {{ $json.name }}' }],
	[{ title: '={{ $json.title }}' }, { title: 'Hello {{ $name }}' }],
	[{ title: 'NULL' }],
	[{ title: '={{ $json.title }}' }, { title: '#REF!' }],
	[{ message: '=Hi {{ $json.name }}!' }],
	[{ message: '=Hi {{ $json.name }}!' }, { name: 'None' }],
	[{ message: "={{ 'Hi ' + $json.name }}" }],
	[{ message: '=Order {{ $json.id }}' }, { id: 2 ** 60 }],
];

const addresses: readonly Row[] = [
	[{ targetUrl: '' }],
	[{ targetUrl: 'https://shop.example/summer sale' }],
	[{ targetUrl: `${page}/${long(255)}` }],
	[
		{
			targetUrl: `${page}/${long(225)}`,
			additionalFields: { utmParameters: { parameters: { source: 'newsletter' } } },
		},
	],
	field({ iconUrl: 'http://shop.example/icon.png' }),
	[{ actionButtons: { button: [{ title: 'Shop' }] } }],
];

const times: readonly Row[] = [
	field({ sendAt: '' }),
	[{ additionalFields: { sendAt: '={{ $json.when }}' } }, { when: '24.12.2030 09:00' }],
	field({ sendAt: '2573-05-17 09:30' }),
	field({ expireAt: '2030-05-17' }),
	field({ expireAt: '2030-05-17 23:59', expireAfter: {} }),
	field({ expireAfter: { duration: { amount: 0, unit: 'd' } } }),
	field({ expireAfter: { duration: { amount: 1, unit: 'w' } } }),
	field({ sendAtTimezone: 'EST' }),
	field({ ...day, quietHours: { hours: { from: '9 PM', to: '08:00' } } }),
	field({ ...day, quietHours: { hours: { from: '8:00', to: '08:00' } } }),
	field({ autoHide: 'yes' }),
];

const late: readonly Row[] = [
	field({ sendAt: '2030-01-01 00:04' }),
	field({ sendAt: '2029-12-31 23:00' }),
	field({ expireAt: '2030-01-01 00:00' }),
	field({ ...day, expireAt: '2030-05-17 22:00' }),
];

const options: readonly Row[] = [
	option({ dryRun: '={{ $json.test }}' }),
	option({ timeout: 0 }),
	option({ idempotencyKey: '' }),
	option({ idempotencyKey: '={{ $json.id }}' }),
	option({ idempotencyKey: '={{ $now.toISODate() }}' }),
	option({ idempotencyKey: '={{ $json.id }}' }, { id: 'or\u200Bder' }),
];

const segments: readonly Row[] = [
	[{ segmentIds: '' }],
	[{ segmentIds: 'News readers' }],
	[{ segmentIds: '12 34' }],
	[{ segmentIds: 2 ** 60 }],
];

const subscribers: readonly Row[] = [[{ subscriberId: '5001, 5002' }], [{ subscriberId: 'me' }]];

const pairs = (...some: object[]): Row => [{ attributes: { pairs: some } }];
const json = (attributesJson: unknown, input?: IDataObject): Row => [
	{ specifyAttributes: 'json', attributesJson },
	input ?? {},
];

const attributes: readonly Row[] = [
	pairs(),
	pairs({ name: 'plan', value: '' }),
	pairs({ name: 'plan', value: 'pro' }, { name: 'plan', value: 'free' }),
	json('plan=pro'),
	json('["plan"]'),
	json({ plan: ['pro'] }),
	json('={"plan": "{{ $json.plan }}"}', { plan: 'pro", "vip": "yes' }),
	[{ specifyAttributes: 'both' }],
];

const campaigns: readonly Row[] = [[{ campaignId: '1001, 1002' }], [{ campaignId: '..' }]];

type Reading = (row: Row) => unknown;

/** A row: what was entered, and what a person reads. */
function tell([entered, input = {}]: Row, read: Reading): string {
	const reading = () => read([entered, input]);
	const item = Object.keys(input).length === 0 ? '' : `, of the item ${JSON.stringify(input)}`;
	const written = JSON.stringify(entered).replace(/x{20,}/g, 'xx…');
	const message = refusalOf(reading).replace(/x{20,}/g, 'xx…');
	return `**${message}**\n${adviceOf(reading)}\n— ${written}${item}`;
}

const sending =
	(operation: SendOperation) =>
	([entered, input = {}]: Row) =>
		prepare(entered, { input }, operation);

function tellAll(heading: string, rows: readonly Row[], read: Reading = sending(sendToAll)) {
	return [`## ${heading}`, ...rows.map((row) => tell(row, read))].join('\n\n');
}

/** What is read, and then looked at with the clock. */
function beLate([entered, input = {}]: Row): never {
	const problem = lateness(prepare(entered, { input }).timing, Date.now());
	throw new InvalidInput(problem?.message ?? '', problem?.fix ?? '');
}

test('each reason why an item can’t be sent, and what to do, is as refusals.md has it', () => {
	const told = [
		'# What a person reads of an item that can’t be sent',
		tellAll('Texts', texts),
		tellAll('Addresses', addresses),
		tellAll('Times and switches', times),
		tellAll('What is too late', late, beLate),
		tellAll('Options', options),
		tellAll('Segments', segments, sending(sendToSegments)),
		tellAll('Subscribers', subscribers, sending(sendToSubscriber)),
		tellAll('Attributes', attributes, sending(sendToAttributes)),
		tellAll('Campaigns', campaigns, ([entered]) => getStatus.prepare(itemOf(entered))),
		tellAll('The workflow', [[{ timezone: 'Mars/Base' }]], () => requireTimezone('Mars/Base')),
	].join('\n\n');
	expectPage(join(__dirname, 'refusals.md'), `${told}\n`);
});
