import type { ItemParameters } from '../../../nodes/PushCampaign/operations/parameters';

/** The parameters of one item; those that are left out are missing. */
export function itemOf(
	parameters: Readonly<Record<string, unknown>>,
	timezone = 'UTC',
): ItemParameters {
	return { timezone, get: ({ name }) => parameters[name] };
}

/** What every send needs. */
export const content = {
	title: 'Summer sale',
	message: 'Everything must go',
	targetUrl: 'https://shop.example/sale',
};

/** The same in the service's names. */
export const contentBody = {
	title: 'Summer sale',
	message: 'Everything must go',
	target_url: 'https://shop.example/sale',
};
