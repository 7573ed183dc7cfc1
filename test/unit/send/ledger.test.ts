import { z } from 'zod';
import type { Ledger } from '../../../nodes/PushCampaign/send/ledger';
import { openLedger as open } from '../../../nodes/PushCampaign/send/ledger';
import {
	failureProblem,
	unknownProblem,
	unusableProblem,
} from '../../../nodes/PushCampaign/service/problems';

const requested = { isSend: true };
const lost = unknownProblem('the connection was lost', requested);
const gateway = unusableProblem({ statusCode: 502 }, false, requested);
const refused = failureProblem(
	{ type: 'invalid_value', description: '' },
	{ statusCode: 200 },
	requested,
);
const row = { campaignId: '1001', audience: 'segments', recipients: 'segment 12', dryRun: true };

/** What n8n's database gives back of what an execution held. */
function saved(context: object): object {
	const copy: unknown = JSON.parse(JSON.stringify(context));
	return { ...z.record(z.string(), z.unknown()).parse(copy) };
}

/** The ledger of a Retry. */
const openLedger = (context: object) => open(context, 'retry of');

const position = '0.1';

/** A context in which the first execution has left one send as it ended. */
function contextWith(end: (ledger: Ledger) => void): object {
	const context = {};
	const ledger = open(context);
	ledger.begin([position]);
	end(ledger);
	ledger.end([position]);
	return context;
}
const sent = () => contextWith((ledger) => ledger.keepSent(position, row));
const unknown = () => contextWith((ledger) => ledger.keepFailed([position], lost));
const earlier = { says: 'unknown', problem: lost };

test('an item that was sent gives its first answer again', () => {
	const ledger = openLedger(saved(sent()));
	expect(ledger.recall('0.1')).toEqual({ says: 'sent', row });
	expect(ledger.recall('0.2')).toEqual({ says: 'new' });
	expect(ledger.recall('1.1')).toEqual({ says: 'new' });
});

test('a ledger knows whether anything was sent, or left unknown', () => {
	const ledger = open({});
	ledger.begin([position]);
	ledger.keepFailed([position], refused);
	expect(ledger.hasEntries()).toBe(false);
	for (const context of [sent(), unknown()]) {
		expect(openLedger(context).hasEntries()).toBe(true);
		expect(openLedger(saved(context)).hasEntries()).toBe(true);
	}
});

test('an item that was certainly not sent is as new', () => {
	const context = contextWith((ledger) => ledger.keepFailed([position], refused));
	expect(openLedger(saved(context)).recall('0.1')).toEqual({ says: 'new' });
});

test('an unknown item keeps what is to be mended, and the code of its answer', () => {
	const page = unusableProblem({ statusCode: 200 }, false, requested);
	const failure = { type: '', description: 'Down' };
	const down = failureProblem(failure, { statusCode: 502 }, requested);
	expect(down.said).toContain('Down');
	for (const problem of [page, gateway, down]) {
		const context = contextWith((ledger) => ledger.keepFailed([position], problem));
		const recalled = openLedger(saved(context)).recall('0.1');
		expect(recalled).toMatchObject({ problem: saved({ ...problem }) });
	}
	expect(page.fix).toMatch(/Base URL/);
});

test('a request that has left and was not answered is unknown once it is not in flight any more', () => {
	const context = {};
	open(context).begin([position]);
	expect(openLedger(context).recall('0.1')).toEqual({ says: 'inFlight' });
	expect(openLedger(saved(context)).recall('0.1')).toEqual({
		says: 'unknown',
		problem: unknownProblem(
			'the execution was stopped before the push service answered',
			requested,
		),
	});
});

test('only the ledgers of Retries are remembered', () => {
	const first = saved(unknown());
	open(saved(first)).keepSent(position, row);
	expect(openLedger(saved(first)).recall('0.1')).toEqual(earlier);
});

test('a further try of the same execution has the same ledger, and a new execution a new one', () => {
	const context = sent();
	expect(openLedger(context)).toBe(openLedger(context));
	expect(openLedger({}).recall('0.1')).toEqual({ says: 'new' });
});

