import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
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
	projectFolder,
	pushCampaign,
	runNpm,
	triggerType,
	type Workflow,
} from '../../host';
import { startStage, tarball, type Stage } from './support';
import { content } from './support/fixtures';

// n8n's own installer takes its packages from npm's public registry alone, unless a licence allows
// another one. So it is followed step by step, with tarballs as `npm pack` gives them.

const former = '0.9.0';

/** The command of README's installation chapter, for a folder as the home and a tarball as npm's package. */
async function readmeCommand(packed: string): Promise<string> {
	const readme = await readFile(join(projectFolder, 'README.md'), 'utf8');
	const command = /^npm install .*--prefix ~.* n8n-nodes-push-campaign$/m.exec(readme)?.[0] ?? '';
	return command.replace(/n8n-nodes-push-campaign$/, packed);
}

/** Runs the command of the README as a user of this Node.js does; throws where it fails. */
async function installAsReadmeSays(home: string, nodeFolder: string): Promise<void> {
	const path = [nodeFolder, process.env['PATH']].join(delimiter);
	const npm = { npm_config_cache: join(home, 'cache'), NODE_DISABLE_COMPILE_CACHE: '1' };
	const env = { HOME: home, PATH: path, ...npm };
	// Nothing of this project's npm configuration, which `npm run` hands down.
	const options = { env, extendEnv: false };
	await execa('sh', ['-c', await readmeCommand(await tarball())], options);
}

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

	test("is loaded after README's npm command", async () => {
		await stage.server.stop();
		await installAsReadmeSays(stage.server.userFolder, dirname(process.execPath));
		await stage.restart();
		expect(await offered()).toEqual([actionType, triggerType]);
		expect(await sentCampaign()).toBe('1003');
	});
});

test.each(['20.20.2', '22.23.3', '24.21.0'])(
	"README's npm command installs the package and nothing else on Node.js %s",
	async (version) => {
		const home = await mkdtemp(join(tmpdir(), 'home-'));
		try {
			await runNpm(['install', '--prefix', home, '--fetch-retries=5', `node@${version}`], home);
			const runtime = join(home, 'node_modules', 'node', 'bin');
			const { stdout } = await execa(join(runtime, 'node'), ['--version']);
			expect(stdout).toBe(`v${version}`);
			await installAsReadmeSays(home, runtime);
			const modules = await readdir(join(packagesFolder(home), 'node_modules'));
			expect(modules.filter((name) => !name.startsWith('.'))).toEqual([packageName]);
		} finally {
			await rm(home, { recursive: true, force: true });
		}
	},
);
