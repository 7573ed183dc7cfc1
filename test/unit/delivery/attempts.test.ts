import { readAttempt, toAttempt } from '../../../nodes/PushCampaign/delivery/attempts';
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

const accepted = { then: 'stop', isAccepted: true } as const;
const ended = { then: 'stop', isAccepted: false } as const;
const again = { then: 'again' } as const;
const pause = (retryAfterMs: number) => ({ then: 'refused', retryAfterMs }) as const;

test.each<[name: string, problem: Problem, send: object, read: object]>([
	['a refusal that names its reason', failure('invalid_value'), accepted, accepted],
	['a refusal without a reason', failure(''), ended, again],
	['a lost connection', connectionLostProblem(requested), ended, again],
	['the page of a gateway', page(503), ended, again],
	[
		'no connection',
		noConnectionProblem('push.example', { reason: 'host not found' }),
		ended,
		ended,
	],
	['the page of another address', refusedProblem(404), ended, ended],
	['what was not even asked', validationProblem(new InvalidInput('x', 'y')), ended, ended],
	['too many requests', failure('rate_limit'), pause(0), pause(0)],
	['too many requests with Retry-After', refused, pause(7_000), pause(7_000)],
])(
	'%s ends a send, and lets a read be made again if it may succeed then',
	(_name, problem, send, read) => {
		const result = { answered: false, problem } as const;
		expect(readAttempt(result)).toEqual({ ...read, outcome: result });
		expect(toAttempt('failed', problem)).toEqual({ ...send, outcome: 'failed' });
	},
);

test('an answer to a read shows that the service takes requests', () => {
	const result = { answered: true, value: 7, raw: '7' } as const;
	expect(readAttempt(result)).toEqual({ then: 'end', outcome: result, isAccepted: true });
});
