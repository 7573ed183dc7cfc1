import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chain, node, pushCampaignTrigger, type Major } from '../../host';
import type { Fault } from '../../simulator';
import { useStage } from './support';
import { allExecutions } from './support/reliabilityEvents';
import { sendWorkflow, titled } from './support/reliabilityWorkflow';

// Around the marks stand characters that percent-encoding, JSON and base64 change. A mark itself stays as
// it is wherever its secret is written as text.
const marks = ['7f3a91c2d48e55aa10b3', 'b85ed04c66f1927e0cd8'] as const;
const access = { apiKey: `MARKED+key/=${marks[0]}&end`, authToken: `MARKED?token"${marks[1]}%end` };

const forms = marks.flatMap((mark) => [
	mark,
	Buffer.from(mark).toString('hex'),
	// Within other text a mark begins at any of three places of a base64 group.
	...[0, 1, 2].map((shift) =>
		Buffer.from(' '.repeat(shift) + mark)
			.toString('base64')
			.slice(4, -4),
	),
]);

/** The forms in which a secret stands in a text, or in the bytes of a file. */
const foundIn = (text: string | Buffer) => forms.filter((form) => text.includes(form));

const echo = [
	access.apiKey,
	encodeURIComponent(access.authToken),
	Buffer.from(access.apiKey).toString('base64'),
].join(' ');

const refusal: Fault = {
	times: 0,
	action: { kind: 'failure', type: 'authentication_failure', description: echo },
};

/** An answer to a send, and to the read of a campaign, with the secrets wherever they may stand. */
const record = {
	status: 'success',
	description: echo,
	ID: 5,
	notification_status: access.apiKey,
	notification_id: '5',
	count: { clicked: '1' },
	[access.authToken]: { deep: [access.apiKey] },
};

/** Everything that can go wrong, most of it with the secrets in the answer. */
const faults: Array<Fault['action']> = [
	refusal.action,
	{ kind: 'failure', type: 'header_invalid', description: `serviceKey ${echo} is not valid` },
	{ kind: 'failure', type: echo, description: echo },
	{ kind: 'failure', description: `Something went wrong with ${echo}`, status: 500 },
	{ kind: 'failure', type: 'rate_limit', description: `Too many for ${echo}`, status: 429 },
	{ kind: 'respond', status: 401, body: echo },
	{ kind: 'respond', status: 502, body: `<html>${echo}</html>` },
	{ kind: 'respond', body: JSON.stringify(record) },
	{ kind: 'redirect', location: 'http://127.0.0.1:1/' },
	{ kind: 'truncate' },
	{ kind: 'reset-before' },
	{ kind: 'reset-after' },
	{ kind: 'hang', process: true },
];

/** Addresses at which no push service is. */
const noService = [
	'http://127.0.0.1:1',
	`ftp://x:${access.apiKey}@127.0.0.1/?token=${access.authToken}`,
];

const majors: Major[] = ['2', '1'];

// A search that finds nothing where the secrets stand would show nothing.
beforeAll(() => {
	for (const secret of Object.values(access)) {
		expect(foundIn(encodeURIComponent(secret))).toHaveLength(1);
		for (const before of ['', 'x', 'xy', 'xyz']) {
			const base64 = Buffer.from(`${before}${secret} after`).toString('base64');
			expect(foundIn(encodeURIComponent(base64))).toHaveLength(1);
		}
	}
});

describe.each(majors)('the key and the token on n8n %s.x', (major) => {
	const stage = useStage({ major, access, env: { N8N_LOG_LEVEL: 'debug' } });

	test('the key and the token are in no log, output, saved execution or file after every failure', async () => {
		const { client, server, simulator, credential } = stage();
		const options = { timeout: 1000, rateLimitRetries: 0 };
		const answers: string[] = [];
		const settings = { onError: 'continueErrorOutput' } as const;
		const read = { operation: 'getStatus', campaignId: '5', simplify: false };
		const runs = [
			await sendWorkflow(stage(), { options }),
			await sendWorkflow(stage(), { options, settings }),
			await sendWorkflow(stage(), { options, parameters: read }),
			await sendWorkflow(stage(), { options, parameters: read, settings }),
		];
		for (const action of faults) {
			simulator.addFault({ times: 0, action });
			for (const workflow of runs) answers.push((await workflow.call(titled('Sale', 1))).text);
			simulator.clearFaults();
		}
		for (const baseUrl of noService) {
			const data = { ...access, baseUrl };
			const nobody = await client.createCredential('Nobody there', 'pushCampaignApi', data);
			const workflow = await sendWorkflow(stage(), { options, credential: nobody });
			answers.push((await workflow.call(titled('Nobody', 1))).text);
			answers.push(JSON.stringify(await client.testCredential(nobody)));
		}

		// A poll that fails on activation, and one that fails later.
		const campaignIds = simulator.addCampaign({ counters: { clicked: 1 } });
		const trigger = pushCampaignTrigger({ campaignIds }, { credential });
		const { id: watching } = await client.createWorkflow(
			chain('Watch', [trigger, node('End', 'n8n-nodes-base.noOp')]),
		);
		simulator.addFault(refusal);
		answers.push(JSON.stringify(await client.testCredential(credential)));
		const refused = await client.activate(watching).then(String, String);
		expect(refused).toContain("can't be read");
		answers.push(refused);
		await client.deactivate(watching).catch(() => undefined);
		simulator.clearFaults();
		await client.activate(watching);
		simulator.addFault(refusal);
		await client.waitForExecutions({ workflowId: watching, status: ['error'] });
		await client.deactivate(watching);

		answers.forEach((answer) => expect(foundIn(answer)).toEqual([]));
		const executions = await allExecutions(client, {});
		expect(executions.length).toBeGreaterThan(runs.length * faults.length);
		for (const { id } of executions) {
			const saved = JSON.stringify(await client.request('GET', `executions/${id}`));
			expect({ id, found: foundIn(saved) }).toEqual({ id, found: [] });
		}

		await server.stop();
		expect(server.log().length).toBeGreaterThan(1000);
		expect(foundIn(server.log())).toEqual([]);
		// The database with its write-ahead log, and whatever else the server wrote.
		const folder = join(server.userFolder, '.n8n');
		const entries = await readdir(folder, { recursive: true, withFileTypes: true });
		const files = entries
			.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
			.map(({ parentPath, name }) => join(parentPath, name));
		expect(files.some((file) => file.endsWith('.sqlite'))).toBe(true);
		for (const file of files) {
			expect({ file, found: foundIn(await readFile(file)) }).toEqual({ file, found: [] });
		}
	});
});
