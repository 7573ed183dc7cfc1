import type { INode } from 'n8n-workflow';
import { chain, node, pollEvery, pushCampaignTrigger, until } from '../../host';
import { secrets, shareStage, useStage } from './support';
import {
	changesOf,
	countersOf,
	emittedBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
	untilErrors,
	useWatches,
} from './support/reliabilityEvents';
import {
	durableEngine,
	durableVariables,
	pollSeconds,
	untilRequests,
	watchWorkflow,
} from './support/reliabilityWorkflow';

jest.setTimeout(1_200_000);

/** The classic engine, which is n8n's default. */
const useClassic = shareStage({ major: '2' });
const useClassicOfN8n1 = shareStage({ major: '1' });

describe.each([
	{ engine: 'classic', use: useClassic },
	{ engine: 'durable', use: () => useStage({ env: durableEngine }) },
])('the trigger in the $engine engine, killed', ({ use }) => {
	const stage = use();
	const { add, addCampaigns } = useWatches(stage);

	test('every change is emitted once though n8n is killed before, during and after polls', async () => {
		const { simulator } = stage();
		const ids = addCampaigns(3);
		const id = await add(watchWorkflow(stage().credential, ids));
		await untilCaughtUp(stage(), id, ids);

		const kills: Record<string, () => Promise<void>> = {
			'before a poll has read': async () => moveCounters(stage(), ids),
			'while a poll waits for some of its answers': async () => {
				const match = { method: 'GET', path: `/id/${ids[1] ?? ''}` };
				simulator.addFault({ match, times: 0, action: { kind: 'delay', ms: 5000 } });
				moveCounters(stage(), ids);
				await untilRequests(stage(), ids.length);
			},
			'after an emission': async () => {
				moveCounters(stage(), ids);
				await untilCaughtUp(stage(), id, ids);
			},
		};
		for (const prepare of Object.values(kills)) {
			await prepare();
			// Those that came are delayed all the same; the polls after the restart are not to be.
			simulator.clearFaults();
			await stage().crash();
			moveCounters(stage(), ids);
			await untilCaughtUp(stage(), id, ids);
		}
		await untilRequests(stage(), 3 * ids.length);
		const events = await emittedBy(stage(), id);
		for (const campaignId of ids) {
			expect(changesOf(events, campaignId)).toEqual(countersOf(stage(), campaignId));
		}
	});
});

/** A short lease, as the kills need it, leaves a poll four seconds: not for what a busy machine reads. */
const longLease = {
	...durableVariables,
	N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
	N8N_SCHEDULER_MISFIRE_GRACE: '1',
};

describe.each([
	{ engine: 'classic', use: useClassic },
	{ engine: 'durable', use: () => useStage({ env: longLease }) },
])('the trigger in the $engine engine', ({ use }) => {
	const stage = use();
	const { add, addCampaigns, publish, eachChangeOnce } = useWatches(stage);
	const watching = (ids: readonly string[]) => watchWorkflow(stage().credential, ids);

	test('a trigger that is activated again emits once what moved meanwhile', async () => {
		const [campaignId = ''] = addCampaigns(1);
		const id = await add(watching([campaignId]));
		await untilCaughtUp(stage(), id, [campaignId]);
		await stage().client.deactivate(id);
		moveCounters(stage(), [campaignId]);
		await stage().client.activate(id);
		await untilCaughtUp(stage(), id, [campaignId]);
		expect(await eachChangeOnce(id, campaignId)).toEqual([true, false]);
	});

	test('a campaign that was taken off the list counts from zero when it is back, and the others go on', async () => {
		const ids = addCampaigns(2);
		const [kept = '', removed = ''] = ids;
		const id = await add(watching(ids));
		await untilCaughtUp(stage(), id, ids);
		for (const list of [[kept], ids]) {
			await publish(id, watching(list));
			moveCounters(stage(), [kept]);
			await untilCaughtUp(stage(), id, [kept]);
		}
		const firstSeen = async () =>
			(await emittedBy(stage(), id)).filter(
				(event) => event.firstSeen && event.campaignId === removed,
			);
		await until(firstSeen, (seen) => seen.length === 2, {
			within: 300_000,
			late: (seen) => `Seen first ${seen.length} times`,
		});
		expect(await eachChangeOnce(id, kept)).toEqual([true, false, false]);
	});

	test('a campaign that can not be read is reported once, and again if it fails after it healed', async () => {
		const ids = addCampaigns(3);
		const [failing = '', ...healthy] = ids;
		const id = await add(watching(ids));
		await untilCaughtUp(stage(), id, ids);
		for (const count of [1, 2]) {
			stage().simulator.removeCampaign(failing);
			moveCounters(stage(), healthy);
			await untilCaughtUp(stage(), id, healthy);
			await untilErrors(stage(), id, count);
			await untilRequests(stage(), 3 * ids.length);
			const errors = await errorsOf(stage(), id);
			expect(errors).toHaveLength(count);
			expect(errors[0]).toContain(`Campaign ${failing} can't be read`);
			stage().simulator.addCampaign({ id: failing, counters: { total_attempts: 99 } });
			await untilRequests(stage(), 2 * ids.length);
		}
	});

	test('under a rate limit every campaign is read, and no execution fails', async () => {
		const ids = addCampaigns(60);
		stage().simulator.setRateLimit({ perSecond: 40, burst: 10 });
		// At this rate one poll takes a second and a half.
		const id = await add(watchWorkflow(stage().credential, ids, ['Trigger'], 6));
		moveCounters(stage(), ids);
		await untilCaughtUp(stage(), id, ids);
		expect(await errorsOf(stage(), id)).toEqual([]);
	});
});

