import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { credentialType } from '../../host';
import type { Fault } from '../../simulator';
import { secrets, useStage } from './support';
import { sendWorkflow, titled } from './support/sends';
import { allExecutions, watch, watchWorkflow } from './support/watches';

/** The secrets that stand in a text, or in the bytes of a file. */
const foundIn = (text: string | Buffer) =>
	Object.values(secrets).filter((secret) => text.includes(secret));

const echo = `${secrets.apiKey} and ${secrets.authToken}`;

/** An answer to a send, and to the read of a campaign, with the secrets wherever they may stand. */
const record = {
	status: 'success',
	description: echo,
	ID: 5,
	notification_status: secrets.apiKey,
	notification_id: '5',
	count: { clicked: '1' },
	[secrets.authToken]: { deep: [secrets.apiKey] },
};

/** Everything that can go wrong, most of it with the secrets in the answer. */
const faults: Array<Fault['action']> = [
	{ kind: 'failure', type: 'authentication_failure', description: echo },
	{ kind: 'failure', type: 'header_invalid', description: `serviceKey ${echo} is not valid` },
	{ kind: 'failure', type: echo, description: echo },
	{ kind: 'failure', description: `Something went wrong with ${echo}`, status: 500 },
	{ kind: 'respond', status: 401, body: echo },
	{ kind: 'respond', status: 502, body: `<html>${echo}</html>` },
	{ kind: 'respond', body: JSON.stringify(record) },
	{ kind: 'redirect', location: `http://${secrets.apiKey}.example/${secrets.authToken}` },
	{ kind: 'truncate' },
	{ kind: 'reset-after' },
	{ kind: 'hang', process: true },
];

/** Addresses at which no push service is. */
const noService = [
	'http://127.0.0.1:1',
	`ftp://x:${secrets.apiKey}@127.0.0.1/?token=${secrets.authToken}`,
];

const stage = useStage({ env: { N8N_LOG_LEVEL: 'debug' } });

test('the key and the token are in no log, output, saved execution or file after every failure', async () => {
	const { client, server, simulator, credential } = stage();
	const answers: string[] = [];
	const options = { timeout: 1_000 };
	const read = { operation: 'getStatus', campaignId: '5', simplify: false };
	const continues = { onError: 'continueErrorOutput' } as const;
	const workflows = [
		await sendWorkflow(stage(), { options }),
		await sendWorkflow(stage(), { options, settings: continues }),
		await sendWorkflow(stage(), { options, parameters: read }),
		await sendWorkflow(stage(), { options, parameters: read, settings: continues }),
	];
	for (const action of faults) {
		simulator.addFault({ times: 0, action });
		for (const workflow of workflows) {
			answers.push(JSON.stringify(await workflow.call(titled('Sale', 1))));
		}
		// n8n waits for minutes for an answer to a credential test.
		if (action.kind !== 'hang') {
			const data = { baseUrl: simulator.url, ...secrets };
			answers.push(JSON.stringify(await client.testCredential(credential, data)));
		}
		simulator.clearFaults();
	}
	for (const baseUrl of noService) {
		const data = { ...secrets, baseUrl };
		const nobody = await client.createCredential('Nobody there', credentialType, data);
		const workflow = await sendWorkflow({ client, credential: nobody }, { options });
		answers.push(JSON.stringify(await workflow.call(titled('Nobody', 1))));
		answers.push(JSON.stringify(await client.testCredential(nobody, data)));
	}

	// A poll that fails while it is published, and one that fails later.
	const campaignId = simulator.addCampaign({ counters: { clicked: 1 } });
	const { id: watching } = await client.createWorkflow(
		watchWorkflow(watch({ credential }, [campaignId])),
	);
	const refusal: Fault = {
		times: 0,
		action: { kind: 'failure', type: 'authentication_failure', description: echo },
	};
	simulator.addFault(refusal);
	await expect(client.activate(watching)).rejects.toThrow('was not activated');
	await client.deactivate(watching);
	simulator.clearFaults();
	await client.activate(watching);
	await client.waitForExecutions({ workflowId: watching });
	simulator.addFault(refusal);
	await client.waitForExecutions({ workflowId: watching, status: ['error'] });
	await client.deactivate(watching);

	for (const answer of answers) expect([answer, foundIn(answer)]).toEqual([answer, []]);
	for (const { id } of [...workflows, { id: watching }]) {
		const executions = await allExecutions(client, id);
		expect(executions.length).toBeGreaterThan(1);
		for (const execution of executions) {
			const saved = await client.requestText('GET', `executions/${execution.id}`);
			expect([execution.id, foundIn(saved)]).toEqual([execution.id, []]);
		}
	}
	await server.stop();
	expect(server.log().length).toBeGreaterThan(1_000);
	expect(foundIn(server.log())).toEqual([]);
	// The database with its write-ahead log, and whatever else the server wrote.
	const entries = await readdir(join(server.userFolder, '.n8n'), {
		recursive: true,
		withFileTypes: true,
	});
	const files = entries
		.filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
		.map(({ parentPath, name }) => join(parentPath, name));
	expect(files.some((file) => file.endsWith('.sqlite'))).toBe(true);
	for (const file of files) expect([file, foundIn(await readFile(file))]).toEqual([file, []]);
});
