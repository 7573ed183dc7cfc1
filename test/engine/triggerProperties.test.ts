import fc from 'fast-check';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { Poller } from './support/poll';
import { credentialsFor, useSimulator } from './support/pushCampaign';

const simulator = useSimulator();
const runs = Number(process.env['FUZZ_RUNS'] ?? 12);

const ids = ['1', '2', '3'];
const service = {
	totalAttempts: 'total_attempts',
	clicked: 'clicked',
	closed: 'closed',
} as const;
const names = ['totalAttempts', 'clicked', 'closed'] as const;

type Step =
	| { kind: 'move'; campaign: number; counter: (typeof names)[number]; by: number }
	| { kind: 'poll' }
	| { kind: 'overlap' }
	| { kind: 'restart' }
	| { kind: 'fail'; campaign: number; type: 'invalid_value' | 'rate_limit' };

const campaign = fc.nat({ max: ids.length - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constant('move' as const),
			campaign,
			counter: fc.constantFrom(...names),
			by: fc.integer({ min: 1, max: 1000 }),
		}),
	},
	{ weight: 4, arbitrary: fc.constant({ kind: 'poll' as const }) },
	{ weight: 1, arbitrary: fc.constant({ kind: 'overlap' as const }) },
	{ weight: 2, arbitrary: fc.constant({ kind: 'restart' as const }) },
	{
		weight: 2,
		arbitrary: fc.record({
			kind: fc.constant('fail' as const),
			campaign,
			type: fc.constantFrom('invalid_value' as const, 'rate_limit' as const),
		}),
	},
);

const event = z.object({
	campaignId: z.string(),
	changes: z.record(z.object({ from: z.number(), to: z.number(), by: z.number() })),
});

/** Follows each counter through the events: each has to begin where the one before it ended. */
function follow(emitted: readonly INodeExecutionData[]): Map<string, number> {
	const reached = new Map<string, number>();
	for (const { json } of emitted) {
		const { campaignId, changes } = event.parse(json);
		for (const [name, { from, to, by }] of Object.entries(changes)) {
			const counter = `${campaignId} ${name}`;
			expect({ counter, from }).toEqual({ counter, from: reached.get(counter) ?? 0 });
			expect(by).toBe(to - from);
			reached.set(counter, to);
		}
	}
	return reached;
}

async function poll(trigger: Poller, emitted: INodeExecutionData[]): Promise<void> {
	// When all fail, the poll does; n8n records it and polls again.
	const { items } = await trigger.poll().catch(() => ({ items: null }));
	emitted.push(...(items ?? []));
}

async function act(one: Step, trigger: Poller, state: State): Promise<Poller> {
	switch (one.kind) {
		case 'move': {
			const id = ids[one.campaign] ?? '';
			const counter = `${id} ${one.counter}`;
			const value = (state.actual.get(counter) ?? 0) + one.by;
			state.actual.set(counter, value);
			simulator().setCounters(id, { [service[one.counter]]: value });
			return trigger;
		}
		case 'fail':
			simulator().addFault({
				match: { path: `/id/${ids[one.campaign] ?? ''}` },
				action: {
					kind: 'failure',
					type: one.type,
					description: 'Not now',
					headers: { 'retry-after': '9999' },
				},
			});
			return trigger;
		case 'restart':
			return trigger.restarted();
		case 'overlap':
			await Promise.all([poll(trigger, state.emitted), poll(trigger, state.emitted)]);
			return trigger;
		default:
			await poll(trigger, state.emitted);
			return trigger;
	}
}

interface State {
	readonly actual: Map<string, number>;
	readonly emitted: INodeExecutionData[];
}

test.each([
	['durable', 1],
	['classic', 1],
	['classic', 50],
] as const)(
	'in the %s engine, from a minimum change of %i, all events add up to the counters',
	async (engine, minimumChange) => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
				simulator().reset();
				const counters = { total_attempts: 0, clicked: 0, closed: 0 };
				for (const id of ids) simulator().addCampaign({ id, status: 'Sent', counters });
				const state: State = { actual: new Map(), emitted: [] };
				const parameters = {
					campaignIds: ids.join(),
					counters: [...names],
					options: { minimumChange },
				};
				let trigger = new Poller(parameters, {
					credentials: credentialsFor(simulator()),
					activation: 'init',
					engine,
				});
				for (const one of steps) {
					trigger = await act(one, trigger, state);
				}
				simulator().clearFaults();
				const staticData: IDataObject = trigger.saved;
				const last = new Poller(
					{ ...parameters, options: { minimumChange: 1 } },
					{ credentials: credentialsFor(simulator()), activation: 'init', engine, staticData },
				);
				await poll(last, state.emitted);
				const reached = follow(state.emitted);
				const moved = [...state.actual].filter(([, value]) => value !== 0);
				expect(new Map([...reached].sort())).toEqual(new Map(moved.sort()));
			}),
			{ numRuns: runs },
		);
	},
	600_000,
);
