import { EntryWriter } from '../../../nodes/PushCampaign/send/entryWriter';
import { DeduplicationStore, executeFunctions } from '../execution/support';

describe('the stamp of a write', () => {
	/** Records two claims in one write, and gives what looks for its stamp. */
	async function claimTwo() {
		const store = new DeduplicationStore();
		const { helpers } = executeFunctions({ store }).context;
		const writer = new EntryWriter();
		const [one, two] = await Promise.all(
			['key:one', 'key:two'].map((entry) => writer.record([entry], helpers, true)),
		);
		const stamps = [one?.stamp ?? '', two?.stamp ?? ''];
		const isGone = async (stamp: string) =>
			(await writer.record([stamp], helpers)).fresh.has(stamp);
		return { store, stamps, isGone };
	}

	test('is one for all claims of the write, and is found as long as nobody wrote over it', async () => {
		const { stamps, isGone } = await claimTwo();
		const [one = '', two = ''] = stamps;
		expect(one).toBe(two);
		expect([await isGone(one), await isGone(two)]).toEqual([false, false]);
	});

	test('is gone for every claim once another process wrote over it, though looking records it again', async () => {
		const { store, stamps, isGone } = await claimTwo();
		const [one = '', two = ''] = stamps;
		store.entries = [];
		expect([await isGone(one), await isGone(two), await isGone(one)]).toEqual([true, true, true]);
	});
});
