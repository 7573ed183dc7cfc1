import type { INodeParameters } from 'n8n-workflow';
import {
	byTitle,
	content,
	continuing,
	credentialsFor,
	database,
	failure,
	failureOf,
	hintsOf,
	inputOf,
	matching,
	outputOf,
	runsAt,
	titled,
	toOne,
	useSimulator,
} from './support/pushCampaign';

const simulator = useSimulator();
const runAt = runsAt(simulator);

const run = async (
	parameters: INodeParameters,
	input = inputOf({}),
	options: INodeParameters = {},
	more = {},
	surroundings = {},
) =>
	await runAt({ ...parameters, options: { dryRun: true, ...options } }, input, more, {
		...{ mode: 'manual' as const },
		...surroundings,
	});
const sends = () => simulator().requests.filter(({ method }) => method === 'POST');

const link = (url: string) => `<a href="${url}" target="_blank">${url}</a>`;
const notification = `<b>Summer sale</b><br>Everything must go<br>${link('https://shop.example.com/sale')}`;

test('a dry run gives the row and the request, without a header, and sends nothing', async () => {
	const done = await run({ additionalFields: { name: 'Spring', sendAt: '2035-05-17T09:30' } });
	const body = {
		title: content.title,
		message: content.message,
		target_url: content.targetUrl,
		name: 'Spring',
		send_at: '2035-05-17 09:30 +02:00',
	};
	const row = {
		audience: 'all',
		title: content.title,
		recipients: 'all subscribers',
		name: 'Spring',
		sendAt: body.send_at,
		dryRun: true,
		request: { method: 'POST', url: `${simulator().url}/v1/notification/send/all`, body },
	};
	expect(outputOf(done)).toStrictEqual([row]);
	expect(Object.keys(outputOf(done)[0] ?? {})).toEqual(Object.keys(row));
	expect(sends()).toEqual([]);
	expect(hintsOf(done)).toEqual([
		`Nothing was sent: this was a dry run.<br>It would go to all 10,000 active subscribers on 17 May 2035 at 09:30, Europe/Berlin:<br>${notification}`,
	]);
});

test('the hint shows the whole link, buttons, and texts as they are, not as HTML', async () => {
	const button = [{ title: 'A & B', url: 'https://shop.example.com/now' }];
	const done = await run({
		...{ operation: 'sendToSubscriber', subscriberId: '5001', title: '<b>Sale</b>' },
		actionButtons: { button },
		additionalFields: { utmParameters: { parameters: { source: 'push' } } },
	});
	const [hint] = hintsOf(done);
	expect(hint).toContain('It would go to subscriber 5001 right away:');
	expect(hint).toContain('<b>&#60;b&#62;Sale&#60;/b&#62;</b>');
	expect(hint).toContain(link('https://shop.example.com/sale?utm_source=push'));
	expect(hint).toContain(`[A &#38; B] ${link('https://shop.example.com/now?utm_source=push')}`);
});

test('several campaigns to all ask for the count once, and the hint says that each goes to all', async () => {
	const done = await run(byTitle, titled('a', 'b', 'c'));
	expect(hintsOf(done)[0]).toContain('3 campaigns, each to all 10,000 active subscribers.');
	expect(simulator().requests.map(({ path }) => path)).toEqual(['/v1/site/subscriber_count']);
});

test('where the count fails, the hint does without', async () => {
	simulator().addFault({ times: 0, action: failure() });
	const done = await run({});
	expect(hintsOf(done)[0]).toContain('It would go to all subscribers right away:');
	expect(outputOf(done)).toMatchObject([{ dryRun: true }]);
	expect(simulator().requests).toHaveLength(1);
});

test('the count is waited for five seconds at most', async () => {
	const timeout = jest.spyOn(AbortSignal, 'timeout');
	await run({});
	expect(timeout.mock.calls).toEqual([[5_000]]);
	timeout.mockRestore();
});

test('nothing is counted for sends to several sites', async () => {
	const { url } = simulator();
	const input = inputOf({ url, title: 'a' }, { url: `${url}/other`, title: 'b' });
	const credentials = credentialsFor(simulator(), { baseUrl: '={{ $json.url }}' });
	const done = await run(byTitle, input, {}, {}, { credentials });
	expect(hintsOf(done)[0]).toContain(
		'2 campaigns, each to all subscribers. The first one, right away:',
	);
	expect(simulator().requests).toEqual([]);
});

test('nothing is counted for another audience', async () => {
	await run({ operation: 'sendToSegments', segmentIds: '12, 34' });
	expect(simulator().requests).toEqual([]);
});

