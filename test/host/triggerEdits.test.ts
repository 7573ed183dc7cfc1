import type { INode, INodeParameters } from 'n8n-workflow';
import {
	credentialType,
	pollEvery,
	pushCampaignTrigger,
	until,
	type Credential,
	type WorkflowDraft,
} from '../../host';
import { secrets, useStage } from './support';
import {
	changesOf,
	countersOf,
	emissionsBy,
	emittedBy,
	errorsOf,
	moveCounters,
	untilCaughtUp,
	untilErrors,
	useWatches,
	type Event,
} from './support/reliabilityEvents';
import {
	durableVariables,
	pollSeconds,
	untilRequests,
	workflowOf,
} from './support/reliabilityWorkflow';

jest.setTimeout(1_200_000);

const hurry = { N8N_SCHEDULER_EXECUTOR_INTERVAL: '1', N8N_SCHEDULER_MISFIRE_GRACE: '1' };
const engines = [
	{ engine: 'classic engine of n8n 2.x', major: '2', env: {} },
	{ engine: 'durable engine of n8n 2.x', major: '2', env: { ...durableVariables, ...hurry } },
	{ engine: 'classic engine of n8n 1.x', major: '1', env: {} },
] as const;

const firstSeen = (events: readonly Event[]) => events.map((event) => event.firstSeen);

