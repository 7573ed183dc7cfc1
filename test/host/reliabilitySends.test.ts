import { setTimeout as sleep } from 'node:timers/promises';
import { credentialType, freePort, node, outputOf, pushCampaign, type Major } from '../../host';
import { startSimulator, type Fault } from '../../simulator';
import { runNodes, secrets, useStage } from './support';
import { content } from './support/fixtures';
import { anyText, objectWith } from './support/matchers';
import {
	acceptedTitles,
	endsOf,
	failureOf,
	sender,
	sendWorkflow,
	sentItems,
	titled,
	untilRequests,
} from './support/reliabilityWorkflow';

const send = { method: 'POST', path: '/send/' };
const lostAnswer: Fault = { match: send, action: { kind: 'reset-after' } };
const serverTrouble: Fault = {
	match: send,
	action: { kind: 'failure', description: 'Something went wrong' },
};
const majors: Major[] = ['2', '1'];

const titlesOf = (name: string, count: number) => titled(name, count).map(({ title }) => title);

const tooMany = (headers: Record<string, string>): Fault => ({
	match: send,
	action: {
		kind: 'failure',
		type: 'rate_limit',
		description: 'Too many requests',
		status: 429,
		headers,
	},
});

type Row = [
	what: string,
	action: Fault['action'],
	/** How many campaigns the service has all the same. */
	arrived: number,
	error: { type: string; outcome: 'notSent' | 'unknown'; httpCode?: string },
];

const failure = (type?: string): Fault['action'] => ({
	kind: 'failure',
	description: 'Refused',
	...(type === undefined ? {} : { type }),
});
const notSent = (type: string, httpCode: string) => ({
	type,
	httpCode,
	outcome: 'notSent' as const,
});
const unknown = (type: string, httpCode?: string) => ({
	type,
	outcome: 'unknown' as const,
	...(httpCode === undefined ? {} : { httpCode }),
});
const gateway = (status: number, process: boolean, body = '<html></html>'): Fault['action'] => ({
	kind: 'respond',
	status,
	headers: { 'content-type': 'text/html', location: 'http://127.0.0.1:1' },
	body,
	process,
});
const odd = 'unexpected_answer';

const faults: Row[] = [
	[
		'the service does not accept the credential',
		failure('authentication_failure'),
		0,
		notSent('authentication_failure', '401'),
	],
	[
		'the service does not accept a value',
		failure('invalid_value'),
		0,
		notSent('invalid_value', '400'),
	],
	['the service refuses without a type', failure(), 0, notSent('unspecified', '500')],
	['no answer within the timeout', { kind: 'hang', process: true }, 1, unknown('network')],
	[
		'the connection ends before the request is read',
		{ kind: 'reset-before' },
		0,
		unknown('network'),
	],
	['the connection ends before the answer', { kind: 'reset-after' }, 1, unknown('network')],
	['the connection ends within the answer', { kind: 'truncate' }, 1, unknown('network')],
	["a gateway's web page", gateway(502, true), 1, unknown(odd, '502')],
	["a gateway's page that refuses", gateway(404, false), 0, notSent(odd, '404')],
	['a redirect that says that something was done', gateway(303, true), 1, unknown(odd, '303')],
	['an answer of another shape', gateway(200, true, '{"ok":true}'), 1, unknown(odd, '200')],
];

