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
	startN8n,
	triggerType,
	type N8nServer,
	type Workflow,
} from '../../host';
import { startSimulator, type Simulator } from '../../simulator';
import { secrets, tarball } from './support';
import { content } from './support/fixtures';
import { identityOf, removeCommunityPackage, repack } from './support/packages';

// n8n's own installer takes its packages from npm's public registry alone, unless a licence allows
// another one. So it is followed step by step, with tarballs as `npm pack` gives them.

const former = '0.9.0';

const packageSchema = z.object({ dependencies: z.record(z.string()) });

describe('the package in an n8n that has none yet', () => {
	let folder: string;
	let userFolder: string;
	let simulator: Simulator;
	let identity: { name: string; version: string };
	let server: N8nServer | undefined;
	let client: N8nClient;
	let workflow: Workflow;

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'install-'));
		userFolder = join(folder, 'user');
		const { apiKey: serviceKey, authToken } = secrets;
		simulator = await startSimulator({ serviceKey, authToken, lifeSpeed: 0 });
		identity = await identityOf(await tarball());
	}, 60_000);

	afterAll(async () => {
		await server?.stop();
		await simulator.close();
		await rm(folder, { recursive: true, force: true });
	}, 60_000);

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

	const sentCampaign = async () => {
		const execution = await client.runManually(workflow.id, 'Start');
		return outputOf(execution, 'Push Campaign')[0]?.json['campaignId'];
	};

	test('is installed in its former version, and its nodes work', async () => {
		await installCommunityPackage(userFolder, await repack(await tarball(), former, folder));
		expect(await noted()).toEqual({ [identity.name]: former });
		await start();
		expect(await offered()).toEqual([actionType, triggerType]);
		const data = { baseUrl: simulator.url, ...secrets };
		const credential = await client.createCredential('Push service', credentialType, data);
		const first = node('Start', 'n8n-nodes-base.manualTrigger');
		const nodes = [first, pushCampaign(content, { credential })];
		const { id } = await client.createWorkflow(chain('Campaign', nodes));
		workflow = await client.workflow(id);
		expect(await sentCampaign()).toBe('1001');
	});

	test('is updated, and a saved workflow is intact and runs', async () => {
		await server?.stop();
		await installCommunityPackage(userFolder, await tarball());
		expect(await noted()).toEqual({ [identity.name]: identity.version });
		await start();
		expect(await client.workflow(workflow.id)).toEqual(workflow);
		expect(await sentCampaign()).toBe('1002');
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
		await installCommunityPackage(userFolder, await tarball());
		await start();
		expect(await sentCampaign()).toBe('1003');
		expect(simulator.requests).toHaveLength(3);
	});
});
