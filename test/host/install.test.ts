import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
	actionType,
	chain,
	credentialType,
	installCommunityPackage,
	node,
	outputOf,
	packageName,
	packagesFolder,
	projectFolder,
	pushCampaign,
	run,
	runNpm,
	triggerType,
} from '../../host';
import { content, runNodes, tarball, useStage } from './support';

/** Installs the packed package by the command of the README, for another home and with the tarball as its source. */
async function installAsReadmeSays(home: string): Promise<void> {
	const readme = await readFile(join(projectFolder, 'README.md'), 'utf8');
	const [command = ''] =
		/^npm install .*--prefix ~\S* n8n-nodes-push-campaign$/m.exec(readme) ?? [];
	const ours = command.replace(/n8n-nodes-push-campaign$/, await tarball());
	// Nothing of this project's npm configuration, which `npm run` hands down.
	const env = { HOME: home, PATH: process.env['PATH'], npm_config_cache: join(home, 'cache') };
	await run('sh', ['-c', ours], { cwd: home, env });
}

describe('the packed package in a new n8n', () => {
	const stage = useStage({ prepare: installAsReadmeSays, editor: true });

	const send = (parameters = {}) =>
		pushCampaign({ ...content, ...parameters }, { credential: stage().credential });

	test("is offered by n8n after the README's command, with a schema for what each operation returns", async () => {
		const { client, server } = stage();
		const nodeInfos = [actionType, triggerType].map((name) => ({ name, version: 1 }));
		const answer = await client.request('POST', 'node-types', { nodeInfos });
		const described = z.array(z.object({ displayName: z.string(), description: z.string() }));
		expect(described.parse(answer).map(({ displayName }) => displayName)).toEqual([
			...['Push Campaign', 'Push Campaign Trigger'],
		]);
		const paths = [
			...['sendToAll', 'sendToAttributes', 'sendToSegments', 'sendToSubscriber', 'getStatus'].map(
				(operation) => `${actionType}/1.0.0/campaign/${operation}`,
			),
			`${actionType}/1.0.0/site/getSubscriberCount`,
			`${triggerType}/1.0.0`,
		];
		for (const path of paths) {
			const schema = await fetch(`${server.url}/schemas/${path}.json`);
			expect([path, await schema.json()]).toMatchObject([path, { type: 'object' }]);
		}
	});

	test('the HTTP Request node works with the credential, and its requests have the content type', async () => {
		const { simulator, credential } = stage();
		const request = node(
			'Read',
			'n8n-nodes-base.httpRequest',
			{
				url: `${simulator.url}/v1/site/subscriber_count`,
				authentication: 'predefinedCredentialType',
				nodeCredentialType: credentialType,
			},
			{ credential, typeVersion: 4.2 },
		);
		const { execution } = await runNodes(stage(), [request]);
		expect(execution.status).toBe('success');
		expect(simulator.requests[0]?.headers['content-type']).toBe('application/json');
	});

	test.each([
		{ zod: '3.20.6', luxon: '2.5.2' },
		{ zod: '3.24.4', luxon: '3.2.1' },
		{ zod: '4.0.5', luxon: '3.5.0' },
		{ zod: '4.1.12', luxon: '3.7.2' },
	])(
		'runs a Send At beside zod $zod and luxon $luxon of other community packages',
		async ({ zod, luxon }) => {
			const modules = join(packagesFolder(stage().server.userFolder), 'node_modules');
			const others = await mkdtemp(join(tmpdir(), 'others-'));
			const flags = ['--prefix', others, '--no-audit', '--no-fund', '--ignore-scripts'];
			await runNpm(['install', ...flags, `zod@${zod}`, `luxon@${luxon}`], others);
			await stage().restart(async () => {
				for (const name of ['zod', 'luxon']) {
					await rm(join(modules, name), { recursive: true, force: true });
					await cp(join(others, 'node_modules', name), join(modules, name), { recursive: true });
				}
			});
			await rm(others, { recursive: true });
			const sendAt = '2035-05-17 9:30';
			const additionalFields = { sendAt, sendAtTimezone: 'America/New_York' };
			const action = send({ additionalFields });
			const status = pushCampaign(
				{ operation: 'getStatus' },
				{ name: 'Status', credential: stage().credential },
			);
			const { execution } = await runNodes(stage(), [action, status]);
			expect(outputOf(execution, action.name)[0]?.json).toMatchObject({
				status: 'success',
				sendAt: '2035-05-17 09:30 -04:00',
			});
			expect(outputOf(execution, 'Status')[0]?.json).toMatchObject({ campaignId: '1001' });
			for (const [name, version] of Object.entries({ zod, luxon })) {
				const manifest = await readFile(join(modules, name, 'package.json'), 'utf8');
				expect(manifest).toContain(`"version": "${version}"`);
			}
		},
	);

	test('is replaced by a newer version, and a saved workflow is the same and runs', async () => {
		const { client } = stage();
		const start = node('Start', 'n8n-nodes-base.manualTrigger');
		const { id } = await client.createWorkflow(chain('Saved', [start, send()]));
		const before = await client.workflow(id);
		const packed = await tarball();
		await stage().restart(async () => installCommunityPackage(stage().server.userFolder, packed));
		expect(await client.workflow(id)).toEqual(before);
		const execution = await client.runManually(id, 'Start');
		expect(outputOf(execution, 'Push Campaign')[0]?.json).toMatchObject({ status: 'success' });
		const packages = packagesFolder(stage().server.userFolder);
		const notes = await readFile(join(packages, 'package.json'), 'utf8');
		expect(notes).toContain(packageName);
	});
});
