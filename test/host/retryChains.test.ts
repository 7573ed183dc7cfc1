import { credentialType, type Major } from '../../host';
import { startSimulator, type Fault } from '../../simulator';
import { secrets, useStage } from './support';
import {
	acceptedTitles,
	endsOf,
	failureOf,
	repeated,
	sendWorkflow,
	sentItems,
	titled,
} from './support/reliabilityWorkflow';

const majors: Major[] = ['2', '1'];

const titlesOf = (name: string, count: number) => titled(name, count).map(({ title }) => title);

const forTitle = (title: string, action: Fault['action']): Fault => ({
	match: { method: 'POST', path: '/send/', bodyIncludes: `"${title}"` },
	action,
});
const refusal = (title: string) =>
	forTitle(title, { kind: 'failure', description: 'Something went wrong' });
const lostAnswer = (title: string) => forTitle(title, { kind: 'reset-after' });

describe.each(majors)("'Retry' in the executions list of n8n %s.x", (major) => {
	const stage = useStage({ major });

	/** An execution that sent the first two of five items and failed at the third. */
	const failAtThird = async (name: string) => {
		const workflow = await sendWorkflow(stage(), { options: { maxParallel: 1 } });
		stage().simulator.addFault(refusal(`${name} 3`));
		const failed = await workflow.run(titled(name, 5));
		expect(failed.status).toBe('error');
		expect(acceptedTitles(stage())).toEqual(titlesOf(name, 2));
		return { workflow, failed };
	};

	test.each([
		['the first execution retried again sends nothing of what its first Retry sent', 0],
		['the same after 250 other executions', 250],
	])('%s', async (_name, others) => {
		const { failed } = await failAtThird('Chain');
		stage().simulator.addFault(refusal('Chain 4'));
		const second = await stage().client.retryExecution(failed.id);
		expect(second.status).toBe('error');
		const other = await sendWorkflow(stage());
		for (let done = 0; done < others; done += 50) {
			await Promise.all(titled('Other', 50).map(async (item) => await other.call([item])));
		}

		const third = await stage().client.retryExecution(failed.id);
		expect(third.status).toBe('success');
		const sent = [...stage().simulator.campaigns.values()].filter(({ body }) =>
			String(body['title']).startsWith('Chain'),
		);
		expect(sent.map(({ body }) => body['title'])).toEqual(titlesOf('Chain', 5));
		expect(sentItems(third).map((item) => item['campaignId'])).toEqual(sent.map(({ id }) => id));
	});

	// From here on all is this node's, whatever version brings its ledger back.
	if (major === '1') return;

	test('the first execution retried again keeps what its first Retry left unknown', async () => {
		const { failed } = await failAtThird('Unknown');
		stage().simulator.addFault(lostAnswer('Unknown 4'));
		const second = await stage().client.retryExecution(failed.id);
		expect(second.status).toBe('error');
		expect(failureOf(second).message).toContain('It is unknown whether this was sent');

		const third = await stage().client.retryExecution(failed.id);
		expect(third.status).toBe('error');
		expect(failureOf(third).message).toBe(failureOf(second).message);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Unknown', 5));
	});

	test('a chain of Retries of whichever execution sends every item once', async () => {
		const { failed } = await failAtThird('Long');
		stage().simulator.addFault(refusal('Long 4'));
		const second = await stage().client.retryExecution(failed.id);
		stage().simulator.addFault(refusal('Long 5'));
		const third = await stage().client.retryExecution(failed.id);
		expect(third.status).toBe('error');
		const fourth = await stage().client.retryExecution(second.id);
		expect(fourth.status).toBe('success');
		expect(endsOf(sentItems(fourth))).toHaveLength(5);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Long', 5));
	});

	test('two Retries of one execution at once send every item once', async () => {
		const { failed } = await failAtThird('Both');
		stage().simulator.setLatency(300);
		const [one, other] = await Promise.all([
			stage().client.retryExecution(failed.id),
			stage().client.retryExecution(failed.id),
		]);
		expect(repeated(acceptedTitles(stage()))).toEqual([]);
		expect([one.status, other.status]).toContain('success');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Both', 5));
	});

	test("what went to one site goes out again to another that the user chooses before 'Retry'", async () => {
		const other = await startSimulator({
			serviceKey: 'other-key',
			authToken: 'other-token',
			lifeSpeed: 0,
		});
		try {
			const { workflow, failed } = await failAtThird('Site');
			const credential = await stage().client.createCredential('Other site', credentialType, {
				baseUrl: other.url,
				apiKey: 'other-key',
				authToken: 'other-token',
			});
			await workflow.change({ credential });
			const retried = await stage().client.retryExecution(failed.id, { loadWorkflow: true });
			expect(retried.status).toBe('success');
			expect(acceptedTitles({ simulator: other })).toEqual(titlesOf('Site', 5));
			expect(acceptedTitles(stage())).toEqual(titlesOf('Site', 2));
		} finally {
			await other.close();
		}
	});

	test('a new key in the same credential is the same site', async () => {
		const { failed } = await failAtThird('Renewed');
		stage().simulator.configure({ serviceKey: 'renewed-key' });
		const { credential, simulator } = stage();
		const data = { baseUrl: simulator.url, ...secrets };
		await stage().client.updateCredential(credential, { ...data, apiKey: 'renewed-key' });
		try {
			const retried = await stage().client.retryExecution(failed.id);
			expect(retried.status).toBe('success');
			expect(acceptedTitles(stage())).toEqual(titlesOf('Renewed', 5));
		} finally {
			await stage().client.updateCredential(credential, data);
		}
	});
});
