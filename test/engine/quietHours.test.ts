import {
	credentialsFor,
	inputOf,
	isObject,
	outputOf,
	push,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// Quiet Hours across the tries of one execution: n8n keeps what was sent, and the clock goes on meanwhile.

const simulator = useSimulator();

/** Sets the clock by how many requests the service has seen. */
const clock = (...times: string[]) =>
	jest.spyOn(Date, 'now').mockImplementation(() => {
		const time = times[Math.min(simulator().requests.length, times.length - 1)];
		return Date.parse(`${time}+01:00`);
	});
afterEach(() => jest.restoreAllMocks());

const workflow = () =>
	chain(
		[
			push(
				{
					additionalFields: { quietHours: { hours: { from: '21:00', to: '08:00' } } },
					options: { maxParallel: 1 },
				},
				{ retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
			),
		],
		{ timezone: 'Europe/Berlin' },
	);
const run = async (items: number) =>
	await runWorkflow(workflow(), {
		credentials: credentialsFor(simulator()),
		input: inputOf(...Array.from({ length: items }, () => ({}))),
	});
const timesSent = () =>
	simulator().requests.map(({ json }) => (isObject(json) ? json['send_at'] : undefined));

const morning = '2099-01-16 08:00 +01:00';

test('a retry after quiet hours does not send again what was scheduled for their end', async () => {
	clock('2099-01-15T22:00', '2099-01-15T22:00', '2099-01-16T08:30');
	simulator().addFault({ skip: 1, times: 1, action: { kind: 'failure', description: 'No luck' } });
	const [first, second] = outputOf(await run(2));
	// The first item is accepted, the second is refused, and only the second is sent again.
	expect(timesSent()).toEqual([morning, morning, undefined]);
	expect(first).toMatchObject({ campaignId: '1001', sendAt: morning });
	expect(second).toMatchObject({ campaignId: '1002', status: 'success' });
	expect(second).not.toHaveProperty('sendAt');
});

test('an item that waits for a rate limit until quiet hours begin is scheduled for their end', async () => {
	clock('2099-01-15T20:59', '2099-01-15T21:00');
	simulator().addFault({
		times: 1,
		action: { kind: 'failure', type: 'rate_limit', description: 'Slow down' },
	});
	const done = await run(1);
	expect(timesSent()).toEqual([undefined, morning]);
	expect(outputOf(done)).toMatchObject([{ sendAt: morning }]);
});
