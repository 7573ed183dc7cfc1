import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, outputOf, type Major } from '../../host';
import { startSimulator, type Fault } from '../../simulator';
import { startBed, type Bed } from './support/reliabilityBed';
import {
	acceptedTitles,
	failureOf,
	sender,
	sendWorkflow,
	titled,
} from './support/reliabilityWorkflow';

const send = { method: 'POST', path: '/send/' };
const lostAnswer: Fault = { match: send, action: { kind: 'reset-after' } };
const serverTrouble: Fault = {
	match: send,
	action: { kind: 'failure', description: 'Something went wrong' },
};
const majors: Major[] = ['2', '1'];

const text = (title: string) => title;

describe.each(majors)('sends on n8n %s.x', (major) => {
	let bed: Bed;

	beforeAll(async () => {
		bed = await startBed({ major });
	});
	beforeEach(() => {
		bed.simulator.reset();
	});
	afterAll(async () => {
		await bed.close();
	});

	test('a lost answer is unknown, and is sent again only with Resend Unknown', async () => {
		const workflow = await sendWorkflow(bed, { settings: { retryOnFail: true, maxTries: 3 } });
		bed.simulator.addFault(lostAnswer);

		const failed = await workflow.run([{ title: 'Sale' }]);
		expect(failed.status).toBe('error');
		expect(failureOf(failed).message).toContain('It is unknown whether this was sent');
		expect(failureOf(failed).description).toContain('Sent: 0, not sent: 0, unknown: 1.');

		const retried = await bed.n8n.retryExecution(failed.id);
		expect(retried.status).toBe('error');
		expect(failureOf(retried)).toEqual(failureOf(failed));
		expect(acceptedTitles(bed)).toEqual(['Sale']);

		await workflow.change({ options: { resendUnknown: true } });
		const resent = await bed.n8n.retryExecution(retried.id, { loadWorkflow: true });
		expect(resent.status).toBe('success');
		expect(acceptedTitles(bed)).toEqual(['Sale', 'Sale']);
	});

	test('Retry of a half sent batch sends the rest', async () => {
		const workflow = await sendWorkflow(bed, { options: { maxParallel: 1 } });
		bed.simulator.addFault({ ...serverTrouble, skip: 5 });

		const failed = await workflow.run(titled('Batch', 10));
		expect(failed.status).toBe('error');
		expect(failureOf(failed).description).toContain(
			'Sent: 5, not sent: 5, unknown: 0. First to fail: item 5.',
		);
		const firstIds = [...bed.simulator.campaigns.keys()];
		expect(firstIds).toHaveLength(5);

		const retried = await bed.n8n.retryExecution(failed.id);
		expect(retried.status).toBe('success');
		expect(acceptedTitles(bed)).toEqual(titled('Batch', 10).map(({ title }) => text(title)));
		const ids = outputOf(retried, sender).map(({ json }) => json['campaignId']);
		expect(ids.slice(0, 5)).toEqual(firstIds);
		expect(new Set(ids).size).toBe(10);
	});
});
