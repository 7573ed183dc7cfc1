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
/** Polls that take as long as these do must not be so many that they are all under way at once. */
const pollSeconds = 30;

/** The engines, and n8n's budget for a poll there, in milliseconds. */
const engines: Array<['classic' | 'durable', Record<string, string>, number]> = [
	['durable', durableVariables, 36_000],
	['classic', {}, 300_000],
];

describe.each(engines)('a poll in the %s engine', (engine, env, budgetMs) => {
	const stage = useStage({ env });
	const { add, addCampaigns } = useWatches(stage);

	test('the events of 200 campaigns arrive in time, though one hangs and one fails', async () => {
		const { client, simulator } = stage();
		const ids = addCampaigns(200);
		const [hanging = '', failing = '', ...good] = ids;
		const id = await add(watchWorkflow(stage().credential, ids, [trigger], pollSeconds));
		await untilCaughtUp(stage(), id, ids);
		const [known] = await client.executions({ workflowId: id });

		simulator.addFault({
			match: { path: `/id/${hanging}` },
			times: 0,
			action: { kind: 'hang', process: false },
		});
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
		const begun = later.map(({ startedAt }) => Date.parse(startedAt ?? ''));
		const observed = emissions
			.slice(1)
			.map((emission) => Math.min(...emission.map(({ observedAt }) => Date.parse(observedAt))));
		expect(observed).toHaveLength(begun.length);
		const took = begun.map((at, index) => at - (observed[index] ?? NaN));
		process.stderr.write(
			`${engine} engine: from the first answer to the execution ${took.join(', ')} ms\n`,
		);
		expect(Math.max(...took)).toBeLessThan(budgetMs);
		await untilErrors(stage(), id, 1);
		expect(await errorsOf(stage(), id)).toEqual([
			expect.stringMatching(`^Campaign ${hanging} can't be read: .* Campaign ${failing} can't be`),
		]);
		expect(stage().server.log()).not.toContain('Poll exceeded its timeout');
	}, 400_000);
});
