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

const openLedger = (context: object, id = 'retry', isRetry = true) => open(context, id, isRetry);

const send = { position: '0.1' };
const sendWithKey = { ...send, key: 'key:abc', notification: 'seen' };

/** A context in which the first execution has left one send as it ended. */
function contextWith(end: (ledger: Ledger) => void): object {
	const context = {};
	const ledger = openLedger(context, 'first', false);
	ledger.begin(send);
	end(ledger);
	ledger.end(send);
	return context;
}
const sent = () => contextWith((ledger) => ledger.keepSent(send, row));
const unknown = () => contextWith((ledger) => ledger.keepFailed(send, lost));
const earlier = { says: 'unknown', problem: lost, isOfEarlier: true };

test('an item that was sent gives its first answer again', () => {
	const ledger = openLedger(saved(sent()));
	expect(ledger.recall('0.1')).toEqual({ says: 'sent', row });
	expect(ledger.recall('0.2')).toEqual({ says: 'new' });
	expect(ledger.recall('1.1')).toEqual({ says: 'new' });
	expect(ledger.hasFoundUnknown).toBe(false);
});

test('a ledger knows whether anything was sent, or left unknown', () => {
	const ledger = openLedger({}, 'first', false);
	ledger.begin(send);
	ledger.keepFailed(send, refused);
	expect(ledger.hasEntries).toBe(false);
	for (const context of [sent(), unknown()]) {
		expect(openLedger(context).hasEntries).toBe(true);
		expect(openLedger(saved(context)).hasEntries).toBe(true);
	}
});

test('an item that was certainly not sent is as new', () => {
	const context = contextWith((ledger) => ledger.keepFailed(send, refused));
	expect(openLedger(saved(context)).recall('0.1')).toEqual({ says: 'new' });
});

test('an unknown item is for its user to decide in a later execution, and not in its own', () => {
	expect(openLedger(saved(unknown())).recall('0.1')).toEqual(earlier);
	const own = openLedger(saved(unknown()), 'first', false);
	expect(own.recall('0.1')).toEqual({ ...earlier, isOfEarlier: false });
});

test('an execution that goes on after a pause has left it unknown itself, and found nothing', () => {
	const ledger = openLedger(saved(unknown()), 'first', false);
	expect([ledger.hasLeftUnknown, ledger.hasFoundUnknown]).toEqual([true, false]);
	const retry = openLedger(saved(unknown()));
	expect([retry.hasLeftUnknown, retry.hasFoundUnknown]).toEqual([false, true]);
});

test('an unknown item keeps what is to be mended, the code of its answer, and its key', () => {
	const page = unusableProblem({ statusCode: 200 }, false, requested);
	const failure = { type: '', description: 'Down' };
	const down = failureProblem(failure, { statusCode: 502 }, requested);
	expect(down.said).toContain('Down');
	for (const problem of [page, gateway, down]) {
		const context = contextWith((ledger) => ledger.keepFailed(sendWithKey, problem));
		const recalled = openLedger(saved(context)).recall('0.1');
		expect(recalled).toMatchObject({ key: 'key:abc' });
		expect(recalled).toMatchObject({ problem: saved({ ...problem }) });
	}
	expect(page.fix).toMatch(/Base URL/);
});

test('a request that has left and was not answered is unknown once it is not in flight any more', () => {
	const context = {};
	openLedger(context, 'first', false).begin(send);
	expect(openLedger(context).recall('0.1')).toEqual({ says: 'inFlight' });
	expect(openLedger(saved(context)).recall('0.1')).toEqual({
		says: 'unknown',
		isOfEarlier: true,
		problem: unknownProblem(
			'the execution was stopped before the push service answered',
			requested,
		),
	});
});

