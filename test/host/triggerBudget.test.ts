import { until } from '../../host';
import { useStage } from './support';
import {
	allExecutions,
	changesOf,
	countersOf,
	emissionsBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
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

	test('the events of 200 campaigns arrive though forty hang and one fails', async () => {
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
		// What hangs is never answered: only a poll that gives it up can emit.
		await untilCaughtUp(stage(), id, good);

		const [emissions = []] = await emissionsBy(stage(), id, [trigger]);
		for (const campaignId of good) {
			expect(changesOf(emissions.flat(), campaignId)).toEqual(countersOf(stage(), campaignId));
		}
		// An emission is there as soon as its execution runs.
		const succeededLater = async () =>
			(await allExecutions(client, { workflowId: id, status: ['success'] })).filter(
				(execution) => Number(execution.id) > Number(known?.id),
			);
		const later = await until(succeededLater, ({ length }) => length >= emissions.length - 1, {
			within: 300_000,
			every: 1000,
			late: ({ length }) => `${length} of ${emissions.length - 1} executions succeeded`,
		});
		expect(later).toHaveLength(emissions.length - 1);
		// A poll does not get to all that hang, so they may be reported one after another. Each is, once.
		const reportsOf = async () => {
			const words = (await errorsOf(stage(), id)).join(' ').split(/\W+/);
			return [failing, ...hanging].map((each) => words.filter((word) => word === each).length);
		};
		const reports = await until(reportsOf, (counts) => counts.every((count) => count > 0), {
			within: 300_000,
			every: 1000,
			late: (counts) => `Reported: ${counts.join()}`,
		});
		expect(reports).toEqual(reports.map(() => 1));
		expect(stage().server.log()).not.toContain('Poll exceeded its timeout');
	}, 900_000);
});
