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
	let bed: Stage;

	const useBed = (variables: Record<string, string>) => {
		beforeAll(async () => {
			bed = await startStage({ env: variables });
		}, 400_000);
		afterAll(async () => {
			await bed.close();
		});
	};
	const active = new Set<string>();
	beforeEach(() => bed.simulator.reset());
	afterEach(async () => {
		for (const id of active) await bed.client.deactivate(id);
		active.clear();
	});

	const watch = async (campaignIds: readonly string[], names: readonly string[] = ['Trigger']) => {
		const { id } = await bed.client.createWorkflow(
			watchWorkflow(bed.credential, campaignIds, names),
		);
		active.add(id);
		await bed.client.activate(id);
		return id;
	};
	const addCampaigns = (count: number) =>
		Array.from({ length: count }, () =>
			bed.simulator.addCampaign({ counters: { total_attempts: 10, successfully_sent: 9 } }),
		);
	const polls = async (count: number) => await untilRequests(bed, count);

	describe('killed', () => {
		useBed(killedEnv);

		test(
			'what is emitted adds up to the counters, with the server killed before, during and after polls',
			async () => {
				const { simulator } = bed;
				const ids = addCampaigns(3);
				const id = await watch(ids);
				await untilCaughtUp(bed, id, ids);

				const kills: Record<string, () => Promise<void>> = {
					'before a poll has read': async () => moveCounters(bed, ids),
					'while a poll waits for some of its answers': async () => {
						const match = { ...statusPath, path: `/id/${ids[1] ?? ''}` };
						simulator.addFault({ match, times: 0, action: { kind: 'delay', ms: 5000 } });
						moveCounters(bed, ids);
						await polls(ids.length);
					},
					'after an emission': async () => {
						moveCounters(bed, ids);
						await untilCaughtUp(bed, id, ids);
					},
				};
				for (const prepare of Object.values(kills)) {
					await prepare();
					// Those that came are delayed all the same; the polls after the restart are not to be.
					simulator.clearFaults();
					await bed.crash();
					moveCounters(bed, ids);
					await untilCaughtUp(bed, id, ids);
				}
				await polls(3 * ids.length);
				const events = await emittedBy(bed, id);
				for (const campaignId of ids) {
					expect(changesOf(events, campaignId)).toEqual(countersOf(bed, campaignId));
				}
			},
			patienceMs,
		);
	});

	describe('running', () => {
		useBed(env);

		test(
			'deactivating and activating emits what moved meanwhile, once',
			async () => {
				const ids = addCampaigns(2);
				const id = await watch(ids);
				await untilCaughtUp(bed, id, ids);
				await bed.client.deactivate(id);
				moveCounters(bed, ids);
				await bed.client.activate(id);
				await untilCaughtUp(bed, id, ids);
				await polls(2 * ids.length);
				const events = await emittedBy(bed, id);
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
				await untilCaughtUp(bed, id, ids);
				const activateList = async (list: readonly string[]) => {
					await bed.client.updateWorkflow(id, watchWorkflow(bed.credential, list));
					await bed.client.activate(id);
				};
				await activateList([kept]);
				moveCounters(bed, [kept]);
				await untilCaughtUp(bed, id, [kept]);
				await activateList(ids);
				moveCounters(bed, [kept]);
				await untilCaughtUp(bed, id, [kept]);
				const firstSeenIn = async () =>
					(await emittedBy(bed, id)).flatMap((event) =>
						event.firstSeen ? [event.campaignId] : [],
					);
				await until(firstSeenIn, (seen) => seen.length >= 3, {
					within: 300_000,
					every: 250,
					late: (seen) => `Seen first: ${seen.join(', ')}`,
				});
				await polls(2 * ids.length);

				const events = await emittedBy(bed, id);
				const firstSeen = await firstSeenIn();
				expect(firstSeen.sort()).toEqual([kept, removed, removed].sort());
				expect(changesOf(events, kept)).toEqual(countersOf(bed, kept));
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
					moveCounters(bed, ids);
					for (const name of names) await untilCaughtUp(bed, id, ids, name);
				}
				await polls(4);
				for (const name of names) {
					const events = await emittedBy(bed, id, name);
					expect(changesOf(events, campaignId)).toEqual(countersOf(bed, campaignId));
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
				await untilCaughtUp(bed, id, ids);

				bed.simulator.removeCampaign(failing);
				moveCounters(bed, healthy);
				await untilCaughtUp(bed, id, healthy);
				await untilErrors(bed, id, 1);
				await polls(3 * ids.length);
				const errors = await errorsOf(bed, id);
				expect(errors).toHaveLength(1);
				expect(errors[0]).toContain(`Campaign ${failing} can't be read`);

				bed.simulator.addCampaign({ id: failing, counters: { total_attempts: 99 } });
				await polls(2 * ids.length);
				bed.simulator.removeCampaign(failing);
				await untilErrors(bed, id, 2);
				await polls(3 * ids.length);
				expect(await errorsOf(bed, id)).toHaveLength(2);
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
				bed.simulator.setRateLimit({ perSecond: 40, burst: 10 });
				const id = await watch(ids);
				moveCounters(bed, ids);
				await untilCaughtUp(bed, id, ids);
				expect(await errorsOf(bed, id)).toEqual([]);
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
					await untilCaughtUp(bed, id, ids);
					bed.simulator.configure({ serviceKey: 'another-key' });
					moveCounters(bed, ids);
					await polls(2 * ids.length);
					await bed.client.waitForExecutions({ workflowId: id, status: ['error'] });
					expect((await errorsOf(bed, id))[0]).toContain('does not accept the credential');

					bed.simulator.configure({ serviceKey: secrets.apiKey });
					await untilCaughtUp(bed, id, ids);
					for (const campaignId of ids) {
						const events = await emittedBy(bed, id);
						expect(changesOf(events, campaignId)).toEqual(countersOf(bed, campaignId));
					}
				},
				patienceMs,
			);
		}
	});
});