// n8n's default. What differs between its generations is how it starts triggers, and how it publishes them.
describe.each(['2', '1'] as const)('the trigger in the classic engine of n8n %s.x', (major) => {
	const stage = major === '2' ? useClassic() : useClassicOfN8n1();
	const { add, addCampaigns, publish, eachChangeOnce } = useWatches(stage);
	const watching = (ids: readonly string[]) => watchWorkflow(stage().credential, ids);

	test('a new trigger is not published if a campaign can not be read, and names each one with its reason', async () => {
		stage().simulator.addFault({
			match: { path: '/id/77' },
			times: 0,
			action: { kind: 'failure', type: 'authentication_failure', description: 'No' },
		});
		const first = add(watching(['99999', ...addCampaigns(1), '77']));
		await expect(first).rejects.toThrow(
			/Campaign 77 can't be read: .* the credential\. Campaign 99999 can't be read: .* campaign/,
		);
	});

	test('a trigger goes on after the service could not be read while n8n started', async () => {
		const { simulator } = stage();
		const [campaignId = ''] = addCampaigns(1);
		const id = await add(watching([campaignId]));
		await untilCaughtUp(stage(), id, [campaignId]);
		const maintenance = { kind: 'respond', status: 503, body: 'Back soon' } as const;
		const away: Record<string, () => void> = {
			'did not answer': () =>
				simulator.addFault({ times: 0, action: { kind: 'hang', process: false } }),
			'HTTP 503': () => simulator.addFault({ times: 0, action: maintenance }),
			'does not accept the credential': () => simulator.configure({ serviceKey: 'another-key' }),
		};
		for (const [reason, begin] of Object.entries(away)) {
			const told = await errorsOf(stage(), id);
			begin();
			await stage().restart();
			await untilErrors(stage(), id, told.length + 1);
			expect((await errorsOf(stage(), id))[told.length]).toContain(reason);
			simulator.clearFaults();
			simulator.configure({ serviceKey: secrets.apiKey });
			moveCounters(stage(), [campaignId]);
			await untilCaughtUp(stage(), id, [campaignId]);
		}
		await eachChangeOnce(id, campaignId);
	});

	test('a trigger goes on when it is published again with a campaign that can not be read, and reports that campaign', async () => {
		const [known = ''] = addCampaigns(1);
		const later = '99999';
		const id = await add(watching([known]));
		await untilCaughtUp(stage(), id, [known]);
		await publish(id, watching([known, later]));
		await untilErrors(stage(), id, 1);
		moveCounters(stage(), [known]);
		await untilCaughtUp(stage(), id, [known]);
		await eachChangeOnce(id, known);
		expect(await errorsOf(stage(), id)).toEqual([
			expect.stringMatching(`^Campaign ${later} can't be read: `),
		]);
		stage().simulator.addCampaign({ id: later, counters: { total_attempts: 5 } });
		await untilCaughtUp(stage(), id, [later]);

		await publish(id, watching(['99998']));
		await untilErrors(stage(), id, 2);
		await publish(id, watching([known]));
		moveCounters(stage(), [known]);
		await untilCaughtUp(stage(), id, [known]);
	});
});

