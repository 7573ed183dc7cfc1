import { connect } from '../../nodes/PushCampaign/n8n/connection';
import {
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	matching,
	outputOf,
	titled,
	titlesAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { ownAgentContext, retryRun, runWorkflow } from './support/run';

const simulator = useSimulator({ pathPrefix: '/push' });
const otherSite = useSimulator({ serviceKey: 'other-key' });

const many = titled(...Array.from({ length: 50 }, (_, index) => `No ${index}`));
const byTitle = { title: '={{ $json.title }}' };

describe('a credential without an expression', () => {
	test('is opened once for all items, whatever its address ends in', async () => {
		const onOpen = jest.fn();
		const credentials = credentialsFor({ url: `${simulator().url}/` });
		const done = await runWorkflow(workflowOf(byTitle), { credentials, onOpen, input: many });
		expect(done.status).toBe('success');
		expect(onOpen).toHaveBeenCalledTimes(1);
		expect(simulator().requests[0]?.path).toBe('/push/v1/notification/send/all');
	});

	test('that is not valid is mended, and Retry sends the items with it then', async () => {
		const credentials = credentialsFor({ url: 'push.example.com' });
		const options = { credentials, input: many };
		const told = failureOf(await runWorkflow(workflowOf(byTitle), options));
		expect(told.name).toBe('NodeOperationError');
		expect(told.message).toMatch(/^'Base URL' of the credential /);
		expect(told.description).toMatch(/^Enter .*\. 'Retry with currently saved workflow'/);
	});

	test('that can’t be opened fails once for 50 items', async () => {
		const onOpen = jest.fn(() => {
			throw new Error('The vault is sealed');
		});
		const options = { credentials: credentialsFor(simulator()), onOpen, input: many };
		const told = failureOf(await runWorkflow(workflowOf(byTitle), options));
		expect(told.message).toBe(
			'n8n could not open the credential: The vault is sealed. None of 50 was sent.',
		);
		expect(told.cause).toBe('temporarily-unavailable');
		expect(onOpen).toHaveBeenCalledTimes(1);

		const done = await runWorkflow(workflowOf(byTitle, continuing), options);
		expect(outputOf(done)).toHaveLength(50);
		expect(outputOf(done)[49]).toMatchObject({
			status: 'notSent',
			error: {
				message: told.message.replace(/\. None of .*/, ''),
				type: 'network',
				outcome: 'notSent',
			},
		});
		expect(hintsOf(done)[0]).toMatch(
			/^50 of 50 items failed: see the error column\. Not sent: items 0 to 49 /,
		);
		expect(onOpen).toHaveBeenCalledTimes(2);
	});

	test('that can’t be opened by a Retry leaves what was sent earlier as it was', async () => {
		simulator().addFault(faultFor('b', failure()));
		const given = { credentials: credentialsFor(simulator()), input: titled('a', 'b') };
		const failed = await runWorkflow(workflowOf(byTitle), given);
		const onOpen = () => {
			throw new Error('The vault is sealed');
		};
		const told = failureOf(await retryRun(failed, workflowOf(byTitle), { ...given, onOpen }));
		expect(told.message).toMatch(/\. 0 of 2 were sent now, 1 earlier\.$/);
		const json = workflowOf(byTitle, continuing);
		expect(outputOf(await retryRun(failed, json, { ...given, onOpen }))).toMatchObject([
			{ campaignId: '1001', status: 'success' },
			{ title: 'b', audience: 'all', status: 'notSent' },
		]);
	});

	test('that can’t be opened fails a read once as well', async () => {
		const onOpen = jest.fn(() => {
			throw new Error('The vault is sealed');
		});
		const read = { operation: 'getStatus', campaignId: '={{ 1000 + $itemIndex }}' };
		const options = { credentials: credentialsFor(simulator()), onOpen, input: many };
		const told = failureOf(await runWorkflow(workflowOf(read), options));
		expect(told.message).toBe('n8n could not open the credential: The vault is sealed');
		expect(onOpen).toHaveBeenCalledTimes(1);
		const done = await runWorkflow(workflowOf(read, continuing), options);
		expect(hintsOf(done)).toEqual(['50 of 50 items failed: see the error column.']);
		expect(outputOf(done)[49]).toMatchObject({ campaignId: '1049', error: { type: 'network' } });
		expect(onOpen).toHaveBeenCalledTimes(2);
		const invalid = { credentials: credentialsFor({ url: 'push.example.com' }), input: many };
		const refused = failureOf(await runWorkflow(workflowOf(read), invalid));
		expect(refused.message).toMatch(/^'Base URL' of the credential /);
	});

	test('sends the headers that its provider expects', async () => {
		const credentials = credentialsFor(simulator(), {
			headerNames: 'custom',
			apiKeyHeader: 'x-key',
			authTokenHeader: 'x-token',
		});
		await runWorkflow(workflowOf(), { credentials });
		const [request] = simulator().requests;
		expect(request?.headers).toMatchObject({ 'x-key': 'demo-key', 'x-token': 'demo-token' });
		expect(request?.headers).not.toHaveProperty('servicekey');
	});
});

describe('a credential with an expression', () => {
	const credentials = () =>
		credentialsFor(simulator(), { baseUrl: '={{ $json.url }}', apiKey: '={{ $json.key }}' });
	const itemFor = (title: string, site = simulator()) => ({
		title,
		url: site.url,
		key: site.settings.serviceKey,
	});

	test('goes with each item as n8n evaluates it for that item', async () => {
		const input = inputOf(itemFor('a'), itemFor('b', otherSite()), itemFor('c'));
		const done = await runWorkflow(workflowOf(byTitle), { credentials: credentials(), input });
		expect(outputOf(done).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
		expect(titlesAt(simulator()).sort()).toEqual(['a', 'c']);
		expect(titlesAt(otherSite())).toEqual(['b']);
	});

	test('that fails for one item fails for that one alone', async () => {
		const input = inputOf(itemFor('a'), { title: 'b', url: 'ftp://x', key: 'k' }, itemFor('c'));
		const options = { credentials: credentials(), input };
		const done = await runWorkflow(workflowOf(byTitle, continuing), options);
		expect(outputOf(done).map(({ status }) => status)).toEqual(['success', 'notSent', 'success']);
		expect(outputOf(done)[1]).toMatchObject({ error: { type: 'validation' } });
		expect(hintsOf(done)[0]).toMatch(/^1 of 3 items failed: /);
		const told = failureOf(await runWorkflow(workflowOf(byTitle), options));
		expect(told.message).toMatch(
			/^1 of 3 items is not valid\. None was sent\. Item 1 \(counted from 0\): 'Base URL' /,
		);
	});

	test('that can’t be evaluated for an item fails with the number of that item', async () => {
		const baseUrl = "={{ $json.url ?? $('Not there').item.json.url }}";
		const done = await runWorkflow(workflowOf(byTitle, continuing), {
			credentials: credentialsFor(simulator(), { baseUrl }),
			input: inputOf(itemFor('a'), { title: 'b' }),
		});
		expect(outputOf(done)).toMatchObject([
			{ status: 'success' },
			{
				status: 'notSent',
				error: {
					type: 'validation',
					message: matching(/could not open the credential/),
				},
			},
		]);
	});

	test('reads for each item from its own site', async () => {
		otherSite().configure({ subscribers: { active: 7, lifetime: 9 } });
		const done = await runWorkflow(
			workflowOf({ resource: 'site', operation: 'getSubscriberCount' }),
			{ credentials: credentials(), input: inputOf(itemFor('a'), itemFor('b', otherSite())) },
		);
		expect(outputOf(done).map(({ activeSubscribers }) => activeSubscribers)).toEqual([10_000, 7]);
	});
});

// Keys and baselines are saved with it: a site that is made in another way makes all of them new.
describe('a site', () => {
	const fixed = 'qtZgeoaQ6qX9BaQj';
	const evaluated = 'kr9mpu5NAWUTIV9_';
	const expression = (value: string) => `={{ '${value}' }}`;
	const siteOf = async (changes: Record<string, string>, id = '1') => {
		const credentials = credentialsFor({ url: 'https://push.example/api' }, changes);
		const json = workflowOf({}, { credentials: { pushCampaignApi: { id, name: 'Test' } } });
		return (await connect(ownAgentContext(json, { credentials }), undefined)).site;
	};

	test.each<{ name: string; changes: Record<string, string> }>([
		{ name: 'whose address ends in a slash', changes: { baseUrl: 'https://push.example/api/' } },
		{ name: 'with a new key and token', changes: { apiKey: 'new', authToken: 'new' } },
		{ name: 'with other header names', changes: { headerNames: 'webpushr' } },
	])('stays the same for a credential without an expression $name', async ({ changes }) => {
		expect([await siteOf({}), await siteOf(changes)]).toEqual([fixed, fixed]);
	});

	test.each<{ name: string; changes: Record<string, string> }>([
		{ name: 'for its key', changes: { apiKey: expression('demo-key') } },
		{ name: 'for its token', changes: { authToken: expression('new') } },
		{ name: 'for its header names', changes: { headerNames: expression('webpushr') } },
		{ name: 'for its address', changes: { baseUrl: expression('https://push.example/api') } },
	])('has the API key in it if the credential has an expression $name', async ({ changes }) => {
		expect(await siteOf(changes)).toBe(evaluated);
	});

	test('is another one at another address, in another credential, and with another key by an expression', async () => {
		const sites = [
			await siteOf({}),
			await siteOf({ baseUrl: 'https://push.example' }),
			await siteOf({}, '2'),
			await siteOf({ apiKey: expression('demo-key') }),
			await siteOf({ apiKey: expression('new') }),
		];
		expect(new Set(sites).size).toBe(5);
	});
});
