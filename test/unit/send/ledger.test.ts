import { z } from 'zod';
import { openLedger, type Ledger } from '../../../nodes/PushCampaign/send/ledger';
import { failureProblem, unknownProblem } from '../../../nodes/PushCampaign/service/problems';

const lost = unknownProblem('the connection was lost', { isSend: true });
const refused = failureProblem(
	{ type: 'invalid_value', description: '' },
	{ statusCode: 200 },
	{ isSend: true },
);
const row = {
	campaignId: '1001',
	audience: 'segments',
	segmentIds: ['12'],
	attributes: { a: true },
};

/** What n8n's database gives back of what an execution held. */
function saved(context: object): object {
	const copy: unknown = JSON.parse(JSON.stringify(context));
	return { ...z.record(z.string(), z.unknown()).parse(copy) };
}

/** A context in which the first execution has left one send as it ended. */
function contextWith(end: (ledger: Ledger) => void): object {
	const context = {};
	const ledger = openLedger(context);
	ledger.begin('0.1', 'first');
	end(ledger);
	return context;
}
const sent = () => contextWith((ledger) => ledger.keepSent('0.1', row));
const unknown = () => contextWith((ledger) => ledger.keepFailed('0.1', 'first', lost));

test('an item that was sent gives its first answer again, whatever is chosen about unknown ones', () => {
	const ledger = openLedger(saved(sent()));
	for (const choice of ['report', 'resend', 'countAsSent'] as const) {
		expect(ledger.recall('0.1', 'retry', choice)).toEqual({ says: 'sent', row });
	}
	expect(ledger.recall('0.2', 'retry', 'report')).toEqual({ says: 'new' });
	expect(ledger.recall('1.1', 'retry', 'report')).toEqual({ says: 'new' });
});

test('an item that was certainly not sent is as new', () => {
	const context = contextWith((ledger) => ledger.keepFailed('0.1', 'first', refused));
	expect(openLedger(saved(context)).recall('0.1', 'retry', 'report')).toEqual({ says: 'new' });
});

test('an unknown item fails again with the same words, unless its user chose otherwise for a later execution', () => {
	const ledger = openLedger(saved(unknown()));
	const again = { says: 'unknown', problem: lost };
	expect(ledger.recall('0.1', 'retry', 'report')).toEqual(again);
	expect(ledger.recall('0.1', 'first', 'resend')).toEqual(again);
	expect(ledger.recall('0.1', 'retry', 'resend')).toEqual({ says: 'new' });
	expect(ledger.recall('0.1', 'retry', 'countAsSent')).toEqual({ says: 'countAsSent' });
});

test('a request that has left and was not answered is unknown, and nobody decides about it while it is in flight', () => {
	const context = contextWith(() => undefined);
	const inFlight = openLedger(context).recall('0.1', 'other', 'resend');
	expect(inFlight).toMatchObject({ says: 'unknown' });
	expect(openLedger(saved(context)).recall('0.1', 'other', 'resend')).toEqual({ says: 'new' });
});

test('a second Retry knows what the first one sent, also if n8n does not', () => {
	const first = saved(unknown());
	const retry = openLedger(saved(first));
	retry.begin('0.1', 'retry');
	retry.keepSent('0.1', row);
	expect(openLedger(saved(first)).recall('0.1', 'retry 2', 'resend')).toEqual({
		says: 'sent',
		row,
	});
});

test('a further try of the same execution has the same ledger, and a new execution a new one', () => {
	const context = sent();
	expect(openLedger(context)).toBe(openLedger(context));
	expect(openLedger({}).recall('0.1', 'new', 'report')).toEqual({ says: 'new' });
});

test('what n8n holds that is no ledger counts as none', () => {
	const context = { pushCampaignLedger: { id: 7, entries: [] } };
	expect(openLedger(context).recall('0.1', 'any', 'report')).toEqual({ says: 'new' });
});
