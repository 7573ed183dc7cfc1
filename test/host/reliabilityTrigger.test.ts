import type { INode } from 'n8n-workflow';
import { chain, node, pollEvery, pushCampaignTrigger, until, type WorkflowDraft } from '../../host';
import { secrets, startStage, useStage, type Stage } from './support';
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
	pollSeconds,
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

// n8n's default. What differs between its generations is how it starts triggers, and how it publishes them.
describe.each(['2', '1'] as const)('the trigger in the classic engine of n8n %s.x', (major) => {
	const stage = useStage({ major });
	const active = new Set<string>();
	afterEach(async () => {
		for (const id of active) await stage().client.deactivate(id);
		active.clear();
	});

	const add = async (draft: WorkflowDraft) => {
		const { id } = await stage().client.createWorkflow(draft);
		active.add(id);
		await stage().client.activate(id);
		return id;
	};
	const publish = async (id: string, draft: WorkflowDraft) => {
		await stage().client.updateWorkflow(id, draft);
		await stage().client.activate(id);
	};
	const addCampaign = () =>
		stage().simulator.addCampaign({ counters: { total_attempts: 10, successfully_sent: 9 } });
	const watching = (ids: readonly string[], names?: readonly string[]) =>
		watchWorkflow(stage().credential, ids, names);
	const isToldOnce = async (id: string, campaignId: string, trigger?: string) => {
		await untilRequests(stage(), 4);
		const events = await emittedBy(stage(), id, trigger);
		expect(changesOf(events, campaignId)).toEqual(countersOf(stage(), campaignId));
		return events;
	};

	test('is not published where a campaign can not be read, and names each with its reason', async () => {
		const known = addCampaign();
		stage().simulator.addFault({
			match: { path: '/id/77' },
			times: 0,
			action: { kind: 'failure', type: 'authentication_failure', description: 'No' },
		});
		const first = add(watching(['99999', known, '77']));
		await expect(first).rejects.toThrow(
			/Campaign 77 can't be read: .* the credential\. Campaign 99999 can't be read: .* campaign/,
		);
	});

	test(
		'goes on where the service could not be read while n8n started',
		async () => {
			const { simulator } = stage();
			const campaignId = addCampaign();
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
			await isToldOnce(id, campaignId);
		},
		patienceMs,
	);

	test(
		'goes on where it is published again with a campaign that can not be read, and reports that one',
		async () => {
			const [known, later] = [addCampaign(), '99999'];
			const id = await add(watching([known]));
			await untilCaughtUp(stage(), id, [known]);
			await publish(id, watching([known, later]));
			await untilErrors(stage(), id, 1);
			moveCounters(stage(), [known]);
			await untilCaughtUp(stage(), id, [known]);
			await isToldOnce(id, known);
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
		},
		patienceMs,
	);

	test(
		'goes on under another name, beside another trigger that gets its name',
		async () => {
			const { client } = stage();
			const campaignId = addCampaign();
			const id = await add(watching([campaignId], ['One', 'Two']));
			for (const name of ['One', 'Two']) await untilCaughtUp(stage(), id, [campaignId], name);
			const renamed = watching([campaignId], ['Two', 'One']);
			const nodes = renamed.nodes.map((each) =>
				each.name === 'One'
					? { ...each, id: 'trigger-Two' }
					: each.name === 'Two'
						? { ...each, id: 'trigger-One' }
						: each,
			);
			await publish(id, { ...renamed, nodes });
			await untilRequests(stage(), 4);
			expect((await client.executions({ workflowId: id, status: ['success'] })).length).toBe(2);
			await stage().crash();
			moveCounters(stage(), [campaignId]);
			for (const name of ['One', 'Two']) await untilCaughtUp(stage(), id, [campaignId], name);
			for (const name of ['One', 'Two']) {
				const events = await isToldOnce(id, campaignId, name);
				expect(events.map(({ firstSeen }) => firstSeen)).toEqual([true, false]);
			}
		},
		patienceMs,
	);

	test(
		'tells nothing again after a crash where another trigger was published without it',
		async () => {
			const campaignId = addCampaign();
			const names = ['One', 'Two'];
			const caughtUp = async () => {
				for (const name of names) await untilCaughtUp(stage(), id, [campaignId], name);
			};
			const draft = watching([campaignId], names);
			const id = await add(draft);
			await caughtUp();
			const nodes = draft.nodes.map((each) =>
				each.name === 'One'
					? { ...each, parameters: { ...each.parameters, options: { minimumChange: 1 } } }
					: each,
			);
			await publish(id, { ...draft, nodes });
			for (let round = 0; round < 2; round += 1) {
				moveCounters(stage(), [campaignId]);
				await caughtUp();
			}
			await stage().crash();
			await untilRequests(stage(), 4);
			for (const name of names) expect(await isToldOnce(id, campaignId, name)).toHaveLength(3);
		},
		patienceMs,
	);

	test(
		'tells nothing again where a slow execution turned its data back and it is activated anew',
		async () => {
			const { client } = stage();
			const campaignId = addCampaign();
			const jsCode =
				"if ($json.firstSeen) $getWorkflowStaticData('global').seen = 1;\nreturn $input.all();";
			const slow: INode[] = [
				pushCampaignTrigger(
					{ campaignIds: campaignId, pollTimes: pollEvery(pollSeconds) },
					{ name: 'Trigger', credential: stage().credential },
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
			await untilCaughtUp(stage(), id, [campaignId]);
			expect(await isToldOnce(id, campaignId)).toHaveLength(3);
		},
		patienceMs,
	);

	test(
		'shows the editor what is there, or what is pinned, and counts neither as told',
		async () => {
			const { client, simulator } = stage();
			const campaignId = addCampaign();
			const { id, versionId } = await client.createWorkflow(watching([campaignId]));
			for (let times = 0; times < 2; times += 1) await client.runManually(id, 'Trigger');
			const before = simulator.requestCount;
			const pinned = { campaignId, firstSeen: false, changes: {}, observedAt: '' };
			const pinData = { Trigger: [{ json: pinned }] };
			await client.request('PATCH', `workflows/${id}`, { pinData, versionId });
			await client.runManually(id, 'Trigger');
			expect(simulator.requestCount).toBe(before);
			active.add(id);
			await client.activate(id);
			await client.waitForExecutions({ workflowId: id, count: 4 });
			await untilRequests(stage(), 4);
			const events = await emittedBy(stage(), id);
			expect(events.map(({ firstSeen }) => firstSeen)).toEqual([true, true, false, true]);
		},
		patienceMs,
	);

	test(
		'tells a copy of its workflow everything from zero, and itself nothing again',
		async () => {
			const campaignId = addCampaign();
			const id = await add(watching([campaignId]));
			await untilCaughtUp(stage(), id, [campaignId]);
			// Its nodes have the same IDs.
			const copy = await add(watching([campaignId]));
			await untilCaughtUp(stage(), copy, [campaignId]);
			for (const each of [id, copy]) expect(await isToldOnce(each, campaignId)).toHaveLength(1);
		},
		patienceMs,
	);
});
