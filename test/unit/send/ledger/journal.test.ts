import * as fc from 'fast-check';
import { Journal } from '../../../../nodes/PushCampaign/send/ledger/journal';
import type { SendIdentity } from '../../../../nodes/PushCampaign/send/ledger/sendIdentity';
import { Rows } from '../../../../nodes/PushCampaign/send/rows';
import type { SendOutcome } from '../../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../../nodes/PushCampaign/service/failures';
import { ProcessedData } from '../../../support/processedData';
import { executeFunctions } from '../../execution/support';

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const refused: SendOutcome = {
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type: 'rate_limit' }), 'send'),
};
const lost: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };

const identity = (item: number, run = 0, source?: string): SendIdentity => ({
	kind: 'send',
	position: `${run}.${item}`,
	content: `content ${item}`,
	source,
	executionId: '10',
});

const journalIn = (database: ProcessedData) =>
	new Journal(new Rows(executeFunctions({ database }).context), 'execution');

async function recallAll(database: ProcessedData, sends: readonly SendIdentity[]) {
	const journal = journalIn(database);
	return await Promise.all(sends.map(async (send) => await journal.recall(send)));
}

describe('a journal', () => {
	test('knows what was sent, what may be in flight and what was not sent, in another process', async () => {
		const database = new ProcessedData();
		const sends = [0, 1, 2, 3, 450].map((item) => identity(item));
		const [first, second, third, , last] = sends;
		const journal = journalIn(database);
		for (const send of [first, second, third, last]) if (send) await journal.begin(send);
		if (first && second && third) {
			journal.end(first, sent);
			journal.end(second, refused);
			journal.end(third, lost);
		}
		await journal.written();
		const entries = ['sent', undefined, 'open', undefined, 'open'];
		expect(await recallAll(database, sends)).toEqual(entries);
		// Asking leaves nothing.
		expect(await recallAll(database, sends)).toEqual(entries);
	});

	test('knows a send by its source if its content is another one by now', async () => {
		const database = new ProcessedData();
		const journal = journalIn(database);
		await journal.begin(identity(0, 0, 'source'));
		const changed = { ...identity(0, 0, 'source'), content: 'other content' };
		expect(await recallAll(database, [changed, identity(0)])).toEqual(['open', 'open']);
		expect(await recallAll(database, [{ ...changed, source: undefined }])).toEqual([undefined]);
	});

	test('takes a send for open if it may be in flight under one of its IDs, though it was sent under the other', async () => {
		const database = new ProcessedData();
		const journal = journalIn(database);
		await journal.begin(identity(0, 0, 'source'));
		journal.end(identity(0, 0, 'source'), sent);
		await journal.begin({ ...identity(0), source: 'other source' });
		const both = { ...identity(0, 0, 'source'), content: 'new content' };
		expect(await recallAll(database, [both])).toEqual(['sent']);
		await journal.begin({ ...identity(0), content: 'new content' });
		expect(await recallAll(database, [both])).toEqual(['open']);
	});

	test('tells the runs of a node in a loop apart', async () => {
		const database = new ProcessedData();
		await journalIn(database).begin(identity(0, 1));
		expect(await recallAll(database, [identity(0, 0), identity(0, 1)])).toEqual([
			undefined,
			'open',
		]);
	});

	test('leaves nothing in the database when it is deleted', async () => {
		const database = new ProcessedData();
		const journal = journalIn(database);
		for (const item of [0, 250, 450]) await journal.begin(identity(item));
		journal.end(identity(250), sent);
		expect(database.rowsOf('journal')).toHaveLength(3);
		await journal.delete();
		expect(database.rows.size).toBe(0);
	});

	test('writes many sends at once, and no write grows with the run', async () => {
		const database = new ProcessedData();
		const journal = journalIn(database);
		const items = Array.from({ length: 1000 }, (_, item) => identity(item));
		await Promise.all(items.map(async (send) => await journal.begin(send)));
		expect(database.queries.length).toBeLessThan(20);
		for (const entries of database.rows.values()) expect(entries.length).toBeLessThanOrEqual(200);
	});

	test('lets nothing begin any more once a write has failed, because it may still arrive', async () => {
		const database = new ProcessedData();
		const journal = journalIn(database);
		database.beforeQuery = () => {
			throw new Error('Locked');
		};
		await expect(journal.begin(identity(0))).rejects.toThrow('Locked');
		database.beforeQuery = () => undefined;
		await expect(journal.begin(identity(1))).rejects.toThrow('Locked');
		expect(database.rows.size).toBe(0);
	});
});

/** Lets a process end at one of its queries: that and all later ones never come back. */
function endAt(database: ProcessedData, query: number): ProcessedData {
	const own = new ProcessedData();
	Object.assign(own, { rows: database.rows });
	own.beforeQuery = async () => {
		if (own.queries.length > query) await new Promise<never>(() => undefined);
	};
	return own;
}

const settled = async () => {
	for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('a crash at any moment, also while the journal is read, never turns sent into not sent, or not sent into sent', async () => {
	const outcomes = fc.array(fc.constantFrom('accepted', 'refused', 'lost'), { maxLength: 3 });
	await fc.assert(
		fc.asyncProperty(
			fc.uniqueArray(
				fc.record({ item: fc.constantFrom(0, 1, 2, 3, 199, 200, 201, 450), outcomes }),
				{
					minLength: 1,
					maxLength: 8,
					selector: ({ item }) => item,
				},
			),
			fc.nat({ max: 30 }),
			fc.nat({ max: 12 }),
			async (tasks, firstEnd, secondEnd) => {
				const database = new ProcessedData();
				const accepted = new Set<number>();
				const first = journalIn(endAt(database, firstEnd));
				for (const { item, outcomes: answers } of tasks) {
					void (async () => {
						for (const answer of answers) {
							await first.begin(identity(item));
							if (answer === 'accepted') accepted.add(item);
							first.end(
								identity(item),
								answer === 'accepted' ? sent : answer === 'refused' ? refused : lost,
							);
							if (answer !== 'refused') return;
						}
					})();
				}
				await settled();
				const sends = tasks.map(({ item }) => identity(item));
				// A Retry that crashes while it reads, and another one.
				void recallAll(endAt(database, secondEnd), sends);
				await settled();
				const entries = await recallAll(database, sends);
				for (const [index, { item }] of tasks.entries()) {
					if (accepted.has(item)) expect(entries[index]).toBeDefined();
					else expect(entries[index]).not.toBe('sent');
				}
				expect(await recallAll(database, sends)).toEqual(entries);
				// What is sent now is known as sent, whatever was left of it.
				const last = journalIn(database);
				for (const send of sends) {
					await last.begin(send);
					last.end(send, sent);
				}
				await last.written();
				expect(await recallAll(database, sends)).toEqual(sends.map(() => 'sent'));
			},
		),
		{ numRuns: 200 },
	);
});