describe.each(engines)('a trigger in the $engine', ({ major, env }) => {
	const stage = useStage({ major, env });
	const { add, addCampaigns, publish, eachChangeOnce } = useWatches(stage);

	interface Watch {
		name?: string;
		/** Its ID in the workflow. */
		id?: string;
		credential?: Credential;
	}
	/** A trigger that watches campaigns. */
	const watch = (
		campaignIds: readonly string[],
		parameters: INodeParameters = {},
		{ name = 'Trigger', id = 'trigger', credential = stage().credential }: Watch = {},
	): INode => ({
		...pushCampaignTrigger(
			{ campaignIds: campaignIds.join(), pollTimes: pollEvery(pollSeconds), ...parameters },
			{ name, credential },
		),
		id,
	});

	/** Waits for so many events of a trigger, and for some polls more. */
	const eventsOf = async (id: string, count: number, name?: string): Promise<Event[]> => {
		await until(
			() => emittedBy(stage(), id, name),
			(events) => events.length >= count,
			{ within: 300_000, every: 250, late: (events) => `${events.length} of ${count} events` },
		);
		await untilRequests(stage(), 3);
		return await emittedBy(stage(), id, name);
	};

	test('a trigger goes on after every edit that is published while the service is away, and after a restart', async () => {
		const { client, simulator } = stage();
		const [one = '', two = ''] = addCampaigns(2);
		const names = ['Trigger', 'Renamed'];
		const renamed = { name: 'Renamed' };
		const id = await add(workflowOf(watch([one])));
		await untilCaughtUp(stage(), id, [one]);
		const sumsOf = async (campaignId: string) =>
			changesOf((await emissionsBy(stage(), id, names)).flat(2), campaignId);
		const caughtUp = async (...ids: string[]) => {
			for (const campaignId of ids) {
				const counters = countersOf(stage(), campaignId);
				await until(
					() => sumsOf(campaignId),
					(sums) => Object.entries(counters).every(([name, to]) => (sums[name] ?? 0) >= to),
					{ within: 300_000, every: 250, late: (sums) => JSON.stringify(sums) },
				);
			}
		};
		const reached = { event: 'campaignReached', counter: 'clicked', number: 1_000_000 };
		const publishes = async (draft: WorkflowDraft) => await publish(id, draft);
		const edits: Record<string, () => Promise<void>> = {
			'campaign IDs': async () => publishes(workflowOf(watch([one, two]))),
			'poll times': async () =>
				publishes(workflowOf(watch([one, two], { pollTimes: pollEvery(3) }))),
			event: async () => publishes(workflowOf(watch([one, two], reached))),
			'event and back': async () => publishes(workflowOf(watch([one, two]))),
			name: async () => publishes(workflowOf(watch([one, two], {}, renamed))),
			'off and on': async () => {
				await client.deactivate(id);
				await client.activate(id);
			},
		};
		for (const [edit, make] of Object.entries(edits)) {
			simulator.addFault({ times: 0, action: { kind: 'respond', status: 503, body: 'Back soon' } });
			await make();
			await untilRequests(stage(), 2);
			simulator.clearFaults();
			moveCounters(stage(), [one, two]);
			await untilRequests(stage(), 4);
			if (edit !== 'event') await caughtUp(one);
		}
		await stage().restart();
		moveCounters(stage(), [one, two]);
		await caughtUp(one, two);
		await untilRequests(stage(), 4);
		for (const each of [one, two]) expect(await sumsOf(each)).toEqual(countersOf(stage(), each));
		for (const error of await errorsOf(stage(), id)) expect(error).toContain("can't be read");
	});

	test('a campaign counts from zero at another credential', async () => {
		const { client, simulator } = stage();
		const [campaignId = ''] = addCampaigns(1);
		const id = await add(workflowOf(watch([campaignId])));
		await untilCaughtUp(stage(), id, [campaignId]);
		const data = { baseUrl: simulator.url, ...secrets };
		const credential = await client.createCredential('Another site', credentialType, data);
		await publish(id, workflowOf(watch([campaignId], {}, { credential })));
		const events = await eventsOf(id, 2);
		expect(firstSeen(events)).toEqual([true, true]);
		expect(changesOf(events.slice(1), campaignId)).toEqual(countersOf(stage(), campaignId));
	});

	test('a number that is reached starts the workflow once for its counter, whatever another event has reported', async () => {
		const counters = { clicked: 50, closed: 30 };
		const campaignId = stage().simulator.addCampaign({ status: '', counters });
		const id = await add(workflowOf(watch([campaignId])));
		expect(await eventsOf(id, 1)).toHaveLength(1);
		const steps = [
			{ counter: 'clicked', number: 40, events: 2 },
			{ counter: 'clicked', number: 50, events: 2 },
			{ counter: 'closed', number: 30, events: 3 },
			{ counter: 'closed', number: 31, events: 3 },
		];
		for (const { counter, number, events } of steps) {
			const parameters = { event: 'campaignReached', counter, number };
			await publish(id, workflowOf(watch([campaignId], parameters)));
			expect(await eventsOf(id, events)).toHaveLength(events);
		}
		stage().simulator.setCounters(campaignId, { closed: 31 });
		expect(await eventsOf(id, 4)).toHaveLength(4);
		expect(await errorsOf(stage(), id)).toEqual([]);
	});

	test('a renamed trigger goes on, and a new one with its old name starts from nothing, also after a crash', async () => {
		const ids = addCampaigns(3);
		const id = await add(workflowOf(watch(ids, {}, { name: 'Old', id: 'first' })));
		await untilCaughtUp(stage(), id, ids, 'Old');
		const renamed = watch(ids, {}, { name: 'New', id: 'first' });
		await publish(id, workflowOf(renamed, watch(ids, {}, { name: 'Old', id: 'second' })));
		await eventsOf(id, 2 * ids.length, 'Old');
		await stage().crash();
		await untilRequests(stage(), 4 * ids.length);
		moveCounters(stage(), ids);
		const [none, some] = [ids.map(() => false), ids.map(() => true)];
		expect(firstSeen(await eventsOf(id, 3 * ids.length, 'Old'))).toEqual([
			...some,
			...some,
			...none,
		]);
		expect(firstSeen(await eventsOf(id, ids.length, 'New'))).toEqual(none);
	});

	test('that nothing at all can be read is reported once, and again if it happens after it healed', async () => {
		const { simulator } = stage();
		const [campaignId = ''] = addCampaigns(1);
		const id = await add(workflowOf(watch([campaignId])));
		await untilCaughtUp(stage(), id, [campaignId]);
		const { counters } = simulator.campaign(campaignId) ?? {};
		const failures: Record<string, { begin: () => unknown; heal: () => unknown }> = {
			'has no campaign with this ID': {
				begin: () => simulator.removeCampaign(campaignId),
				heal: () => simulator.addCampaign({ id: campaignId, ...(counters && { counters }) }),
			},
			'does not accept the credential': {
				begin: () => simulator.configure({ serviceKey: 'another-key' }),
				heal: () => simulator.configure({ serviceKey: secrets.apiKey }),
			},
		};
		for (const [index, [reason, { begin, heal }]] of Object.entries(failures).entries()) {
			begin();
			await untilErrors(stage(), id, index + 1);
			await untilRequests(stage(), 3);
			const errors = await errorsOf(stage(), id);
			expect(errors).toHaveLength(index + 1);
			expect(errors[index]).toContain(reason);
			heal();
			moveCounters(stage(), [campaignId]);
			await untilCaughtUp(stage(), id, [campaignId]);
		}
		expect(await eachChangeOnce(id, campaignId)).toEqual([true, false, false]);
	});
});
