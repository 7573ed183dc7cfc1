import { InvalidInput } from '../../../nodes/PushCampaign/service/invalidInput';

/** What an action refuses its input with; fails the test when it accepts it. */
export function refusal(action: () => unknown): InvalidInput {
	try {
		action();
	} catch (error) {
		if (error instanceof InvalidInput) return error;
		throw error;
	}
	throw new TypeError('The input was accepted');
}

/** Matches what a value is refused with; the value may stand behind it. */
export const withAnyValue = (message: string) =>
	new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:: .+)?$`, 's');
