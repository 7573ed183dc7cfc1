import { connect } from '../../nodes/PushCampaign/n8n/connection';
import {
	byTitle,
	continuing,
	credentialsFor,
	failure,
	failureOf,
	faultFor,
	hintsOf,
	inputOf,
	matching,
	numbered,
	outputOf,
	retriesAt,
	runsAt,
	titled,
	titlesAt,
	useSimulator,
	workflowOf,
} from './support/pushCampaign';
import { ownAgentContext } from './support/run';

const simulator = useSimulator({ pathPrefix: '/push' });
const otherSite = useSimulator({ serviceKey: 'other-key' });

const run = runsAt(simulator);
const many = numbered(50);
const getCount = { resource: 'site', operation: 'getSubscriberCount' };

describe('a credential without an expression', () => {
	const onOpen = jest.fn();
	beforeEach(() => onOpen.mockReset());
	const seal = () =>
		onOpen.mockImplementation(() => {
			throw new Error('The vault is sealed');
		});
	const sealed = 'n8n could not open the credential: The vault is sealed';
	const invalid = { credentials: credentialsFor({ url: 'push.example.com' }) };

	test('is opened once for all items, whatever its address ends in', async () => {
		const credentials = credentialsFor({ url: `${simulator().url}/` });
		const done = await run(byTitle, many, {}, { credentials, onOpen });
		expect(done.status).toBe('success');
		expect(onOpen).toHaveBeenCalledTimes(1);
		expect(simulator().requests[0]?.path).toBe('/push/v1/notification/send/all');
	});

	test('that is not valid is named with its field, and what Retry does then', async () => {
		const told = failureOf(await run(byTitle, many, {}, invalid));
		expect(told.name).toBe('NodeOperationError');
		expect(told.message).toMatch(/^'Base URL' of the credential /);
		expect(told.description).toMatch(/^Enter .*\. n8n's 'Retry' /);
		const ofRead = failureOf(await run(getCount, many, {}, invalid));
		expect(ofRead.message).toMatch(/^'Base URL' of the credential /);
	});

	test('that can’t be opened fails once for 50 items', async () => {
		seal();
		const told = failureOf(await run(byTitle, many, {}, { onOpen }));
		expect(told.message).toBe(`${sealed}. None of these 50 was sent.`);
		expect(told.cause).toBe('temporarily-unavailable');
		expect(told.description).toMatch(/^Check the credential that this node has chosen\./);
		expect(onOpen).toHaveBeenCalledTimes(1);
		const done = await run(byTitle, many, continuing, { onOpen });
		expect(outputOf(done)).toHaveLength(50);
		const error = { message: sealed, type: 'network', outcome: 'notSent' };
		expect(outputOf(done)[49]).toMatchObject({ status: 'notSent', error });
		expect(hintsOf(done)[0]).toMatch(
			/^50 of 50 items failed: .* Not sent: items 0 to 49, counted from 0\.$/,
		);
		expect(onOpen).toHaveBeenCalledTimes(2);
	});

	test('that can’t be opened fails a read once as well', async () => {
		seal();
		const read = { operation: 'getStatus', campaignId: '={{ 1000 + $itemIndex }}' };
		expect(failureOf(await run(read, many, {}, { onOpen })).message).toBe(sealed);
		expect(onOpen).toHaveBeenCalledTimes(1);
		const done = await run(read, many, continuing, { onOpen });
		expect(hintsOf(done)).toEqual(['50 of 50 items failed: see the error column.']);
		expect(outputOf(done)[49]).toMatchObject({ campaignId: '1049', error: { type: 'network' } });
		expect(onOpen).toHaveBeenCalledTimes(2);
	});

	test('that can’t be opened by a Retry leaves what was sent earlier as it was', async () => {
		simulator().addFault(faultFor('b', failure()));
		const failed = await run(byTitle, titled('a', 'b'));
		seal();
		const again = retriesAt(simulator);
		const told = failureOf(await again(failed, byTitle, {}, { onOpen }));
		expect(told.message).toMatch(/\. 0 of these 2 were sent now, 1 earlier\.$/);
		expect(outputOf(await again(failed, byTitle, continuing, { onOpen }))).toMatchObject([
			{ campaignId: '1001', status: 'success' },
			{ title: 'b', audience: 'all', status: 'notSent' },
		]);
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
		const done = await run(byTitle, input, {}, { credentials: credentials() });
		expect(outputOf(done).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
		expect(titlesAt(simulator()).sort()).toEqual(['a', 'c']);
		expect(titlesAt(otherSite())).toEqual(['b']);
	});

	test('that fails for one item fails for that one alone', async () => {
		const input = inputOf(itemFor('a'), { title: 'b', url: 'ftp://x', key: 'k' }, itemFor('c'));
		const done = await run(byTitle, input, continuing, { credentials: credentials() });
		expect(outputOf(done)).toMatchObject([
			{ status: 'success' },
			{ status: 'notSent', error: { type: 'validation' } },
			{ status: 'success' },
		]);
		expect(hintsOf(done)[0]).toMatch(/^1 of 3 items failed: /);
		const told = failureOf(await run(byTitle, input, {}, { credentials: credentials() }));
		expect(told.message).toMatch(
			/^1 of 3 items is not valid\. None of these 3 was sent\. Item 1, counted from 0: 'Base URL' /,
		);
	});

	test('that can’t be evaluated for an item fails with the number of that item', async () => {
		const baseUrl = "={{ $json.url ?? $('Not there').item.json.url }}";
		const input = inputOf(itemFor('a'), { title: 'b' });
		const done = await run(byTitle, input, continuing, {
			credentials: credentialsFor(simulator(), { baseUrl }),
		});
		const error = { type: 'validation', message: matching(/could not open the credential/) };
		expect(outputOf(done)).toMatchObject([{ status: 'success' }, { status: 'notSent', error }]);
	});

	test('reads for each item from its own site', async () => {
		otherSite().configure({ subscribers: { active: 7, lifetime: 9 } });
		const input = inputOf(itemFor('a'), itemFor('b', otherSite()));
		const done = await run(getCount, input, {}, { credentials: credentials() });
		expect(outputOf(done).map(({ activeSubscribers }) => activeSubscribers)).toEqual([10_000, 7]);
	});
});

// Keys and baselines are saved with it: a site that is made in another way makes all of them new.
describe('a site', () => {
	const url = 'https://push.example/api';
	const fixed = 'qtZgeoaQ6qX9BaQj';
	const evaluated = 'kr9mpu5NAWUTIV9_';
	const expression = (value: string) => `={{ '${value}' }}`;
	const siteOf = async (changes: Record<string, string>, id = '1') => {
		const credentials = credentialsFor({ url }, changes);
		const json = workflowOf({}, { credentials: { pushCampaignApi: { id, name: 'Test' } } });
		return (await connect(ownAgentContext(json, { credentials }), undefined)).site;
	};

	test.each<{ what: string; changes: Record<string, string> }>([
		{ what: 'an address that ends in a slash', changes: { baseUrl: `${url}/` } },
		{ what: 'another token', changes: { authToken: 'new' } },
		{ what: 'another key', changes: { apiKey: 'new' } },
		{ what: 'other header names', changes: { headerNames: 'webpushr' } },
	])('stays the same with $what', async ({ changes }) => {
		expect([await siteOf({}), await siteOf(changes)]).toEqual([fixed, fixed]);
	});

	test.each<{ what: string; changes: Record<string, string> }>([
		{ what: 'key', changes: { apiKey: expression('demo-key') } },
		{ what: 'token', changes: { authToken: expression('new') } },
		{ what: 'header names', changes: { headerNames: expression('webpushr') } },
		{ what: 'address', changes: { baseUrl: expression(url) } },
	])('has the API key in it if an expression gives the $what', async ({ changes }) => {
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