describe('what subscribers would see twice', () => {
	const same = { position: '1.0', notification: 'seen' };
	const shown = { ...send, notification: 'seen' };

	test('is what was sent, or may have been, at another position', () => {
		for (const problem of [undefined, lost]) {
			const ledger = openLedger({}, 'first', false);
			ledger.begin(shown);
			expect(ledger.hasShown(same)).toBe(true);
			if (problem === undefined) ledger.keepSent(shown, row);
			else ledger.keepFailed(shown, problem);
			expect(ledger.hasShown(same)).toBe(true);
			expect(ledger.hasShown(shown)).toBe(false);
			expect(ledger.hasShown({ ...same, notification: 'other' })).toBe(false);
			expect(ledger.hasShown({ position: '1.0' })).toBe(false);
		}
	});

	test('is not what was refused', () => {
		const ledger = openLedger({}, 'first', false);
		ledger.begin(shown);
		ledger.keepFailed(shown, refused);
		expect(ledger.hasShown(same)).toBe(false);
	});

	test('is known by its key if both have one', () => {
		const ledger = openLedger({}, 'first', false);
		ledger.keepSent(sendWithKey, row);
		expect(ledger.hasShown({ ...same, key: 'key:abc' })).toBe(false);
		expect(ledger.hasShown({ ...same, key: 'key:def' })).toBe(true);
		expect(ledger.hasShown(same)).toBe(true);
	});

	test('is known by a Retry', () => {
		const context = contextWith((ledger) => ledger.keepSent(shown, row));
		expect(openLedger(saved(context)).hasShown(same)).toBe(true);
	});
});

test('what its user found in the dashboard is sent, with its key', () => {
	const context = contextWith((ledger) => ledger.keepFailed(sendWithKey, lost));
	const ledger = openLedger(saved(context));
	ledger.countAsSent('0.1', row);
	expect(ledger.recall('0.1')).toEqual({ says: 'sent', row });
	expect(ledger.hasShown({ position: '1.0', notification: 'seen' })).toBe(true);
});

test('only the ledgers of Retries are remembered', () => {
	const first = saved(unknown());
	openLedger(saved(first), 'first', false).keepSent(send, row);
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
	here.keepFailed(send, lost);
	here.keepSent({ position: '0.2' }, row);
	// A Retry in another process has sent it, and n8n saved that.
	const newest = { pushCampaignLedger: { id: here.id, entries: { '0.1': { row } } } };
	const ledger = openLedger(newest, 'retry 3');
	expect(ledger.recall('0.1')).toEqual({ says: 'sent', row });
	expect(ledger.recall('0.2')).toEqual({ says: 'sent', row });
	// What n8n saved of an older one takes nothing back.
	expect(openLedger(saved(first), 'retry 4').recall('0.1')).toEqual({
		says: 'sent',
		row,
	});
});

test('what n8n saves is a format', () => {
	const entries = {
		'0.0.abc': { row: { campaignId: '1001', status: 'success' }, key: 'key:1', notification: 'n1' },
		'0.1.def': {
			unknown: {
				type: 'network',
				outcome: 'unknown',
				message: 'It is unknown whether this was sent (the connection was lost)',
				reason: 'the connection was lost',
				cause: 'temporarily-unavailable',
			},
			executionId: '7',
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
	const second = openLedger(saved(first), 'second');
	expect(second.recall('0.1').says).toBe('unknown');
	expect(second.hasFoundUnknown).toBe(true);
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

test('the hundred executions that were retried last are remembered', () => {
	const first = saved(unknown());
	let others = 0;
	const retryOthers = (count: number) => {
		for (const end = others + count; others < end; others += 1) {
			openLedger({ pushCampaignLedger: { id: `other ${others}`, entries: {} } });
		}
	};
	const says = () => openLedger(saved(first)).recall('0.1').says;
	openLedger(saved(first)).keepSent(send, row);
	for (let again = 0; again < 2; again += 1) {
		retryOthers(99);
		expect(says()).toBe('sent');
	}
	retryOthers(100);
	expect(says()).toBe('unknown');
});
