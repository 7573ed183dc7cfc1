import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import execa from 'execa';
import { z } from 'zod';
import {
	actionType,
	chain,
	installCommunityPackage,
	N8nRefused,
	node,
	outputOf,
	packageName,
	packagesFolder,
	pushCampaign,
	triggerType,
	type Workflow,
} from '../../host';
import { startStage, tarball, type Stage } from './support';
import { content } from './support/fixtures';

// n8n's own installer takes its packages from npm's public registry alone, unless a licence allows
// another one. So it is followed step by step, with tarballs as `npm pack` gives them.

const former = '0.9.0';

const notedSchema = z.object({ dependencies: z.record(z.string()) }).passthrough();

describe('the package in an n8n that has none yet', () => {
	let folder: string;
	let version: string;
	let stage: Stage;
	let workflow: Workflow;

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'install-'));
		await execa('tar', ['-xzf', await tarball(), '-C', folder]);
		const manifest = join(folder, 'package', 'package.json');
		const text = await readFile(manifest, 'utf8');
		({ version } = z.object({ version: z.string() }).parse(JSON.parse(text)));
		await writeFile(manifest, text.replace(`"version": "${version}"`, `"version": "${former}"`));
		const packed = join(folder, 'former.tgz');
		await execa('tar', ['-czf', packed, '-C', folder, 'package']);
		stage = await startStage({ packed });
	});

	afterAll(async () => {
		await stage.close();
		await rm(folder, { recursive: true, force: true });
	});

	const packages = () => packagesFolder(stage.server.userFolder);

	/** The packages that n8n has noted as installed. */
	const noted = async () =>
		notedSchema.parse(JSON.parse(await readFile(join(packages(), 'package.json'), 'utf8')));

	/** Which of the package's nodes the server offers. */
	const offered = async (): Promise<string[]> => {
		const found: string[] = [];
		for (const name of [actionType, triggerType]) {
			try {
				await stage.client.request('POST', 'node-types', { nodeInfos: [{ name, version: 1 }] });
				found.push(name);
			} catch (error) {
				const unknown = error instanceof N8nRefused && /Unrecognized node type/.test(error.body);
				if (!unknown) throw error;
			}
		}
		return found;
	};

	const sentCampaign = async () => {
		const execution = await stage.client.runManually(workflow.id, 'Start');
		return outputOf(execution, 'Push Campaign')[0]?.json['campaignId'];
	};

	test('is installed in its former version, and its nodes work', async () => {
		const { client, credential } = stage;
		expect(await noted()).toMatchObject({ dependencies: { [packageName]: former } });
		expect(await offered()).toEqual([actionType, triggerType]);
		const first = node('Start', 'n8n-nodes-base.manualTrigger');
		const nodes = [first, pushCampaign(content, { credential })];
		const { id } = await client.createWorkflow(chain('Campaign', nodes));
		workflow = await client.workflow(id);
		expect(await sentCampaign()).toBe('1001');
	});

	test('is updated, and a saved workflow is intact and runs', async () => {
		await stage.server.stop();
		await installCommunityPackage(stage.server.userFolder, await tarball());
		await stage.restart();
		expect(await noted()).toMatchObject({ dependencies: { [packageName]: version } });
		expect(await stage.client.workflow(workflow.id)).toEqual(workflow);
		expect(await sentCampaign()).toBe('1002');
	});

	test('is uninstalled: its nodes go, the workflow stays', async () => {
		await stage.server.stop();
		await rm(join(packages(), 'node_modules', packageName), { recursive: true });
		const nothing = JSON.stringify({ ...(await noted()), dependencies: {} });
		await writeFile(join(packages(), 'package.json'), nothing);
		await stage.restart();
		expect(await offered()).toEqual([]);
		expect(await stage.client.workflow(workflow.id)).toEqual(workflow);
	});
});
