import * as fc from 'fast-check';
import { demoCampaignId, demoCounters, runDemoCampaign } from '../../../host/demoCampaign';
import { readExamples, withCredential } from '../../../host/demoWorkflows';
import { actionType, credentialType, triggerType } from '../../../host/workflows';
import { startSimulator } from '../../../simulator';

const age = fc.integer({ min: 0, max: 90 * 24 * 3_600_000 });

describe('the counters of the demo campaign', () => {
	test('are consistent with each other at any age', () => {
		fc.assert(
			fc.property(age, (ms) => {
				const counters = demoCounters(ms);
				expect(counters.successfully_sent + counters.failed_to_send).toBe(counters.total_attempts);
				expect(counters.delivered).toBeLessThanOrEqual(counters.successfully_sent);
				expect(counters.clicked + counters.closed).toBeLessThanOrEqual(counters.delivered);
			}),
		);
	});

	test('never fall', () => {
		fc.assert(
			fc.property(age, age, (one, other) => {
				const [before, after] = [Math.min(one, other), Math.max(one, other)].map(demoCounters);
				expect(after?.delivered).toBeGreaterThanOrEqual(before?.delivered ?? 0);
				expect(after?.clicked).toBeGreaterThanOrEqual(before?.clicked ?? 0);
				expect(after?.closed).toBeGreaterThanOrEqual(before?.closed ?? 0);
			}),
		);
	});

	test('move every minute of the first day', () => {
		const minute = 60_000;
		for (let ms = 0; ms < 24 * 60 * minute; ms += minute) {
			expect(demoCounters(ms + minute)).not.toEqual(demoCounters(ms));
		}
	});
});

test('the demo campaign is there for a reader of its status', async () => {
	const simulator = await startSimulator();
	const end = runDemoCampaign(simulator, Date.now() - 60_000);
	try {
		expect(simulator.campaign(demoCampaignId)).toMatchObject({
			status: 'Sent',
			counters: { total_attempts: 10_000 },
		});
	} finally {
		end();
		await simulator.close();
	}
});

describe('the example workflows', () => {
	test('an active one watches the demo campaign, the others wait for a click', async () => {
		const examples = await readExamples();
		expect(examples.map(({ draft, active }) => [draft.name, active])).toEqual([
			['Send to all, then read its status', false],
			['Report counter changes', true],
		]);
		const trigger = examples[1]?.draft.nodes.find(({ type }) => type === triggerType);
		expect(trigger?.parameters['campaignIds']).toBe(demoCampaignId);
	});

	test('each explains itself in a sticky note and connects nodes that exist', async () => {
		for (const { draft } of await readExamples()) {
			const names = draft.nodes.map(({ name }) => name);
			expect(draft.nodes.some(({ type }) => type.endsWith('.stickyNote'))).toBe(true);
			for (const [from, { main = [] }] of Object.entries(draft.connections)) {
				const targets = main.flatMap((output) => (output ?? []).map(({ node }) => node));
				expect(names).toEqual(expect.arrayContaining([from, ...targets]));
			}
		}
	});

	test('the demo credential takes the place of the one in the file, and of no other', async () => {
		const [example] = await readExamples();
		if (example === undefined) throw new Error('No example');
		const other = { id: '9', name: 'Mail' };
		const draft = {
			...example.draft,
			nodes: example.draft.nodes.map((node) =>
				node.type === actionType
					? { ...node, credentials: { ...node.credentials, smtp: other } }
					: node,
			),
		};
		const mine = { id: 'mine', name: 'Mine' };
		for (const { type, credentials } of withCredential(draft, mine).nodes) {
			if (type === actionType) expect(credentials).toEqual({ [credentialType]: mine, smtp: other });
			else expect(credentials).toEqual({});
		}
	});
});
