import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, node, pushCampaignTrigger, chain, type Major } from '../../host';
import { startSimulator, type Fault } from '../../simulator';
import { startStage, type Stage } from './support';
import { allExecutions } from './support/reliabilityEvents';
import { sendWorkflow, titled } from './support/reliabilityWorkflow';

// Characters that percent-encoding and base64 change, so that each form is another text.
const access = { apiKey: 'MARKED+key/=7f3a91c2&end', authToken: 'MARKED?token"b85ed04c%end' };
const marks = { apiKey: ['7f3a91c2'], authToken: ['b85ed04c'] };

/** How a secret may stand in a text: plain, encoded for an address or for JSON, or in base64. */
function formsOf(secret: string, parts: readonly string[]): string[] {
	const bytes = Buffer.from(secret, 'utf8');
	// Within other text the secret begins at any of three places of a base64 group.
	const base64 = [0, 1, 2].map((shift) =>
		Buffer.concat([Buffer.alloc(shift), bytes])
			.toString('base64')
			.slice(4, -4),
	);
	return [
		secret,
		encodeURIComponent(secret),
		encodeURI(secret),
		JSON.stringify(secret).slice(1, -1),
		JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
		...base64,
		...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
		...base64.map((form) => encodeURIComponent(form)),
		bytes.toString('hex'),
		// Whatever is done to the other characters, these stay as they are.
		...parts,
	];
}

const forms = [
	...formsOf(access.apiKey, marks.apiKey),
	...formsOf(access.authToken, marks.authToken),
];

/** The forms in which a secret stands in a text. */
const foundIn = (text: string) => forms.filter((form) => text.includes(form));

const echo = [
	access.apiKey,
	encodeURIComponent(access.authToken),
	Buffer.from(access.apiKey).toString('base64'),
].join(' ');

/** Everything that can go wrong, some of it with the secrets in the answer. */
const faults: Array<[string, Fault['action']]> = [
	['refused', { kind: 'failure', type: 'authentication_failure', description: 'No' }],
	[
		'refused with the secrets in the words',
		{ kind: 'failure', type: 'header_invalid', description: `serviceKey ${echo} is not valid` },
	],
	['refused with the secrets as the type', { kind: 'failure', type: echo, description: echo }],
	['failed', { kind: 'failure', description: `Something went wrong with ${echo}`, status: 500 }],
	[
		'rate limited',
		{ kind: 'failure', type: 'rate_limit', description: `Too many for ${echo}`, status: 429 },
	],
	['unauthorized', { kind: 'respond', status: 401, body: echo }],
	['web page', { kind: 'respond', status: 502, body: `<html>${echo}</html>` }],
	[
		'success with the secrets in it',
		{
			kind: 'respond',
			body: JSON.stringify({ status: 'success', description: echo, ID: 1 }),
		},
	],
	['truncated', { kind: 'truncate' }],
	['reset before', { kind: 'reset-before' }],
	['reset after', { kind: 'reset-after' }],
	['hang', { kind: 'hang', process: true }],
];

const majors: Major[] = ['2', '1'];