describe.each(majors)('sends on n8n %s.x', (major) => {
	const stage = useStage({ major });

	test('a lost answer is unknown, and is sent again only with Resend Unknown', async () => {
		const workflow = await sendWorkflow(stage(), { settings: { retryOnFail: true, maxTries: 3 } });
		stage().simulator.addFault(lostAnswer);

		const failed = await workflow.run([{ title: 'Sale' }]);
		expect(failed.status).toBe('error');
		expect(failureOf(failed).message).toContain('It is unknown whether this was sent');
		expect(failureOf(failed).description).toContain('dashboard');

		const retried = await stage().client.retryExecution(failed.id);
		expect(retried.status).toBe('error');
		expect(failureOf(retried)).toEqual(failureOf(failed));
		expect(acceptedTitles(stage())).toEqual(['Sale']);

		await workflow.change({ options: { resendUnknown: true } });
		const resent = await stage().client.retryExecution(retried.id, { loadWorkflow: true });
		expect(resent.status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(['Sale', 'Sale']);
	});

	test('Retry of a half sent batch sends the rest', async () => {
		const workflow = await sendWorkflow(stage(), { options: { maxParallel: 1 } });
		stage().simulator.addFault({ ...serverTrouble, skip: 5 });

		const failed = await workflow.run(titled('Batch', 10));
		expect(failed.status).toBe('error');
		expect(failureOf(failed).description).toContain(
			'Sent: 5, not sent: 5, unknown: 0. First to fail: item 5.',
		);
		const firstIds = [...stage().simulator.campaigns.keys()];
		expect(firstIds).toHaveLength(5);

		const retried = await stage().client.retryExecution(failed.id);
		expect(retried.status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Batch', 10));
		const ids = outputOf(retried, sender).map(({ json }) => json['campaignId']);
		expect(ids.slice(0, 5)).toEqual(firstIds);
		expect(new Set(ids).size).toBe(10);
	});

	test('Retry sends the rest of a batch of which one outcome is unknown, and that one never again', async () => {
		const workflow = await sendWorkflow(stage(), { options: { maxParallel: 1 } });
		stage().simulator.addFault({ ...lostAnswer, skip: 2 });

		const failed = await workflow.run(titled('Lost', 6));
		expect(failureOf(failed).description).toContain('Sent: 2, not sent: 3, unknown: 1.');
		const retried = await stage().client.retryExecution(failed.id);
		expect(retried.status).toBe('error');
		expect(failureOf(retried).message).toBe(failureOf(failed).message);
		expect(failureOf(retried).description).toContain('Sent: 5, not sent: 0, unknown: 1.');
		expect(acceptedTitles(stage())).toEqual(titlesOf('Lost', 6));
		await stage().client.retryExecution(retried.id);
		expect(acceptedTitles(stage())).toEqual(titlesOf('Lost', 6));
	});

	test('Retry On Fail sends the rest of a half sent batch', async () => {
		const workflow = await sendWorkflow(stage(), { settings: { retryOnFail: true, maxTries: 3 } });
		stage().simulator.addFault({ ...serverTrouble, skip: 5, times: 2 });

		const execution = await workflow.run(titled('Again', 20));
		expect(execution.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Again', 20).sort());
	});

	test('the error output with Retry On Fail gets what is unknown, and nothing goes out twice', async () => {
		const workflow = await sendWorkflow(stage(), {
			settings: { onError: 'continueErrorOutput', retryOnFail: true, maxTries: 3 },
		});
		stage().simulator.addFault({ ...lostAnswer, match: { ...send, bodyIncludes: 'Mixed 1"' } });
		stage().simulator.addFault({ ...serverTrouble, match: { ...send, bodyIncludes: 'Mixed 2"' } });

		const execution = await workflow.run(titled('Mixed', 4));
		expect(execution.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Mixed', 4).sort());
		expect(outputOf(execution, 'Sent')).toHaveLength(3);
		const notSent = outputOf(execution, 'Not sent').map(({ json }) => json);
		expect(notSent).toMatchObject([
			{ title: 'Mixed 1', error: { type: 'network', outcome: 'unknown' } },
		]);
	});

	test('one item that is not valid keeps the whole batch from going out', async () => {
		const workflow = await sendWorkflow(stage());
		const execution = await workflow.run([...titled('Valid', 3), { title: 'x'.repeat(101) }]);

		expect(execution.status).toBe('error');
		expect(failureOf(execution).description).toContain('Sent: 0, not sent: 4, unknown: 0.');
		expect(stage().simulator.requestCount).toBe(0);
	});

	test.each(faults)('outcome: %s', async (_name, action, arrived, error) => {
		const workflow = await sendWorkflow(stage(), {
			...(action.kind === 'hang' ? { options: { timeout: 5000 } } : {}),
			settings: { onError: 'continueErrorOutput' },
		});
		stage().simulator.addFault({ match: send, action });

		const execution = await workflow.run(titled('One', 1));
		const [item] = outputOf(execution, 'Not sent');
		expect(item?.json['error']).toMatchObject(error);
		expect(stage().simulator.requestCount).toBe(1);
		expect(stage().simulator.campaigns.size).toBe(arrived);
	});

	test('outcome: no connection is made', async () => {
		const credential = await stage().client.createCredential('Nobody there', 'pushCampaignApi', {
			baseUrl: `http://127.0.0.1:${await freePort()}`,
			...secrets,
		});
		const workflow = await sendWorkflow(
			{ ...stage(), credential },
			{ settings: { onError: 'continueErrorOutput' } },
		);
		const [item] = outputOf(await workflow.run(titled('One', 1)), 'Not sent');
		expect(item?.json['error']).toMatchObject({ type: 'network', outcome: 'notSent' });
	});

	test('a redirect is not followed, and is not sent', async () => {
		const elsewhere = await startSimulator();
		try {
			const workflow = await sendWorkflow(stage());
			for (const status of [301, 302, 307, 308]) {
				const location = `${elsewhere.url}/v1/notification/send/all`;
				stage().simulator.addFault({ match: send, action: { kind: 'redirect', location, status } });
				const { message, description } = failureOf(await workflow.run(titled('Away', 1)));
				expect(message).toContain(`redirects to ${new URL(elsewhere.url).host} (HTTP ${status})`);
				expect(description).not.toContain('unknown');
			}
			expect(elsewhere.requestCount).toBe(0);
		} finally {
			await elsewhere.close();
		}
	});

	test('Continue hands no item on as if it was sent: a field that can not be worked out', async () => {
		const workflow = await sendWorkflow(stage(), {
			parameters: { title: '={{ $json.title.toUpperCase() }}' },
			settings: { onError: 'continueRegularOutput' },
		});
		const execution = await workflow.run([{ title: 'one' }, { title: 2 }, { title: 'three' }]);
		expect(endsOf(sentItems(execution))).toEqual(['success', 'notSent', 'success']);
		expect(acceptedTitles(stage())).toEqual(['ONE', 'THREE']);
	});

	test('one item among others goes out with its own credential, where an expression has a word for the others', async () => {
		const { client, simulator } = stage();
		const items = titled('Own', 60).map((item, index) =>
			index === 7 ? { ...item, key: 'not ours' } : item,
		);
		const expected = items.map((_item, index) => (index === 7 ? 'not ours' : secrets.apiKey));
		for (const [index, apiKey] of [
			`={{ $itemIndex === 7 ? 'not ours' : '${secrets.apiKey}' }}`,
			`={{ $input.item?.json?.key ? $input.item.json.key : '${secrets.apiKey}' }}`,
		].entries()) {
			const credential = await client.createCredential(
				`Ours, or its own ${index}`,
				credentialType,
				{
					baseUrl: simulator.url,
					apiKey,
					authToken: secrets.authToken,
				},
			);
			const settings = { onError: 'continueRegularOutput' } as const;
			const workflow = await sendWorkflow(stage(), { credential, settings });
			const before = simulator.requests.length;
			const execution = await workflow.run(items);
			const ends = endsOf(sentItems(execution));
			expect(ends.map((end) => end === 'success')).toEqual(
				expected.map((key) => key === secrets.apiKey),
			);
			const keys = new Map(
				simulator.requests
					.slice(before)
					.map(({ body, headers }) => [/"title":"([^"]+)"/.exec(body)?.[1], headers['servicekey']]),
			);
			expect(items.map(({ title }) => keys.get(title))).toEqual(expected);
		}
	});

	test('each item goes out with its own credential where that holds expressions', async () => {
		const elsewhere = await startSimulator({
			serviceKey: 'other-key',
			authToken: 'other-token',
			lifeSpeed: 0,
		});
		try {
			const credential = await stage().client.createCredential('One for each', credentialType, {
				baseUrl: '={{ $json.site }}',
				apiKey: '={{ $json.key }}',
				authToken: '={{ $json.token }}',
			});
			const here = { site: stage().simulator.url, key: secrets.apiKey, token: secrets.authToken };
			const there = { site: elsewhere.url, key: 'other-key', token: 'other-token' };
			const workflow = await sendWorkflow(stage(), {
				credential,
				settings: { onError: 'continueRegularOutput' },
			});
			const execution = await workflow.run([
				{ title: 'Here 1', ...here },
				{ title: 'There 1', ...there },
				{ title: 'Wrong key', ...there, key: secrets.apiKey },
				{ title: 'Here 2', ...here },
				{ title: 'No site', ...there, site: 'nowhere' },
				{ title: 'There 2', ...there },
			]);
			expect(endsOf(sentItems(execution))).toEqual([
				'success',
				'success',
				'notSent',
				'success',
				'notSent',
				'success',
			]);
			expect(sentItems(execution)[2]).toMatchObject({
				error: { type: 'authentication_failure', httpCode: '401' },
			});
			expect(acceptedTitles(stage()).sort()).toEqual(['Here 1', 'Here 2']);
			expect(acceptedTitles({ simulator: elsewhere }).sort()).toEqual(['There 1', 'There 2']);
		} finally {
			await elsewhere.close();
		}
	});

	test('an execution that is stopped while it waits sends nothing more', async () => {
		const workflow = await sendWorkflow(stage());
		const waitSeconds = 8;
		stage().simulator.addFault(tooMany({ 'retry-after': String(waitSeconds) }));

		const call = workflow.call(titled('Stopped', 1)).catch(() => undefined);
		await untilRequests(stage(), 1);
		const [running] = await stage().client.executions({ workflowId: workflow.id });
		if (running === undefined) throw new Error('Nothing runs');
		await stage().client.stopExecution(running.id);
		expect((await stage().client.waitForExecution(running.id)).status).toBe('canceled');
		// Had the wait gone on, its end would have brought another request.
		await sleep((waitSeconds + 1) * 1000);
		expect(stage().simulator.requestCount).toBe(1);
		expect(stage().simulator.campaigns.size).toBe(0);
		await call;
	});

	test('an execution that is stopped while it sends starts no further item', async () => {
		const workflow = await sendWorkflow(stage(), { options: { maxParallel: 2 } });
		stage().simulator.addFault({ match: send, times: 0, action: { kind: 'delay', ms: 8000 } });

		const call = workflow.call(titled('Under way', 6)).catch(() => undefined);
		await untilRequests(stage(), 2);
		const [running] = await stage().client.executions({ workflowId: workflow.id });
		if (running === undefined) throw new Error('Nothing runs');
		await stage().client.stopExecution(running.id);
		expect((await stage().client.waitForExecution(running.id)).status).toBe('canceled');
		await sleep(9000);
		expect(stage().simulator.requestCount).toBe(2);
		await call;
	});

	test('a server killed in the middle of a send does not send again when it is back', async () => {
		const workflow = await sendWorkflow(stage(), { settings: { retryOnFail: true, maxTries: 3 } });
		stage().simulator.addFault({ match: send, action: { kind: 'hang', process: true } });

		const call = workflow.call(titled('Killed', 1)).catch(() => undefined);
		await untilRequests(stage(), 1);
		await stage().crash();
		await call;

		const [crashed] = await stage().client.waitForExecutions({ workflowId: workflow.id });
		expect(crashed?.status).toBe('crashed');
		expect(acceptedTitles(stage())).toEqual(['Killed 1']);

		// n8n kept nothing of the node in a crashed execution: Retry begins at the trigger.
		const retried = await stage().client.retryExecution(crashed?.id ?? '');
		expect(retried.status).toBe('success');
		expect(acceptedTitles(stage())).toEqual(['Killed 1', 'Killed 1']);
	});

	// The Code node of n8n 2.x hands on copies.
	if (major === '1') {
		test('Continue hands no item on as if it was sent: one that holds itself', async () => {
			const code = node(
				'Code',
				'n8n-nodes-base.code',
				{ jsCode: 'const items = $input.all(); items[1].json.self = items[1].json; return items;' },
				{ typeVersion: 2 },
			);
			const action = pushCampaign(
				{ ...content, title: '={{ $json.title }}' },
				{ credential: stage().credential, onError: 'continueRegularOutput' },
			);
			const { execution } = await runNodes(stage(), [code, action], titled('Round', 3));
			const ends = endsOf(sentItems(execution));
			expect(ends).toHaveLength(3);
			expect([ends[0], ends[2]]).toEqual(['success', 'success']);
			expect(acceptedTitles(stage())).toHaveLength(ends.filter((end) => end === 'success').length);
		});
		return;
	}

	// The rest is this node's alone, whatever version runs it.
	test('a rate limit slows the batch down, and everything goes out once', async () => {
		const workflow = await sendWorkflow(stage());
		stage().simulator.setRateLimit({ perSecond: 20, burst: 5 });

		const execution = await workflow.run(titled('Slow', 40));
		expect(execution.status).toBe('success');
		expect(acceptedTitles(stage()).sort()).toEqual(titlesOf('Slow', 40).sort());
	});

	test('a rate limit that stays ends as not sent, with httpCode 429', async () => {
		const workflow = await sendWorkflow(stage(), {
			options: { rateLimitRetries: 1 },
			settings: { onError: 'continueErrorOutput' },
		});
		stage().simulator.addFault({ ...tooMany({ 'retry-after': '1' }), times: 0 });

		const [item] = outputOf(await workflow.run(titled('Never', 1)), 'Not sent');
		const error = { type: 'rate_limit', outcome: 'notSent', httpCode: '429' };
		expect(item?.json['error']).toMatchObject(error);
		expect(stage().simulator.requestCount).toBe(2);
	});

	test.each([
		['a quota that is used up, with Continue', { onError: 'continueRegularOutput' }],
		['a quota that is used up', {}],
	] as const)('%s: a run of 500 items ends soon', async (_way, settings) => {
		const workflow = await sendWorkflow(stage(), { settings, options: { rateLimitRetries: 2 } });
		stage().simulator.addFault({ ...tooMany({}), skip: 10, times: 0 });

		const started = Date.now();
		const execution = await workflow.run(titled('Quota', 500));
		// Two pauses, of a quarter of a second and of one, and the 500 items' own time.
		expect(Date.now() - started).toBeLessThan(20_000);
		expect(stage().simulator.campaigns.size).toBe(10);
		expect(stage().simulator.requestCount).toBeLessThan(100);
		if (execution.status === 'error') {
			expect(failureOf(execution).description).toContain('Sent: 10, not sent: 490, unknown: 0.');
			return;
		}
		expect(endsOf(sentItems(execution)).filter((end) => end === 'notSent')).toHaveLength(490);
		const codes = sentItems(execution).flatMap(({ error }) => (error === undefined ? [] : [error]));
		expect(codes).toEqual(
			codes.map(() => objectWith({ type: 'rate_limit', httpCode: '429', outcome: 'notSent' })),
		);
	});

	test('a service that asks to wait for an hour is asked no more, also with Continue', async () => {
		const workflow = await sendWorkflow(stage(), {
			settings: { onError: 'continueRegularOutput' },
		});
		stage().simulator.addFault({ ...tooMany({ 'retry-after': '3600' }), times: 0 });

		const started = Date.now();
		const execution = await workflow.run(titled('Hour', 500));
		expect(Date.now() - started).toBeLessThan(20_000);
		expect(endsOf(sentItems(execution))).toEqual(titled('Hour', 500).map(() => 'notSent'));
		// Those that were under way at the first refusal.
		expect(stage().simulator.requestCount).toBeLessThanOrEqual(20);
	});

	test('a few items that are refused for good do not hold up the others', async () => {
		const workflow = await sendWorkflow(stage(), {
			settings: { onError: 'continueRegularOutput' },
			options: { rateLimitRetries: 3 },
		});
		stage().simulator.addFault({
			...tooMany({}),
			match: { ...send, bodyIncludes: 'Capped' },
			times: 0,
		});
		const started = Date.now();
		const execution = await workflow.run([
			...titled('Taken', 100),
			...titled('Capped', 5),
			...titled('Taken too', 100),
		]);
		// Three pauses of their own: 0.25 s, 1 s and 4 s.
		expect(Date.now() - started).toBeLessThan(25_000);
		const ends = endsOf(sentItems(execution));
		expect(ends.slice(100, 105)).toEqual(titled('Capped', 5).map(() => 'notSent'));
		expect(ends.filter((end) => end === 'success')).toHaveLength(200);
		expect(stage().simulator.campaigns.size).toBe(200);
	});

	test.each([
		['an unknown operation', { operation: '={{ "sendToMoon" }}' }],
		['an empty operation', { operation: '={{ "" }}' }],
		['an operation that came to nothing', { operation: '={{ null }}' }],
		['an operation that is an object', { operation: '={{ { name: "sendToAll" } }}' }],
		['an unknown resource', { resource: '={{ "moon" }}' }],
		['a resource that came to nothing', { resource: '={{ null }}' }],
		['an operation of another resource', { resource: 'site', operation: 'sendToAll' }],
	])('Continue hands no item on as if it was sent: %s', async (_name, parameters) => {
		const workflow = await sendWorkflow(stage(), {
			parameters,
			settings: { onError: 'continueRegularOutput' },
		});
		const execution = await workflow.run(titled('Bad', 3));
		expect(stage().simulator.campaigns.size).toBe(0);
		const items = sentItems(execution);
		expect(items.map(({ error }) => error)).toEqual(
			titled('Bad', 3).map(() => objectWith({ message: anyText, description: anyText })),
		);
		expect(items.map((item) => Object.keys(item))).toEqual(items.map(() => ['error']));
	});
});
