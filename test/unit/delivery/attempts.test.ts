import { failedAttempt, readAttempt } from '../../../nodes/PushCampaign/delivery/attempts';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
import {
	connectionLostProblem,
	failureProblem,
	noConnectionProblem,
	refusedProblem,
	unusableProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput } from '../../../nodes/PushCampaign/service/thrown';

const requested = { isSend: false };
const failure = (type: string, statusCode = 200) =>
	failureProblem({ type, description: 'No' }, { statusCode }, requested);
const page = (statusCode: number) => unusableProblem({ statusCode }, false, requested);

const refused = failureProblem(
	{ type: 'rate_limit', description: '' },
	{ statusCode: 200, retryAfterMs: 7_000 },
	requested,
);

test.each<{ name: string; problem: Problem; read: object; send: object }>([
	{
		name: 'a refusal that names its reason',
		problem: failure('invalid_value'),
		read: { then: 'stop', isAccepted: true },
		send: { then: 'stop', isAccepted: true },
	},
	{
		name: 'a refusal without a reason',
		problem: failure(''),
		read: { then: 'again' },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'a lost connection',
		problem: connectionLostProblem(requested),
		read: { then: 'again' },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'the page of a gateway',
		problem: page(503),
		read: { then: 'again' },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'no connection',
		problem: noConnectionProblem('push.example', { reason: 'host not found' }),
		read: { then: 'stop', isAccepted: false },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'the page of another address',
		problem: refusedProblem(404),
		read: { then: 'stop', isAccepted: false },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'what was not even asked',
		problem: validationProblem(new InvalidInput('x', 'y')),
		read: { then: 'stop', isAccepted: false },
		send: { then: 'stop', isAccepted: false },
	},
	{
		name: 'too many requests without a pause that it asks for',
		problem: failure('rate_limit'),
		read: { then: 'refused', retryAfterMs: 0 },
		send: { then: 'refused', retryAfterMs: 0 },
	},
	{
		name: 'too many requests',
		problem: refused,
		read: { then: 'refused', retryAfterMs: 7_000 },
		send: { then: 'refused', retryAfterMs: 7_000 },
	},
])(
	'$name ends a send, and lets a read be made again if it may succeed then',
	({ problem, read, send }) => {
		const result = { answered: false, problem } as const;
		expect(readAttempt(result)).toEqual({ ...read, outcome: result });
		expect(failedAttempt('failed', problem)).toEqual({ ...send, outcome: 'failed' });
	},
);

test('an answer to a read shows that the service takes requests', () => {
	const result = { answered: true, value: 7, raw: '7' } as const;
	expect(readAttempt(result)).toEqual({ then: 'end', outcome: result, isAccepted: true });
});