describe('the trigger in the classic engine', () => {
	const stage = useClassic();
	const { add, addCampaigns, publish, eachChangeOnce } = useWatches(stage);
	const watching = (ids: readonly string[], names?: readonly string[]) =>
		watchWorkflow(stage().credential, ids, names);
	let campaignId = '';
	beforeEach(() => ([campaignId = ''] = addCampaigns(1)));
	const caughtUp = async (id: string, names: readonly string[] = ['Trigger']) => {
		for (const name of names) await untilCaughtUp(stage(), id, [campaignId], name);
	};

	test('nothing is repeated after a crash if another trigger of the workflow was published on its own', async () => {
		const names = ['One', 'Two'];
		const draft = watching([campaignId], names);
		const id = await add(draft);
		await caughtUp(id, names);
		const nodes = draft.nodes.map((each) =>
			each.name === 'One'
				? { ...each, parameters: { ...each.parameters, options: { minimumChange: 1 } } }
				: each,
		);
		await publish(id, { ...draft, nodes });
		for (let round = 0; round < 2; round += 1) {
			moveCounters(stage(), [campaignId]);
			await caughtUp(id, names);
		}
		await stage().crash();
		await untilRequests(stage(), 4);
		for (const name of names) expect(await eachChangeOnce(id, campaignId, name)).toHaveLength(3);
	});

	test('nothing is repeated if a slow execution restored old static data and the workflow was published again', async () => {
		const { client, credential } = stage();
		const jsCode =
			"if ($json.firstSeen) $getWorkflowStaticData('global').seen = 1;\nreturn $input.all();";
		const slow: INode[] = [
			pushCampaignTrigger(
				{ campaignIds: campaignId, pollTimes: pollEvery(pollSeconds) },
				{ name: 'Trigger', credential },
			),
			node('Note', 'n8n-nodes-base.code', { jsCode }, { typeVersion: 2 }),
			node('Wait', 'n8n-nodes-base.wait', { amount: 20 }, { typeVersion: 1.1 }),
		];
		const id = await add(chain('Watch slowly', slow));
		// The first execution has begun, and is to end after the baseline has moved on.
		await client.waitForExecutions({ workflowId: id, ended: false });
		moveCounters(stage(), [campaignId]);
		await client.waitForExecutions({ workflowId: id, ended: false, count: 2 });
		await client.waitForExecutions({ workflowId: id, count: 1 });
		await client.deactivate(id);
		await client.activate(id);
		await untilRequests(stage(), 4);
		moveCounters(stage(), [campaignId]);
		await caughtUp(id);
		expect(await eachChangeOnce(id, campaignId)).toHaveLength(3);
	});

	test('a test event shows the present state or the pinned data, and neither counts as reported', async () => {
		const { client, simulator } = stage();
		const { id, versionId } = await client.createWorkflow(watching([campaignId]));
		for (let times = 0; times < 2; times += 1) await client.runManually(id, 'Trigger');
		const before = simulator.requestCount;
		const pinned = { campaignId, firstSeen: false, changes: {}, observedAt: '' };
		const pinData = { Trigger: [{ json: pinned }] };
		await client.request('PATCH', `workflows/${id}`, { pinData, versionId });
		await client.runManually(id, 'Trigger');
		expect(simulator.requestCount).toBe(before);
		await client.activate(id);
		await client.waitForExecutions({ workflowId: id, count: 4 });
		await untilRequests(stage(), 4);
		await client.deactivate(id);
		const events = await emittedBy(stage(), id);
		expect(events.map(({ firstSeen }) => firstSeen)).toEqual([true, true, false, true]);
	});

	test('a copy of a workflow counts from zero, and the original goes on where it was', async () => {
		const original = await add(watching([campaignId]));
		await caughtUp(original);
		await stage().client.deactivate(original);
		moveCounters(stage(), [campaignId]);
		// Its nodes have the same IDs, and its baseline is further on than the original's.
		const copy = await add(watching([campaignId]));
		await caughtUp(copy);
		await stage().client.activate(original);
		await caughtUp(original);
		expect(await eachChangeOnce(copy, campaignId)).toEqual([true]);
		expect(await eachChangeOnce(original, campaignId)).toEqual([true, false]);
	});
});

// n8n 2 gives the second node an ID of its own when it publishes the workflow.
describe('the trigger on n8n 1.x', () => {
	const stage = useClassicOfN8n1();
	const { add, addCampaigns } = useWatches(stage);

	test('a trigger is not published if another trigger of the workflow has its node ID', async () => {
		const draft = watchWorkflow(stage().credential, addCampaigns(1), ['One', 'Two']);
		const [id = ''] = draft.nodes.filter(({ name }) => name === 'One').map((each) => each.id);
		const nodes = draft.nodes.map((each) => (each.name === 'Two' ? { ...each, id } : each));
		await expect(add({ ...draft, nodes })).rejects.toThrow(
			'Another trigger of this workflow has the same node ID',
		);
	});
});
