import { IdempotencyKeys } from '../../../nodes/PushCampaign/send/keys/idempotencyKeys';
import { Ledger } from '../../../nodes/PushCampaign/send/ledger/ledger';
import type { Send } from '../../../nodes/PushCampaign/send/sendsOnce';
import { SendsOnce } from '../../../nodes/PushCampaign/send/sendsOnce';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';
import { ProcessedData } from '../../support/processedData';
import { executeFunctions } from '../execution/support';

test('refuses a late item even if the clock is set back while its key is claimed', async () => {
	const database = new ProcessedData();
	const newKeys = () => new IdempotencyKeys(executeFunctions({ database }).context, 'send');
	const claim = { key: 'k', resendUnknown: false, timeoutMs: 1000 };
	const request = jest.fn();
	const late = new InvalidInput('Send At is in the past', 'Choose a later time.');
	const send: Send = {
		...claim,
		identity: { kind: 'send', position: '0.0', content: 'a', executionId: '12' },
		isKeyMade: false,
		needsJournal: false,
		late,
		checkTime: () => undefined,
		request,
	};
	const sends = new SendsOnce(
		new Ledger({ id: 'ledger', sends: {} }),
		newKeys(),
		async () => await Promise.resolve(undefined),
	);

	// Another execution sends under its key, and is refused.
	const problem = explain(reasons.failure({ status: 'failure', type: 'bad_request' }), 'send');
	await newKeys().once(claim, async () => {
		expect(await sends.recall(send, false)).toBeUndefined();
		return { kind: 'failed', problem };
	});
	expect(await sends.once(send)).toEqual({ kind: 'invalid', invalid: late });
	expect(request).not.toHaveBeenCalled();
	expect(database.rows.size).toBe(0);
});
