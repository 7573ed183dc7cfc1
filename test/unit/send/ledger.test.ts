import { z } from 'zod';
import { openLedger, type Ledger } from '../../../nodes/PushCampaign/send/ledger';
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

/** A context in which the first execution has left one send as it ended. */
function contextWith(end: (ledger: Ledger) => void): object {
	const context = {};
	const ledger = openLedger(context);
	ledger.begin('0.1', 'first', false);
	end(ledger);
	return context;
}
const sent = () => contextWith((ledger) => ledger.keepSent('0.1', row, false));
const unknown = () => contextWith((ledger) => ledger.keepFailed('0.1', 'first', lost, false));

test('an item that was sent gives its first answer again, whatever is chosen about unknown ones', () => {
	const ledger = openLedger(saved(sent()));
	for (const choice of ['report', 'resend', 'countAsSent'] as const) {
		expect(ledger.recall('0.1', 'retry', choice)).toEqual({ says: 'sent', row, hasKey: false });
	}
	expect(ledger.recall('0.2', 'retry', 'report')).toEqual({ says: 'new' });
	expect(ledger.recall('1.1', 'retry', 'report')).toEqual({ says: 'new' });
});

test('an item that was certainly not sent is as new', () => {
	const context = contextWith((ledger) => ledger.keepFailed('0.1', 'first', refused, false));
	expect(openLedger(saved(context)).recall('0.1', 'retry', 'report')).toEqual({ says: 'new' });
});

test('an unknown item fails again with the same words, unless its user chose otherwise for a later execution', () => {
	const ledger = openLedger(saved(unknown()));
	const again = { says: 'unknown', problem: lost, hasKey: false };
	expect(ledger.recall('0.1', 'retry', 'report')).toEqual(again);
	expect(ledger.recall('0.1', 'first', 'resend')).toEqual(again);
	expect(ledger.recall('0.1', 'retry', 'resend')).toEqual({ says: 'new' });
	expect(ledger.recall('0.1', 'retry', 'countAsSent')).toEqual({ says: 'countAsSent' });
});

test('an unknown item keeps what is to be mended', () => {
	const page = unusableProblem({ statusCode: 200 }, false, requested);
	const context = contextWith((ledger) => ledger.keepFailed('0.1', 'first', page, false));
	expect(openLedger(saved(context)).recall('0.1', 'retry', 'report')).toMatchObject({
		problem: { fix: page.fix },
	});
	expect(page.fix).toMatch(/Base URL/);
});

test('an unknown item keeps the code of its answer', () => {
	const context = contextWith((ledger) => ledger.keepFailed('0.1', 'first', gateway, false));
	const recalled = openLedger(saved(context)).recall('0.1', 'retry', 'report');
	expect(recalled).toMatchObject({ problem: { type: 'unexpected_answer', httpCode: '502' } });
});

test('a request that has left and was not answered is unknown, and nobody decides about it while it is in flight', () => {
	const context = {};
	openLedger(context).begin('0.1', 'first', true);
	const inFlight = openLedger(context).recall('0.1', 'other', 'resend');
	expect(inFlight).toMatchObject({ says: 'unknown' });
	const stopped = openLedger(saved(context));
	expect(stopped.recall('0.1', 'other', 'resend')).toEqual({ says: 'new' });
	expect(stopped.recall('0.1', 'first', 'resend')).toEqual({
		says: 'unknown',
		problem: unknownProblem(
			'the execution was stopped before the push service answered',
			requested,
		),
		hasKey: true,
	});
});

test('a second Retry knows what the first one sent, also if n8n does not', () => {
	const first = saved(unknown());
	const retry = openLedger(saved(first));
	retry.begin('0.1', 'retry', false);
	retry.keepSent('0.1', row, false);
	expect(openLedger(saved(first)).recall('0.1', 'retry 2', 'resend')).toEqual({
		says: 'sent',
		row,
		hasKey: false,
	});
});

