import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
	actionType,
	chain,
	credentialType,
	installCommunityPackage,
	N8nClient,
	N8nRefused,
	node,
	outputOf,
	packagesFolder,
	pushCampaign,
	runNpm,
	startN8n,
	triggerType,
	type N8nServer,
	type Workflow,
} from '../../host';
import { startSimulator, type Simulator } from '../../simulator';
import { secrets, tarball } from './support';
import { content } from './support/fixtures';
import { identityOf, removeCommunityPackage, repack } from './support/packages';
import { startRegistry, type Registry } from './support/registry';

// n8n's own installer takes its packages from npm's public registry alone, unless a licence allows
// another one. So the package comes from a registry on loopback by npm itself, and n8n's installer is
// followed step by step.

const former = '0.9.0';

const packageSchema = z.object({ dependencies: z.record(z.string()) });

describe('the package in an n8n that has none yet', () => {
	let folder: string;
	let registry: Registry;
	let simulator: Simulator;
	let identity: { name: string; version: string };
	let userFolder: string;
	let server: N8nServer | undefined;
	let client: N8nClient;
	let workflow: Workflow;

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'install-'));
		userFolder = join(folder, 'user');
		registry = await startRegistry();
		simulator = await startSimulator({
			serviceKey: secrets.apiKey,
			authToken: secrets.authToken,
			lifeSpeed: 0,
		});
		const packed = await tarball();
		identity = await identityOf(packed);
		const { name } = identity;
		const repacked = await repack(packed, former, folder);
		await registry.publish({ name, version: former, tarball: repacked });
	}, 60_000);

	afterAll(async () => {
		await server?.stop();
		await simulator.close();
		await registry.close();
		await rm(folder, { recursive: true, force: true });
	}, 60_000);

	/** As n8n's installer gets a package: `npm pack <name>@<version>`. */
	const download = async (version: string): Promise<string> => {
		const file = await runNpm(
			['pack', `${identity.name}@${version}`, '--quiet', `--registry=${registry.url}`],
			{ cwd: folder, env: { npm_config_cache: join(folder, 'npm-cache') } },
		);
		return join(folder, file.trim());
	};

	const start = async (): Promise<void> => {
		server = await startN8n({ major: '2', userFolder });
		client = new N8nClient(server.url);
		await client.setupOwner();
		await client.login();
	};

	/** Which of the package's nodes the server offers. */
	const offered = async (): Promise<string[]> => {
		const found: string[] = [];
		for (const name of [actionType, triggerType]) {
			try {
				await client.request('POST', 'node-types', { nodeInfos: [{ name, version: 1 }] });
				found.push(name);
			} catch (error) {
				const unknown = error instanceof N8nRefused && /Unrecognized node type/.test(error.body);
				if (!unknown) throw error;
			}
		}
		return found;
	};

	const noted = async (): Promise<Record<string, string>> => {
		const file = join(packagesFolder(userFolder), 'package.json');
		return packageSchema.parse(JSON.parse(await readFile(file, 'utf8'))).dependencies;
	};

	const runWorkflow = async () => await client.runManually(workflow.id, 'Start');

	test('is installed in its former version, and its nodes work', async () => {
		await installCommunityPackage(userFolder, await download('latest'));
		expect(await noted()).toEqual({ [identity.name]: former });
		await start();
		expect(await offered()).toEqual([actionType, triggerType]);
		const credential = await client.createCredential('Push service', credentialType, {
			baseUrl: simulator.url,
			...secrets,
		});
		const nodes = [
			node('Start', 'n8n-nodes-base.manualTrigger'),
			pushCampaign(content, { credential }),
		];
		const { id } = await client.createWorkflow(chain('Campaign', nodes));
		workflow = await client.workflow(id);
		const execution = await runWorkflow();
		expect(outputOf(execution, 'Push Campaign')[0]?.json).toMatchObject({ campaignId: '1001' });
	});

	test('is updated, and a saved workflow is intact and runs', async () => {
		await server?.stop();
		await registry.publish({ ...identity, tarball: await tarball() });
		await installCommunityPackage(userFolder, await download('latest'));
		expect(await noted()).toEqual({ [identity.name]: identity.version });
		await start();
		expect(await client.workflow(workflow.id)).toEqual(workflow);
		const execution = await runWorkflow();
		expect(outputOf(execution, 'Push Campaign')[0]?.json).toMatchObject({ campaignId: '1002' });
	});

	test('is uninstalled: its nodes go, the workflow stays', async () => {
		await server?.stop();
		await removeCommunityPackage(userFolder, identity.name);
		expect(await noted()).toEqual({});
		await start();
		expect(await offered()).toEqual([]);
		expect(await client.workflow(workflow.id)).toEqual(workflow);
	});

	test('is installed again, and the workflow runs as before', async () => {
		await server?.stop();
		await installCommunityPackage(userFolder, await download(identity.version));
		await start();
		const execution = await runWorkflow();
		expect(outputOf(execution, 'Push Campaign')[0]?.json).toMatchObject({ campaignId: '1003' });
		expect(simulator.requests).toHaveLength(3);
	});
});