describe.each(majors)('the key and the token on n8n %s.x', (major) => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await startStage({ major, access, env: { N8N_LOG_LEVEL: 'debug' } });
	});
	afterAll(async () => {
		await stage.close();
	});

	/** The database with its write-ahead log, and whatever else the server wrote. */
	const writtenFiles = async () => {
		const folder = join(stage.server.userFolder, '.n8n');
		const entries = await readdir(folder, { recursive: true, withFileTypes: true });
		const files = entries.filter(
			(entry) => entry.isFile() && !entry.parentPath.includes('node_modules'),
		);
		return files.map(({ parentPath, name }) => join(parentPath, name));
	};

	test('are in no log, output, saved execution or file after every failure', async () => {
		const options = { timeout: 1000, rateLimitRetries: 0 };
		const stops = await sendWorkflow(stage, { options });
		const continues = await sendWorkflow(stage, {
			options,
			settings: { onError: 'continueErrorOutput' },
		});
		const answers: string[] = [];
		const runs = [stops, continues];
		for (const [name, action] of faults) {
			stage.simulator.clearFaults();
			stage.simulator.addFault({ times: 0, action });
			for (const workflow of runs) answers.push((await workflow.call(titled(name, 1))).text);
		}
		stage.simulator.clearFaults();

		const elsewhere = await startSimulator();
		try {
			const location = `${elsewhere.url}/v1/notification/send/all`;
			stage.simulator.addFault({ times: 2, action: { kind: 'redirect', location } });
			for (const workflow of runs) answers.push((await workflow.call(titled('Away', 1))).text);
			expect(elsewhere.requestCount).toBe(0);
		} finally {
			await elsewhere.close();
		}

		const unreachable = await stage.client.createCredential('Nobody there', 'pushCampaignApi', {
			...access,
			baseUrl: `http://127.0.0.1:${await freePort()}`,
		});
		const nobody = await sendWorkflow({ ...stage, credential: unreachable }, { options });
		answers.push((await nobody.call(titled('Nobody', 1))).text);
		const wrongBase = await stage.client.createCredential('Wrong base', 'pushCampaignApi', {
			...access,
			baseUrl: `ftp://x:${access.apiKey}@127.0.0.1/?token=${access.authToken}`,
		});
		const wrong = await sendWorkflow({ ...stage, credential: wrongBase }, { options });
		answers.push((await wrong.call(titled('Wrong', 1))).text);

		const tests = [stage.credential, unreachable].map(async (credential) =>
			JSON.stringify(await stage.client.testCredential(credential)),
		);
		answers.push(...(await Promise.all(tests)));

		// A poll that fails on activation, and one that fails later.
		const campaignIds = stage.simulator.addCampaign({ counters: { clicked: 1 } });
		const reads = chain('Read', [
			pushCampaignTrigger({ campaignIds }, { credential: stage.credential }),
			node('End', 'n8n-nodes-base.noOp'),
		]);
		const { id: watching } = await stage.client.createWorkflow(reads);
		stage.simulator.addFault({
			times: 0,
			action: { kind: 'failure', type: 'authentication_failure', description: echo },
		});
		const refusal = await stage.client.activate(watching).then(String, String);
		expect(refusal).toContain("can't be read");
		answers.push(refusal);
		await stage.client.deactivate(watching).catch(() => undefined);
		stage.simulator.clearFaults();
		await stage.client.activate(watching);
		stage.simulator.addFault({
			times: 0,
			action: { kind: 'failure', type: 'authentication_failure', description: echo },
		});
		await stage.client.waitForExecutions({ workflowId: watching, status: ['error'] });
		await stage.client.deactivate(watching);
		stage.simulator.clearFaults();

		const executions = await allExecutions(stage.client, {});
		expect(executions.length).toBeGreaterThan(2 * faults.length);
		for (const { id } of executions) {
			const saved = JSON.stringify(await stage.client.request('GET', `executions/${id}`));
			expect({ id, found: foundIn(saved) }).toEqual({ id, found: [] });
		}
		answers.forEach((answer) => expect(foundIn(answer)).toEqual([]));

		await stage.server.stop();
		const log = stage.server.log();
		expect(log.length).toBeGreaterThan(1000);
		expect(foundIn(log)).toEqual([]);
		const files = await writtenFiles();
		expect(files.some((file) => file.endsWith('.sqlite'))).toBe(true);
		for (const file of files) {
			const bytes = await readFile(file);
			const found = forms.filter((form) => bytes.includes(form));
			expect({ file, found }).toEqual({ file, found: [] });
		}
	}, 300_000);

	test('are found by this search where they stand', () => {
		const { apiKey, authToken } = access;
		for (const secret of [apiKey, authToken]) {
			expect(foundIn(`x ${secret} y`)).not.toEqual([]);
			expect(foundIn(encodeURIComponent(secret))).not.toEqual([]);
			for (const before of ['', 'x', 'xy', 'xyz']) {
				const base64 = Buffer.from(`${before}${secret} after`).toString('base64');
				expect(foundIn(base64)).not.toEqual([]);
				expect(foundIn(encodeURIComponent(base64))).not.toEqual([]);
			}
		}
	});
});
