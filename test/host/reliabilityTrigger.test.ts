import { until } from '../../host';
import { secrets, startStage, type Stage } from './support';
import {
	changesOf,
	countersOf,
	emittedBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
	untilErrors,
} from './support/reliabilityEvents';
import {
	durableEngine,
	durableVariables,
	untilRequests,
	watchWorkflow,
} from './support/reliabilityWorkflow';

const patienceMs = 1_200_000;
const statusPath = { method: 'GET', path: '/status/' };

/** The engines: for tests that kill the server, and for the others. */
const engines: Array<[string, Record<string, string>, Record<string, string>]> = [
	['classic', {}, {}],
	// A short lease, as the kills need it, leaves a poll four seconds: not for what a busy machine reads.
	[
		'durable',
		durableEngine,
		{
			...durableVariables,
			N8N_SCHEDULER_EXECUTOR_INTERVAL: '1',
			N8N_SCHEDULER_MISFIRE_GRACE: '1',
		},
	],
];

describe.each(engines)('the trigger in the %s engine', (engine, killedEnv, env) => {
	let stage: Stage;

	const startBefore = (variables: Record<string, string>) => {
		beforeAll(async () => {
			stage = await startStage({ env: variables });
		}, 400_000);
		afterAll(async () => {
			await stage.close();
		});
	};
	const active = new Set<string>();
	beforeEach(() => stage.simulator.reset());
	afterEach(async () => {
		for (const id of active) await stage.client.deactivate(id);
		active.clear();
	});

	const watch = async (campaignIds: readonly string[], names: readonly string[] = ['Trigger']) => {
		const { id } = await stage.client.createWorkflow(
			watchWorkflow(stage.credential, campaignIds, names),
		);
		active.add(id);
		await stage.client.activate(id);
		return id;
	};
	const addCampaigns = (count: number) =>
		Array.from({ length: count }, () =>
			stage.simulator.addCampaign({ counters: { total_attempts: 10, successfully_sent: 9 } }),
		);
	const polls = async (count: number) => await untilRequests(stage, count);

	describe('killed', () => {
		startBefore(killedEnv);

		test(
			'what is emitted adds up to the counters, with the server killed before, during and after polls',
			async () => {
				const { simulator } = stage;
				const ids = addCampaigns(3);
				const id = await watch(ids);
				await untilCaughtUp(stage, id, ids);

				const kills: Record<string, () => Promise<void>> = {
					'before a poll has read': async () => moveCounters(stage, ids),
					'while a poll waits for some of its answers': async () => {
						const match = { ...statusPath, path: `/id/${ids[1] ?? ''}` };
						simulator.addFault({ match, times: 0, action: { kind: 'delay', ms: 5000 } });
						moveCounters(stage, ids);
						await polls(ids.length);
					},
					'after an emission': async () => {
						moveCounters(stage, ids);
						await untilCaughtUp(stage, id, ids);
					},
				};
				for (const prepare of Object.values(kills)) {
					await prepare();
					// Those that came are delayed all the same; the polls after the restart are not to be.
					simulator.clearFaults();
					await stage.crash();
					moveCounters(stage, ids);
					await untilCaughtUp(stage, id, ids);
				}
				await polls(3 * ids.length);
				const events = await emittedBy(stage, id);
				for (const campaignId of ids) {
					expect(changesOf(events, campaignId)).toEqual(countersOf(stage, campaignId));
				}
			},
			patienceMs,
		);
	});

	describe('running', () => {
		startBefore(env);

		test(
			'deactivating and activating emits what moved meanwhile, once',
			async () => {
				const ids = addCampaigns(2);
				const id = await watch(ids);
				await untilCaughtUp(stage, id, ids);
				await stage.client.deactivate(id);
				moveCounters(stage, ids);
				await stage.client.activate(id);
				await untilCaughtUp(stage, id, ids);
				await polls(2 * ids.length);
				const events = await emittedBy(stage, id);
				expect(events.filter(({ firstSeen }) => firstSeen)).toHaveLength(2);
				expect(events).toHaveLength(4);
			},
			patienceMs,
		);

		test(
			'a campaign that is taken off the list is forgotten, the others go on',
			async () => {
				const ids = addCampaigns(2);
				const [kept = '', removed = ''] = ids;
				const id = await watch(ids);
				await untilCaughtUp(stage, id, ids);
				const activateList = async (list: readonly string[]) => {
					await stage.client.updateWorkflow(id, watchWorkflow(stage.credential, list));
					await stage.client.activate(id);
				};
				await activateList([kept]);
				moveCounters(stage, [kept]);
				await untilCaughtUp(stage, id, [kept]);
				await activateList(ids);
				moveCounters(stage, [kept]);
				await untilCaughtUp(stage, id, [kept]);
				const firstSeenIn = async () =>
					(await emittedBy(stage, id)).flatMap((event) =>
						event.firstSeen ? [event.campaignId] : [],
					);
				await until(firstSeenIn, (seen) => seen.length >= 3, {
					within: 300_000,
					every: 250,
					late: (seen) => `Seen first: ${seen.join(', ')}`,
				});
				await polls(2 * ids.length);

				const events = await emittedBy(stage, id);
				const firstSeen = await firstSeenIn();
				expect(firstSeen.sort()).toEqual([kept, removed, removed].sort());
				expect(changesOf(events, kept)).toEqual(countersOf(stage, kept));
			},
			patienceMs,
		);

		test(
			'two triggers of one workflow on the same campaign each emit every change once',
			async () => {
				const ids = addCampaigns(1);
				const [campaignId = ''] = ids;
				const names = ['One', 'Two'];
				const id = await watch(ids, names);
				for (let round = 0; round < 3; round++) {
					moveCounters(stage, ids);
					for (const name of names) await untilCaughtUp(stage, id, ids, name);
				}
				await polls(4);
				for (const name of names) {
					const events = await emittedBy(stage, id, name);
					expect(changesOf(events, campaignId)).toEqual(countersOf(stage, campaignId));
					expect(events.filter(({ firstSeen }) => firstSeen)).toHaveLength(1);
				}
			},
			patienceMs,
		);

		test(
			'a campaign that fails among healthy ones is reported once, and again when it fails anew',
			async () => {
				const ids = addCampaigns(3);
				const [failing = '', ...healthy] = ids;
				const id = await watch(ids);
				await untilCaughtUp(stage, id, ids);

				stage.simulator.removeCampaign(failing);
				moveCounters(stage, healthy);
				await untilCaughtUp(stage, id, healthy);
				await untilErrors(stage, id, 1);
				await polls(3 * ids.length);
				const errors = await errorsOf(stage, id);
				expect(errors).toHaveLength(1);
				expect(errors[0]).toContain(`Campaign ${failing} can't be read`);

				stage.simulator.addCampaign({ id: failing, counters: { total_attempts: 99 } });
				await polls(2 * ids.length);
				stage.simulator.removeCampaign(failing);
				await untilErrors(stage, id, 2);
				await polls(3 * ids.length);
				expect(await errorsOf(stage, id)).toHaveLength(2);
			},
			patienceMs,
		);

		test('activating fails with the name of a campaign that can not be read', async () => {
			const [known = ''] = addCampaigns(1);
			await expect(watch([known, '99999'])).rejects.toThrow("Campaign 99999 can't be read");
		});

		test(
			'under a rate limit every campaign is read, and no execution fails',
			async () => {
				const ids = addCampaigns(60);
				stage.simulator.setRateLimit({ perSecond: 40, burst: 10 });
				const id = await watch(ids);
				moveCounters(stage, ids);
				await untilCaughtUp(stage, id, ids);
				expect(await errorsOf(stage, id)).toEqual([]);
			},
			patienceMs,
		);

		// The durable engine polls again half an hour after a credential was refused.
		if (engine === 'classic') {
			test(
				'a key that is refused fails each poll, and once it is accepted nothing is lost',
				async () => {
					const ids = addCampaigns(2);
					const id = await watch(ids);
					await untilCaughtUp(stage, id, ids);
					stage.simulator.configure({ serviceKey: 'another-key' });
					moveCounters(stage, ids);
					await polls(2 * ids.length);
					await stage.client.waitForExecutions({ workflowId: id, status: ['error'] });
					expect((await errorsOf(stage, id))[0]).toContain('does not accept the credential');

					stage.simulator.configure({ serviceKey: secrets.apiKey });
					await untilCaughtUp(stage, id, ids);
					for (const campaignId of ids) {
						const events = await emittedBy(stage, id);
						expect(changesOf(events, campaignId)).toEqual(countersOf(stage, campaignId));
					}
				},
				patienceMs,
			);
		}
	});
});