test('a further try of the same execution has the same ledger, and a new execution a new one', () => {
	const context = sent();
	expect(openLedger(context)).toBe(openLedger(context));
	expect(openLedger({}).recall('0.1', 'new', 'report')).toEqual({ says: 'new' });
	expect([openLedger({}).isEmpty, openLedger(context).isEmpty]).toEqual([true, false]);
});

test('what n8n saved in another process and what this one remembers are put together: sent is sent', () => {
	const first = saved(unknown());
	const here = openLedger(saved(first));
	here.keepFailed('0.1', 'retry', lost, false);
	here.keepSent('0.2', row, false);
	// A Retry in another process has sent it, and n8n saved that.
	const newest = { pushCampaignLedger: { id: here.id, entries: { '0.1': { row, hasKey: true } } } };
	const ledger = openLedger(newest);
	expect(ledger.recall('0.1', 'retry 3', 'report')).toEqual({ says: 'sent', row, hasKey: true });
	expect(ledger.recall('0.2', 'retry 3', 'report')).toMatchObject({ says: 'sent' });
	// What n8n saved of an older one takes nothing back.
	expect(openLedger(saved(first)).recall('0.1', 'retry 4', 'resend')).toMatchObject({
		says: 'sent',
	});
});

test('what n8n saves is a format', () => {
	const entries = {
		'0.0.abc': { row: { campaignId: '1001', status: 'success' }, hasKey: false },
		'0.1.def': {
			unknown: {
				type: 'network',
				outcome: 'unknown',
				message: 'It is unknown whether this was sent',
				remedy: 'wait',
				cause: 'temporarily-unavailable',
			},
			executionId: '7',
			hasKey: true,
		},
	};
	const ledger = openLedger({ pushCampaignLedger: { id: 'format', entries } });
	expect(ledger.recall('0.0.abc', '8', 'report')).toMatchObject({ says: 'sent', hasKey: false });
	expect(ledger.recall('0.1.def', '8', 'report')).toMatchObject({ says: 'unknown', hasKey: true });
	expect(saved({ ledger })).toEqual({ ledger: { id: 'format', entries } });
});

test('what counts as unknown because nothing can be read stays so in each later Retry', () => {
	const first = saved({ pushCampaignLedger: 'of another version' });
	expect(openLedger(first).recall('0.1', 'retry', 'report').says).toBe('unknown');
	const second = openLedger(saved(first));
	expect(second.recall('0.1', 'second retry', 'report').says).toBe('unknown');
	expect(second.isEmpty).toBe(false);
});

test('an entry that can’t be read counts as unknown, and so does every item if nothing can be read', () => {
	const entries = { '0.1': { sent: true }, '0.2': { row, hasKey: true } };
	const broken = openLedger({ pushCampaignLedger: { id: 'broken', entries } });
	expect(broken.recall('0.1', 'retry', 'report')).toEqual({
		says: 'unknown',
		problem: unknownProblem(
			"this version of Push Campaign can't read what was saved about it",
			requested,
		),
		hasKey: false,
	});
	expect(broken.recall('0.1', 'retry', 'resend')).toEqual({ says: 'new' });
	expect(broken.recall('0.2', 'retry', 'report')).toMatchObject({ says: 'sent' });
	const none = openLedger({ pushCampaignLedger: { id: 7, entries: [] } });
	expect(none.recall('0.1', 'any', 'report')).toMatchObject({ says: 'unknown' });
	expect(none.isEmpty).toBe(false);
});

test('the hundred executions that were retried last are remembered', () => {
	const first = saved(unknown());
	let others = 0;
	const retryOthers = (count: number) => {
		for (const end = others + count; others < end; others += 1) {
			openLedger({ pushCampaignLedger: { id: `other ${others}`, entries: {} } });
		}
	};
	const says = () => openLedger(saved(first)).recall('0.1', 'retry', 'report').says;
	openLedger(saved(first)).keepSent('0.1', row, false);
	for (let again = 0; again < 2; again += 1) {
		retryOthers(99);
		expect(says()).toBe('sent');
	}
	retryOthers(100);
	expect(says()).toBe('unknown');
});