test('what n8n saved in another process and what this one remembers are put together: sent is sent', () => {
	const first = saved(unknown());
	const here = openLedger(saved(first));
	here.keepFailed([position], lost);
	here.keepSent('0.2', row);
	// A Retry in another process has sent it, and n8n saved that.
	const { id } = z.object({ id: z.string() }).parse(Reflect.get(first, 'pushCampaignLedger'));
	const newest = { pushCampaignLedger: { id, entries: { '0.1': { row } } } };
	const ledger = openLedger(newest);
	expect(ledger.recall('0.1')).toEqual({ says: 'sent', row });
	expect(ledger.recall('0.2')).toEqual({ says: 'sent', row });
	// What n8n saved of an older one takes nothing back.
	expect(openLedger(saved(first)).recall('0.1')).toEqual({ says: 'sent', row });
});

test('what n8n saves is a format', () => {
	const entries = {
		'0.0.abc': { row: { campaignId: '1001', status: 'success' } },
		'0.1.def': {
			unknown: {
				type: 'network',
				outcome: 'unknown',
				message: 'It is unknown whether this was sent (the connection was lost)',
				reason: 'the connection was lost',
				cause: 'temporarily-unavailable',
			},
		},
	};
	const ledger = openLedger({ pushCampaignLedger: { id: 'format', entries } });
	expect(ledger.recall('0.0.abc').says).toBe('sent');
	expect(ledger.recall('0.1.def').says).toBe('unknown');
	expect(saved({ ledger })).toEqual({ ledger: { id: 'format', entries } });
});

test('what counts as unknown because nothing can be read stays so in each later Retry', () => {
	const first = saved({ pushCampaignLedger: 'of another version' });
	expect(openLedger(first).recall('0.1').says).toBe('unknown');
	expect(openLedger(saved(first)).recall('0.1').says).toBe('unknown');
});

test('an entry that can’t be read counts as unknown, and so does every item if nothing can be read', () => {
	const entries = { '0.1': { sent: true }, '0.2': { row } };
	const broken = openLedger({ pushCampaignLedger: { id: 'broken', entries } });
	const reason = "this version of Push Campaign can't read what was saved about it";
	const problem = unknownProblem(reason, requested);
	expect(broken.recall('0.1')).toEqual({ ...earlier, problem });
	expect(broken.recall('0.2')).toEqual({ says: 'sent', row });
	const none = openLedger({ pushCampaignLedger: { id: 7, entries: [] } });
	expect(none.recall('0.1')).toEqual({ ...earlier, problem });
});

test('the two hundred executions that were retried last are remembered', () => {
	const first = saved(unknown());
	let others = 0;
	const retryOthers = (count: number) => {
		for (const end = others + count; others < end; others += 1) {
			openLedger({ pushCampaignLedger: { id: `other ${others}`, entries: {} } });
		}
	};
	const says = () => openLedger(saved(first)).recall('0.1').says;
	openLedger(saved(first)).keepSent(position, row);
	for (let again = 0; again < 2; again += 1) {
		retryOthers(199);
		expect(says()).toBe('sent');
	}
	retryOthers(200);
	expect(says()).toBe('unknown');
});

describe('what an execution has left is taken over by one Retry:', () => {
	const table = new Set<string>();
	const insert = async (name: string) => {
		const isNew = !table.has(name);
		table.add(name);
		return isNew;
	};
	const idOf = (context: object) =>
		z.object({ pushCampaignLedger: z.object({ id: z.string() }) }).parse(saved(context))
			.pushCampaignLedger.id;

	test('it claims the ID that it found, and leaves another one to the next Retry', async () => {
		const context = saved(unknown());
		const found = idOf(context);
		const retry = openLedger(context);
		expect([await retry.takeOver(insert), await retry.takeOver(insert)]).toEqual([true, true]);
		expect([...table]).toEqual([`retry:${found}`]);
		expect(idOf(context)).not.toBe(found);
	});

	test('one that another process has claimed is not taken over, in any try', async () => {
		const context = saved(unknown());
		table.add(`retry:${idOf(context)}`);
		const retry = openLedger(context);
		expect([await retry.takeOver(insert), await retry.takeOver(insert)]).toEqual([false, false]);
	});

	test('Retries of one process go on with one another, each by a claim of its own', async () => {
		const first = saved(unknown());
		const contexts = [saved(first), saved(first)];
		const claims = contexts.map(async (context) => await openLedger(context).takeOver(insert));
		expect(await Promise.all(claims)).toEqual([true, true]);
		expect(new Set([idOf(first), ...contexts.map(idOf)]).size).toBe(3);
	});

	test('a node that has not run yet is claimed by what names its execution', async () => {
		await open({}, 'node:2030').takeOver(insert);
		expect(table).toContain('retry:node:2030');
	});
});