test('what could not be sent does not end it: it comes out with its error, reasons by item', async () => {
	const input = inputOf(
		{ title: 'a', id: 5001 },
		{ title: '', id: 5002 },
		{ title: 'b', id: 'x' },
		{ title: '', id: 5004 },
	);
	const done = await run({ ...byTitle, ...toOne }, input);
	expect(done.status).toBe('success');
	const [first, second, third] = outputOf(done);
	expect(first).toMatchObject({ subscriberId: '5001', dryRun: true, request: { method: 'POST' } });
	expect(second).toMatchObject({
		...{ subscriberId: '5002', audience: 'subscriber', dryRun: true },
		error: {
			message: "'Title': {{ $json.title }} gave nothing",
			type: 'validation',
			outcome: 'notSent',
		},
	});
	const order = ['subscriberId', 'audience', 'title', 'recipients', 'dryRun', 'error'];
	const known = (missing: string) => order.filter((field) => field !== missing);
	expect(Object.keys(second ?? {})).toEqual(known('title'));
	expect(Object.keys(third ?? {})).toEqual(known('recipients'));
	const [hint] = hintsOf(done);
	expect(hint).toContain('3 of 4 items are not valid, so none would be sent:<br>');
	expect(hint).toContain(
		'<br>Items 1 (subscriber 5002), 3 (subscriber 5004), counted from 0: &#39;Title&#39;: {{ $json.title }} gave nothing<br>',
	);
	expect(hint).toContain(
		'Enter digits only, such as 5001.<br>The first one that is valid, right away:<br>',
	);
	expect(hint).toContain('<br>Item 2 (subscriber x): &#39;Subscriber ID&#39; is not a number');
	expect(sends()).toEqual([]);
});

test('with Continue it says how many would be sent', async () => {
	const [hint] = hintsOf(await run(byTitle, titled('a', '', 'b'), {}, continuing));
	expect(hint).toContain('2 of 3 would be sent. The others would not:<br>Item 1, counted from 0: ');
	expect(hint).toContain(
		'2 campaigns, each to all 10,000 active subscribers. The first one, right away:',
	);
});

test('of items with one key the first alone is shown as what would be sent, and no key is asked', async () => {
	const done = await run({}, inputOf({}, {}, {}), { idempotencyKey: 'order-1' });
	const shown = { idempotencyKey: 'order-1', dryRun: true };
	expect(outputOf(done)).toMatchObject([shown, shown, shown]);
	expect(hintsOf(done)).toEqual([
		expect.stringContaining('<br>It would go to all 10,000 active subscribers right away:'),
		'3 items are the same notification: it goes out once.',
	]);
	expect(database.queries).toEqual([]);
});

test('a time that is too near could not be sent', async () => {
	const done = await run({ additionalFields: { sendAt: '2024-05-17T09:30' } });
	const error = { message: matching(/^'Send At' /) };
	expect(outputOf(done)).toMatchObject([{ dryRun: true, error }]);
});

test('of several items the first one has its time, its pictures and each of its buttons in the hint', async () => {
	const done = await run(
		{
			...byTitle,
			actionButtons: {
				button: [
					{ title: 'Now', url: 'https://shop.example.com/now' },
					{ title: 'Later', url: 'https://shop.example.com/later' },
				],
			},
			additionalFields: {
				sendAt: '2035-05-17 09:30',
				iconUrl: 'https://shop.example.com/icon.png',
				imageUrl: 'https://shop.example.com/scarf.jpg',
			},
		},
		titled('a', 'b'),
	);
	expect(hintsOf(done)[0]).toContain(
		[
			'The first one, on 17 May 2035 at 09:30, Europe/Berlin:',
			...['<b>a</b>', content.message, link(String(content.targetUrl))],
			`[Now] ${link('https://shop.example.com/now')}`,
			`[Later] ${link('https://shop.example.com/later')}`,
			`Picture: ${link('https://shop.example.com/scarf.jpg')}`,
			`Icon: ${link('https://shop.example.com/icon.png')}`,
		].join('<br>'),
	);
});

describe('left in outside of the editor', () => {
	const leftIn =
		"'Dry Run' is on, so nothing was sent. Outside of the editor it is refused: it would send nothing, green.";

	test.each(['trigger', 'webhook', 'error', 'cli'])('a dry run is refused: %s', async (mode) => {
		const done = await run(byTitle, titled('a', 'b'), {}, {}, { mode });
		expect(failureOf(done).message).toBe(leftIn);
		expect(failureOf(done).description).toMatch(/^Take 'Dry Run' out of the options\./);
		expect(simulator().requests).toEqual([]);
	});

	test('a dry run is refused with Continue, too, and each row says so', async () => {
		const done = await run({}, inputOf({}), {}, continuing, { mode: 'trigger' });
		expect(outputOf(done)).toMatchObject([{ status: 'notSent', description: leftIn }]);
	});

	test('a dry run by an expression shows, and so does one in a sub-workflow', async () => {
		const byExpression = await run(
			{},
			inputOf({}),
			{ dryRun: '={{ true }}' },
			{},
			{ mode: 'trigger' },
		);
		expect(outputOf(byExpression)).toMatchObject([{ dryRun: true }]);
		const called = await run({}, inputOf({}), {}, {}, { mode: 'integrated' });
		expect(outputOf(called)).toMatchObject([{ dryRun: true }]);
	});
});

test('items that differ in Dry Run are refused', async () => {
	const options = { dryRun: "={{ $json.title === 'a' }}" };
	const done = await run(byTitle, titled('a', 'b', ''), options);
	expect(failureOf(done).message).toBe(
		"'Dry Run' is on for some of the items, and off for others. None of these 3 was sent.",
	);
	expect(simulator().requests).toEqual([]);
});
