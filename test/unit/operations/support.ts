import type { Judge } from '../../../nodes/PushCampaign/operations/judgeText';
import type { ItemParameters, Origin } from '../../../nodes/PushCampaign/operations/parameters';
import type { Client, ServiceRequest } from '../../../nodes/PushCampaign/service/client';
import { explain, reasons } from '../../../nodes/PushCampaign/service/failures';

/** The value of a parameter, or of a field of a collection: `options.dryRun`. */
const valueAt = (parameters: object, path: string): unknown =>
	path
		.split('.')
		.reduce<unknown>(
			(value, name) =>
				typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined,
			parameters,
		);

/**
 * The parameters of one item; those that are left out are missing.
 * @param origins where texts come from, by their path; a text of any other path was entered as it is
 */
export function itemOf(
	parameters: Readonly<Record<string, unknown>>,
	timezone = 'UTC',
	input: ItemParameters['input'] = {},
	origins: Readonly<Record<string, Origin>> = {},
): ItemParameters {
	return {
		timezone,
		input,
		get: ({ name }) => valueAt(parameters, name),
		originOf: (path) => origins[path] ?? {},
	};
}

/** Lets every text pass. */
export const judgeNothing: Judge = (value) => value;

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

/** A client that keeps what it is asked, and gives one answer to everything. */
export function recordingClient(answer: object) {
	const asked: Array<{ request: ServiceRequest; timeoutMs: number }> = [];
	const client: Client = {
		async request(request, schema, timeoutMs) {
			asked.push({ request, timeoutMs });
			const parsed = schema.safeParse(answer);
			return parsed.success
				? { kind: 'done', value: parsed.data, raw: answer }
				: { kind: 'failed', problem: explain(reasons.connectionLost, request.kind) };
		},
	};
	return { client, asked };
}
