import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import {
	chain,
	createDataTable,
	insertInto,
	outputOf,
	pollEvery,
	type DataTable,
	type WorkflowDraft,
} from '../../../host';
import { untilRequests } from './sends';
import type { Stage } from './stage';
import {
	countersOf,
	emissionsOf,
	errorsOf,
	eventsOf,
	moveCounters,
	sumsOf,
	untilCaughtUp,
	untilErrors,
	watch,
	watchWorkflow,
} from './watches';

/**
 * Defines the tests of a trigger that both engines of n8n pass.
 *
 * @param engine `classic` keeps a trigger's state under its name, `durable` under its ID
 */
export function testTrigger(engine: 'classic' | 'durable', stage: () => Stage): void {
	const active = new Set<string>();
	afterEach(async () => {
		for (const id of active) await stage().client.deactivate(id);
		active.clear();
	});

	const add = async (draft: WorkflowDraft): Promise<string> => {
		const { id } = await stage().client.createWorkflow(draft);
		await stage().client.activate(id);
		active.add(id);
		return id;
	};

	const addCampaigns = (count: number): string[] =>
		Array.from({ length: count }, () =>
			stage().simulator.addCampaign({ counters: { total_attempts: 10, delivered: 5 } }),
		);

	test('a trigger goes on after every edit that is published while the service is down, and after a restart', async () => {
		const { client, simulator, restart } = stage();
		const [one = '', two = ''] = addCampaigns(2);
		const names = ['Trigger', 'Renamed'];
		const id = await add(watchWorkflow(watch(stage(), [one])));
		await untilCaughtUp(stage(), id, [one]);
		const publish = async (draft: WorkflowDraft) => {
			await client.updateWorkflow(id, draft);
			await client.activate(id);
		};
		const both = [one, two];
		const reached = { event: 'campaignReached', counter: 'clicked', number: 1_000_000 };
		const edits: Record<string, () => Promise<void>> = {
			'campaign IDs': () => publish(watchWorkflow(watch(stage(), both))),
			'poll times': () => publish(watchWorkflow(watch(stage(), both, { pollTimes: pollEvery(3) }))),
			'another event': () => publish(watchWorkflow(watch(stage(), both, reached))),
			'the event before': () => publish(watchWorkflow(watch(stage(), both))),
			'off and on': async () => {
				await client.deactivate(id);
				await client.activate(id);
			},
			restart: async () => restart(),
			...(engine === 'durable' && {
				name: () => publish(watchWorkflow(watch(stage(), both, {}, 'Renamed'))),
			}),
		};
		for (const [edit, make] of Object.entries(edits)) {
			simulator.addFault({ times: 0, action: { kind: 'respond', status: 503, body: 'Back soon' } });
			await make();
			await untilRequests(stage(), 2);
			simulator.clearFaults();
			moveCounters(stage(), both);
			if (edit === 'another event') await untilRequests(stage(), 4);
			else await untilCaughtUp(stage(), id, [one], ...names);
		}
		await untilCaughtUp(stage(), id, both, ...names);
		await untilRequests(stage(), 4);
		expect(sumsOf(await eventsOf(stage(), id, ...names))).toEqual(countersOf(stage(), both));
	});

	test('one mistyped ID fails the first publication, and the next one, and later makes one failed execution while the others go on', async () => {
		const ids = addCampaigns(2);
		const mistyped = watchWorkflow(watch(stage(), [...ids, '99999']));
		const { client } = stage();
		const { id: unpublished } = await client.createWorkflow(mistyped);
		await expect(client.activate(unpublished)).rejects.toThrow(
			`The push service has no campaign 99999. The service says: "Invalid notification ID". Correct 'Campaign IDs'.`,
		);
		// n8n's mode is another one then, in which it polls triggers that have worked, too.
		await expect(client.activate(unpublished)).rejects.toThrow('no campaign 99999');
		await client.deactivate(unpublished);

		const id = await add(watchWorkflow(watch(stage(), ids)));
		await untilCaughtUp(stage(), id, ids);
		await client.updateWorkflow(id, mistyped);
		await client.activate(id);
		const [first] = await untilErrors(stage(), id, 1);
		expect(first).toContain('99999');
		moveCounters(stage(), ids);
		await untilCaughtUp(stage(), id, ids);
		await untilRequests(stage(), 4 * 3);
		expect(await errorsOf(stage(), id)).toHaveLength(1);
		expect(sumsOf(await eventsOf(stage(), id))).toEqual(countersOf(stage(), ids));
	});

	test('an outage of 40 s beside a campaign that always fails makes one more failed execution, and hides no campaign that fails after it', async () => {
		const { simulator } = stage();
		const [good = '', bad = ''] = addCampaigns(2);
		const away = { kind: 'respond', status: 503, body: 'Back soon' } as const;
		const failBad = () =>
			simulator.addFault({ match: { path: `/id/${bad}` }, times: 0, action: away });
		const failAll = () => simulator.addFault({ times: 0, action: away });
		/** A poll that meets the campaign asks four times. */
		const somePolls = () => untilRequests(stage(), 4 * 4);

		failBad();
		const id = await add(watchWorkflow(watch(stage(), [good, bad], { pollTimes: pollEvery(5) })));
		await untilErrors(stage(), id, 1);
		failAll();
		await sleep(40_000);
		simulator.clearFaults();
		failBad();
		await somePolls();
		const [ofCampaign, ofOutage, ...more] = await errorsOf(stage(), id);
		expect(ofCampaign).toMatch(`Campaign ${bad} can't be read`);
		expect(ofOutage).toMatch(`Campaigns ${good}, ${bad} can't be read`);
		expect(more).toEqual([]);

		simulator.clearFaults();
		moveCounters(stage(), [good, bad]);
		await untilCaughtUp(stage(), id, [good, bad]);
		failAll();
		await untilErrors(stage(), id, 3);
		simulator.clearFaults();
		failBad();
		const all = await untilErrors(stage(), id, 4);
		expect(all.slice(2)).toEqual([ofOutage, ofCampaign]);
		await somePolls();
		expect(await errorsOf(stage(), id)).toHaveLength(4);
	});

	test('a first publication goes on though the service limits requests, and later polls read the rest', async () => {
		const ids = addCampaigns(90);
		stage().simulator.configure({ rateLimit: { perSecond: 6, burst: 6 } });
		// Polls that overlap would share the limit.
		const parameters = { pollTimes: pollEvery(20) };
		const id = await add(watchWorkflow(watch(stage(), ids, parameters)));
		await untilCaughtUp(stage(), id, ids);
		const [emissions = []] = await emissionsOf(stage(), id, ['Trigger']);
		// In its twelve seconds a publication can read 78.
		expect(emissions[0]?.length).toBeLessThan(ids.length);
		expect(sumsOf(emissions.flat())).toEqual(countersOf(stage(), ids));
	});

	test("events go into n8n's own data table as they are, mapped automatically", async () => {
		const { client } = stage();
		const [campaignId = ''] = addCampaigns(1);
		/** The row that the first event of a trigger becomes in a table with these columns. */
		const rowOf = async (trigger: INode, name: string, columns: DataTable['columns']) => {
			const tableId = await createDataTable(client, { name, columns });
			const id = await add(chain(name, [trigger, insertInto(tableId)]));
			await client.waitForExecutions({ workflowId: id });
			const [first] = await client.executions({ workflowId: id });
			const execution = await client.waitForExecution(first?.id ?? '');
			expect(execution.status).toBe('success');
			return outputOf(execution, 'Table')[0]?.json;
		};

		const columns: DataTable['columns'] = {
			...{ campaignId: 'string', status: 'string', statusBefore: 'string', firstSeen: 'boolean' },
			...{ delivered: 'number', deliveredBy: 'number', clicked: 'number', clickedBy: 'number' },
			...{ closed: 'number', closedBy: 'number' },
			...{ totalAttempts: 'number', totalAttemptsBy: 'number' },
			...{ successfullySent: 'number', successfullySentBy: 'number' },
			...{ failedToSend: 'number', failedToSendBy: 'number' },
			...{ deliveryRate: 'number', clickRate: 'number', observedAt: 'date' },
		};
		const watched = { watch: ['status', 'delivered', 'closed'] };
		const row = await rowOf(watch(stage(), [campaignId], watched), 'Of campaigns', columns);
		expect(row).toMatchObject({
			...{ campaignId, status: 'Sent', statusBefore: null, firstSeen: true },
			...{ delivered: 5, deliveredBy: 5, closed: 0, closedBy: 0, clicked: 0, clickedBy: null },
		});

		// As n8n makes them of a CSV file without rows: all of them are texts.
		const header =
			'firstSeen,activeSubscribers,activeSubscribersBy,totalLifetimeSubscribers,totalLifetimeSubscribersBy,observedAt';
		const texts = Object.fromEntries(header.split(',').map((name) => [name, 'string' as const]));
		const ofSite = watch(stage(), [], { event: 'subscribersReached', number: 1 });
		const rowOfSite = await rowOf(ofSite, 'Of the site', texts);
		expect(rowOfSite).toMatchObject({ activeSubscribers: '10000', activeSubscribersBy: '10000' });
	});

	test('a number that is reached starts the workflow once, also if it was published, and switched off and on, in an outage', async () => {
		const { client, simulator } = stage();
		const campaignId = simulator.addCampaign({ counters: { clicked: 5 } });
		const parameters = { event: 'campaignReached', counter: 'clicked', number: 10 };
		simulator.addFault({ times: 0, action: { kind: 'respond', status: 503, body: 'Back soon' } });
		const id = await add(watchWorkflow(watch(stage(), [campaignId], parameters)));
		await client.deactivate(id);
		await client.activate(id);
		simulator.clearFaults();
		for (const clicked of [9, 10, 8, 12]) {
			simulator.setCounters(campaignId, { clicked });
			await untilRequests(stage(), 2);
		}
		const begun = { workflowId: id, status: ['success'] };
		await client.waitForExecutions(begun);
		await untilRequests(stage(), 2);
		expect(await client.executions(begun)).toHaveLength(1);
	});

	test('the changes of 2,000 campaigns arrive, each once', async () => {
		const ids = addCampaigns(2_000);
		// All of them take longer than the seconds between two polls.
		const parameters = { pollTimes: pollEvery(30) };
		const id = await add(watchWorkflow(watch(stage(), ids, parameters)));
		await untilCaughtUp(stage(), id, ids);
		moveCounters(stage(), ids);
		await untilCaughtUp(stage(), id, ids);
		await untilRequests(stage(), ids.length);
		expect(sumsOf(await eventsOf(stage(), id))).toEqual(countersOf(stage(), ids));
	});
}
