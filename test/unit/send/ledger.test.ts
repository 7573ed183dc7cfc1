import { z } from 'zod';
import type { SendOutcome } from '../../../nodes/PushCampaign/send/ledger';
import { openLedger } from '../../../nodes/PushCampaign/send/ledger';
import type { Problem } from '../../../nodes/PushCampaign/service/problems';
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

const open = (context: object) => openLedger(context, 'node:began');
/** The ledger of a Retry. */
const retryOf = (context: object) => open(saved(context));

const position = '0.1';

/** A context in which one send has ended. */
function contextWith(outcome: SendOutcome): object {
	const context = {};
	const ledger = open(context);
	ledger.begin(position);
	ledger.keep(position, outcome);
	ledger.end(position);
	return context;
}
const failedWith = (problem: Problem) => contextWith({ state: 'failed', problem });
const sent = () => contextWith({ state: 'sent', row });
const before = { state: 'before', row };

test('an item that was sent gives its first answer again', () => {
	for (const ledger of [open(sent()), retryOf(sent())]) {
		expect(ledger.recall('0.1')).toEqual(before);
		expect(ledger.recall('0.2')).toEqual({ state: 'new' });
		expect(ledger.recall('1.1')).toEqual({ state: 'new' });
	}
});

test('an item that is unknown fails in each try of the execution that left it, and is reported then', () => {
	const context = failedWith(lost);
	expect(open(context).recall(position)).toMatchObject({ state: 'failed', problem: lost });
	expect(retryOf(context).recall(position)).toEqual({ state: 'reported', problem: lost });
});

test('an item that an earlier execution has reported is reported', () => {
	const context = contextWith({ state: 'reported', problem: lost });
	expect(open(context).recall(position)).toMatchObject({ state: 'reported', problem: lost });
});

test('an item that was certainly not sent is as new', () => {
	for (const ledger of [open(failedWith(refused)), retryOf(failedWith(refused))]) {
		expect(ledger.recall('0.1')).toEqual({ state: 'new' });
	}
});

test('a ledger knows whether anything was sent, or left unknown', () => {
	expect(open({}).hasEntries()).toBe(false);
	expect(open(failedWith(refused)).hasEntries()).toBe(false);
	for (const context of [sent(), failedWith(lost)]) {
		expect(open(context).hasEntries()).toBe(true);
		expect(retryOf(context).hasEntries()).toBe(true);
	}
});

test('a ledger knows whether anything was sent that has no ID, whatever the node has by then', () => {
	expect(open(sent()).hasSentWithoutId()).toBe(true);
	const withId = { ...row, idempotencyKey: '77' };
	expect(open(contextWith({ state: 'sent', row: withId })).hasSentWithoutId()).toBe(false);
	expect(open(failedWith(lost)).hasSentWithoutId()).toBe(false);
});

test('an unknown item keeps what is to be mended, and the code of its answer', () => {
	const page = unusableProblem({ statusCode: 200 }, false, requested);
	const failure = { type: '', description: 'Down' };
	const down = failureProblem(failure, { statusCode: 502 }, requested);
	expect(down.said).toContain('Down');
	for (const problem of [page, gateway, down]) {
		const recalled = retryOf(failedWith(problem)).recall('0.1');
		expect(recalled).toMatchObject({ problem: saved({ ...problem }) });
	}
	expect(page.fix).toMatch(/Base URL/);
});

test('a request that has left and was not answered is unknown once it is not in flight any more', () => {
	const context = {};
	open(context).begin(position);
	expect(open(context).recall('0.1')).toEqual({ state: 'inFlight' });
	expect(retryOf(context).recall('0.1')).toEqual({
		state: 'reported',
		problem: unknownProblem(
			'the execution was stopped before the push service answered',
			requested,
		),
	});
});

test('a further try of the same execution has the same ledger, and a new execution a new one', () => {
	const context = sent();
	expect(open(context)).toBe(open(context));
	expect(open({}).recall('0.1')).toEqual({ state: 'new' });
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
	const ledger = open({ pushCampaignLedger: { id: 'format', entries } });
	expect(ledger.recall('0.0.abc').state).toBe('before');
	expect(ledger.recall('0.1.def').state).toBe('reported');
	expect(saved({ ledger })).toEqual({ ledger: { id: 'format', entries } });
});

const unreadable = {
	state: 'failed',
	problem: unknownProblem(
		"this version of Push Campaign can't read what was saved about it",
		requested,
	),
};

test('what counts as unknown because nothing can be read stays so in each later Retry', () => {
	const first = saved({ pushCampaignLedger: 'of another version' });
	expect(open(first).recall('0.1')).toEqual(unreadable);
	expect(retryOf(first).recall('0.1')).toEqual(unreadable);
});

test('an entry that can’t be read counts as unknown, and so does every item if nothing can be read', () => {
	const entries = { '0.1': { sent: true }, '0.2': { row } };
	const broken = open({ pushCampaignLedger: { id: 'broken', entries } });
	expect(broken.recall('0.1')).toEqual({ ...unreadable, state: 'reported' });
	expect(broken.recall('0.2')).toEqual(before);
	const none = open({ pushCampaignLedger: { id: 7, entries: [] } });
	expect(none.recall('0.1')).toEqual(unreadable);
});

describe('every execution claims what it found, and a Retry has to be the first:', () => {
	const table = new Set<string>();
	const insert = async (name: string) => {
		const isNew = !table.has(name);
		table.add(name);
		return isNew;
	};
	const idOf = (context: object) =>
		z.object({ pushCampaignLedger: z.object({ id: z.string() }) }).parse(saved(context))
			.pushCampaignLedger.id;
	const [first, retry] = [false, true];

	beforeEach(() => table.clear());

	test('one claim, by the ID that it found, holds for each of its tries, and the next Retry has another', async () => {
		const context = saved(failedWith(lost));
		table.add('other');
		const found = idOf(context);
		const ledger = open(context);
		expect([await ledger.claim(retry, insert), await ledger.claim(retry, insert)]).toEqual([
			...[true, true],
		]);
		expect([...table]).toEqual(['other', `begun:${found}`]);
		expect(idOf(context)).not.toBe(found);
	});

	test('a second Retry may not send, in any of its tries', async () => {
		const context = saved(failedWith(lost));
		await retryOf(context).claim(retry, insert);
		const second = retryOf(context);
		expect([await second.claim(retry, insert), await second.claim(retry, insert)]).toEqual([
			...[false, false],
		]);
	});

	test('the Retry of an execution that crashed may not send: what began it has the same name', async () => {
		expect(await open({}).claim(first, insert)).toBe(true);
		expect([...table]).toEqual(['begun:node:began']);
		expect(await open({}).claim(retry, insert)).toBe(false);
	});

	test('a first execution goes on behind a pause, and beside another one of the same moment', async () => {
		await open({}).claim(first, insert);
		const other = {};
		expect(await open(other).claim(first, insert)).toBe(true);
		expect(await open(saved(other)).claim(first, insert)).toBe(true);
	});

	test('a database that did not answer is asked again', async () => {
		const ledger = open({});
		const down = async () => await Promise.reject(new Error('SQLITE_BUSY'));
		await expect(ledger.claim(retry, down)).rejects.toThrow('SQLITE_BUSY');
		expect(await ledger.claim(retry, insert)).toBe(true);
		expect([...table]).toEqual(['begun:node:began']);
	});
});
