import type { Ending } from '../operations/operation';

// How an item ended of which nothing was sent now.

const nothingSent = (why: string): Ending => ({
	status: 'alreadySent',
	description: `Nothing was sent for this item: this ID was sent ${why}, and another ID in 'Send Only Once' sends it again`,
});

export const alreadySentUnderKey = nothingSent('earlier');

export const sentByItem = (index: number): Ending => nothingSent(`by item ${index} of this run`);

export const countedAsSent: Ending = {
	status: 'alreadySent',
	description: 'It counts as sent, as chosen under Unknown Outcome; nothing was sent now',
};
