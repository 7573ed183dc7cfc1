import { operations } from '../../../nodes/PushCampaign/operations';

/** The values of all operations that there are, so that no table of tests forgets one. */
export const everyOperation = operations.map(({ option }) => option.value);

/** What every send needs. */
export const content = {
	title: 'Autumn sale',
	message: '20 % off everything, this week only',
	targetUrl: 'https://example.com/sale',
};

/** `content` as the service gets it. Specification, Notification / campaign. */
export const contentBody = {
	title: content.title,
	message: content.message,
	target_url: content.targetUrl,
};
