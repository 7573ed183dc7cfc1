import { afterRefusal, refusalPauseMs } from '../../../nodes/PushCampaign/delivery/retry';
import { refusal } from './support';

interface Row {
	readonly name: string;
	readonly ofJob: number;
	readonly inARow: number;
	readonly isAlone: boolean;
	readonly rateLimitRetries: number;
	/** The shortest that chance makes it, in milliseconds. */
	readonly pauseMs: number;
	readonly then: ReturnType<typeof afterRefusal>;
}

const alone = { isAlone: true, rateLimitRetries: 8 };

test.each<Row>([
	{
		name: 'pauses for as long as its refusals in a row say',
		...{ ofJob: 2, inARow: 2, ...alone, pauseMs: 900, then: 'requeue' },
	},
	{
		name: 'pauses longer and longer at its last five retries, even if others were accepted',
		...{ ofJob: 7, inARow: 1, ...alone, pauseMs: 14_400, then: 'requeue' },
	},
	{
		name: 'pauses longer with each refusal if it has fewer than five retries',
		...{ ofJob: 3, inARow: 1, ...alone, rateLimitRetries: 3, pauseMs: 3_600, then: 'requeue' },
	},
	{
		name: 'pauses for as long as the refusals in a row say if other jobs go ahead of it',
		...{ ofJob: 7, inARow: 1, ...alone, isAlone: false, pauseMs: 225, then: 'requeue' },
	},
	{
		name: 'does not pause after a refusal that says nothing yet',
		...{ ofJob: 8, inARow: 0, ...alone, pauseMs: 0, then: 'requeue' },
	},
	{
		name: 'fails after its last retry if others may still be accepted',
		...{ ofJob: 9, inARow: 1, ...alone, isAlone: false, pauseMs: 225, then: 'fail' },
	},
	{
		name: 'fails after its last retry if the refusal says nothing yet',
		...{ ofJob: 9, inARow: 0, ...alone, pauseMs: 0, then: 'fail' },
	},
	{
		name: 'lets the run give up after its last retry if it is alone',
		...{ ofJob: 9, inARow: 1, ...alone, pauseMs: 57_600, then: 'giveUp' },
	},
])('a job that was refused for too many requests $name', ({ pauseMs, then, ...row }) => {
	const { ofJob, inARow, isAlone, rateLimitRetries } = row;
	const refused = { problem: refusal(), ofJob, inARow, isAlone };
	const limits = { rateLimitRetries, transientRetries: 0 };
	expect(refusalPauseMs(refused, limits, 0)).toBe(pauseMs);
	expect(afterRefusal(refused, limits)).toBe(then);
});
