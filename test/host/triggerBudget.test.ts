import { useStage } from './support';
import {
	allExecutions,
	changesOf,
	countersOf,
	emissionsBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
	untilErrors,
	useWatches,
} from './support/reliabilityEvents';
import { durableVariables, watchWorkflow } from './support/reliabilityWorkflow';

const trigger = 'Trigger';
/** Polls that take as long as these do must not be so many that all are in flight at once. */
const pollSeconds = 30;

const engines = [
	{ engine: 'durable', env: durableVariables },
	{ engine: 'classic', env: {} },
];

describe.each(engines)('a poll in the $engine engine', ({ env }) => {
	const stage = useStage({ env });
	const { add, addCampaigns } = useWatches(stage);

	test('the events of 200 campaigns arrive in time though forty hang and one fails', async () => {
		const { client, simulator } = stage();
		const ids = addCampaigns(200);
		const hanging = ids.slice(0, 40);
		const [failing = '', ...good] = ids.slice(40);
		const id = await add(watchWorkflow(stage().credential, ids, [trigger], pollSeconds));
		await untilCaughtUp(stage(), id, ids);
		const [known] = await client.executions({ workflowId: id });

		for (const campaignId of hanging) {
			simulator.addFault({
				match: { path: `/id/${campaignId}` },
				times: 0,
				action: { kind: 'hang', process: false },
			});
		}
		simulator.removeCampaign(failing);
		moveCounters(stage(), good);
		await untilCaughtUp(stage(), id, good, trigger, 200_000);

		const [emissions = []] = await emissionsBy(stage(), id, [trigger]);
		for (const campaignId of good) {
			expect(changesOf(emissions.flat(), campaignId)).toEqual(countersOf(stage(), campaignId));
		}
		const later = (await allExecutions(client, { workflowId: id, status: ['success'] })).filter(
			(execution) => Number(execution.id) > Number(known?.id),
		);
		expect(later).toHaveLength(emissions.length - 1);
		await untilErrors(stage(), id, 1);
		expect(await errorsOf(stage(), id)).toEqual([
			expect.stringMatching(`^Campaign ${hanging} can't be read: .* Campaign ${failing} can't be`),
		]);
		expect(stage().server.log()).not.toContain('Poll exceeded its timeout');
	}, 400_000);
});
