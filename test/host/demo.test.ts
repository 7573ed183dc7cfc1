import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DateTime } from 'luxon';
import {
	chain,
	DataTables,
	N8nClient,
	node,
	outputOf,
	projectFolder,
	pushCampaign,
	startN8n,
	until,
	type Execution,
	type N8nServer,
} from '../../host';
import { addDemoCampaign, demoCampaignId } from '../../host/demo/campaign';
import {
	access,
	demoFiles,
	demoOwner,
	prepareDemo,
	readExamples,
	type DemoState,
} from '../../host/demo/prepare';
import { demoTables } from '../../host/demo/tables';
import { reloadingEnv, watchEdits } from '../../host/demo/watch';
import { startSimulator, type Simulator } from '../../simulator';
import { startStage, tarball, type Stage } from './support';
import { noonTimezone } from './support/clock';
import { content } from './support/fixtures';
import { textLike } from './support/matchers';

const startService = () =>
	startSimulator({ serviceKey: access.apiKey, authToken: access.authToken });
const click = 'When clicking ‘Execute workflow’';
const report = 'examples/daily-subscriber-report.json';

describe('npm start', () => {
	let folder: string;
	let simulator: Simulator;
	let server: N8nServer;
	let client: N8nClient;
	let state: DemoState;

	const prepare = async (before: DemoState, { url } = simulator) =>
		await prepareDemo(
			client,
			before,
			url,
			demoTables(Date.now(), before.campaignSince, noonTimezone),
		);

	const run = async (file: string, trigger: string): Promise<Execution> => {
		const execution = await client.runManually(state.workflows[file] ?? '', trigger);
		expect(execution.status).toBe('success');
		return execution;
	};

	const rowsOf = async (name: string) => {
		const tables = await DataTables.of(client);
		return await tables.rows((await tables.find(name)) ?? '');
	};

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'demo-'));
		simulator = await startService();
		server = await startN8n({
			major: '2',
			userFolder: folder,
			tarball: await tarball(),
			env: { GENERIC_TIMEZONE: noonTimezone, TZ: noonTimezone },
		});
		const campaignSince = Date.now() - 60_000;
		addDemoCampaign(simulator, campaignSince);
		client = new N8nClient(server.url);
		const ports = { n8n: server.port, service: 0 };
		const prepared = await prepare({ campaignSince, workflows: {}, tables: [], ports });
		expect(prepared.isLoginChanged).toBe(false);
		state = prepared.state;
	});

	afterAll(async () => {
		await server.stop();
		await simulator.close();
		await rm(folder, { recursive: true, maxRetries: 10 });
	}, 300_000);

	test('creates every workflow and activates only the report', async () => {
		const workflows = await client.workflows();
		const names = (await readExamples()).map(({ draft }) => draft.name);
		expect(workflows.map(({ name }) => name).sort()).toEqual([...names].sort());
		const active = workflows.filter((workflow) => workflow.active).map(({ id }) => id);
		expect(active).toEqual([state.workflows[demoFiles.watching]]);
	});

	test('lets the first workflow send a campaign and read its status', async () => {
		const execution = await run(demoFiles.first, click);
		expect(outputOf(execution, 'Read its status')[0]?.json).toMatchObject({ status: 'Sent' });
	}, 300_000);

	test('fills the tables that the examples read', async () => {
		await run('examples/personal-notifications.json', click);
		expect((await rowsOf('Push not sent')).map(({ subscriberId }) => subscriberId)).toEqual([
			'4711',
		]);
		await run('examples/watch-campaigns.json', 'Every hour');
		expect(await rowsOf('Push campaign log')).toMatchObject([
			{ campaignId: demoCampaignId, status: 'Sent', successfullySent: 9840 },
		]);
		await run('examples/campaign-calendar.json', 'Every hour');
		const calendar = await rowsOf('Push campaign calendar');
		expect(calendar.map(({ state: said }) => said)).toEqual(['scheduled', null]);
		const scheduled = simulator.campaign(String(calendar[0]?.['campaignId']))?.body['send_at'];
		const offset = DateTime.now().setZone(noonTimezone).toFormat('ZZ');
		expect(scheduled).toBe(`${String(calendar[0]?.['sendAt'])} ${offset}`);
	}, 300_000);

	test('lets the examples post to the chat on the page', async () => {
		await run(report, 'Every day at 8:00');
		await run('examples/watch-campaigns.json', 'Every Monday at 9:00');
		expect(simulator.state().messages.map(({ text }) => text)).toEqual([
			textLike(/today: 10,000 .*\nYesterday: 9,985. A week ago: 9,810.$/),
			textLike(/^Push campaigns of the last seven days: 1\n“Autumn sale: 20% off everything”/),
		]);
	}, 300_000);

	test('restores nothing that was deleted, and updates the address in the credential', async () => {
		const deleted = state.workflows['examples/abandoned-cart.json'] ?? '';
		await client.deleteWorkflow(deleted);
		const tables = await DataTables.of(client);
		await client.request('DELETE', `${tables.path}/${await tables.find('Push not sent')}`);
		const before = (await client.workflows()).length;

		const moved = await startService();
		try {
			const again = await prepare(state, moved);
			expect(again.state.workflows).toEqual(state.workflows);
			expect(await client.workflows()).toHaveLength(before);
			expect(await tables.find('Push not sent')).toBeUndefined();
			await run(demoFiles.first, click);
			expect(moved.campaigns.size).toBe(1);
		} finally {
			await moved.close();
		}
	}, 300_000);

	test('a login that its user changed is left alone', async () => {
		const password = 'Another-campaign-1';
		await client.request('PATCH', 'me/password', {
			currentPassword: demoOwner.password,
			newPassword: password,
		});
		expect(await prepare(state)).toEqual({ state, isLoginChanged: true });
	});
});

describe('an edit while npm start runs', () => {
	let folder: string;
	let stage: Stage;
	let workflowId: string;
	let endWatching: () => void;
	const reported: string[] = [];

	/** Makes the action node of the copied sources answer this, whatever it is asked. */
	const edit = async (answer: string, more = '') => {
		const file = 'nodes/PushCampaign/PushCampaign.node.ts';
		const text = await readFile(join(projectFolder, file), 'utf8');
		const execute = `PushCampaign.prototype.execute = async () => [[{ json: ${answer} }]];`;
		const changed = [text, execute, more].join('\n');
		const known = reported.length;
		await writeFile(join(folder, file), changed);
		const late = () => 'Nothing was said of the edit';
		await until(
			() => reported.length,
			(count) => count > known,
			{ within: 240_000, late },
		);
		return reported[known];
	};

	/** Waits until the action node answers this: a busy n8n may still be loading it. */
	const untilAnswer = async (edited: number) =>
		await until(
			async () => {
				const execution = await stage.client.runManually(workflowId, 'Start');
				return outputOf(execution, 'Push Campaign')[0]?.json;
			},
			(answer) => answer?.['edited'] === edited,
			{ within: 60_000, every: 1_000, late: (answer) => JSON.stringify(answer) },
		);

	/** @param loadingMs for how long n8n is watched for a failure, once it loads an edit */
	const watch = (loadingMs: number) => {
		const { server } = stage;
		const report = (words: string) => reported.push(words);
		// The clock of the file system may be some milliseconds behind; the edit before is older than a second.
		const since = Date.now() - 1_000;
		return watchEdits({ server, project: folder, since, loadingMs, report });
	};

	beforeAll(async () => {
		folder = await mkdtemp(join(tmpdir(), 'sources-'));
		for (const part of ['nodes', 'credentials', 'tsconfig.json', 'tsconfig.build.json']) {
			await cp(join(projectFolder, part), join(folder, part), { recursive: true });
		}
		await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
		stage = await startStage({ env: reloadingEnv });
		const { client, credential } = stage;
		const nodes = [
			node('Start', 'n8n-nodes-base.manualTrigger'),
			pushCampaign(content, { credential }),
		];
		workflowId = (await client.createWorkflow(chain('Edited', nodes))).id;
		endWatching = watch(3_000);
	});

	afterAll(async () => {
		endWatching();
		await stage.close();
		await rm(folder, { recursive: true, force: true });
	}, 300_000);

	test('is in the running n8n without a restart', async () => {
		expect(await edit('{ edited: 1 }')).toMatch(/^[\d:]{8} {2}Your edit is in n8n\.\n$/);
		expect(await untilAnswer(1)).toEqual({ edited: 1 });
		expect(await edit('{ edited: 2 }')).toContain('Your edit is in n8n.');
		expect(await untilAnswer(2)).toEqual({ edited: 2 });
	});

	test('that does not compile is reported, and n8n keeps the version before', async () => {
		expect(await edit('{ edited: nowhere }')).toMatch(
			/is not in n8n,.*:\n {2}nodes\/PushCampaign\/PushCampaign\.node\.ts\(\d+,\d+\): .*'nowhere'/,
		);
		expect(await untilAnswer(2)).toEqual({ edited: 2 });
	});

	test('that n8n can not load is reported', async () => {
		// A busy machine takes a while to find out that it can't load something.
		endWatching();
		endWatching = watch(30_000);
		const broken = await edit('{ edited: 2 }', "throw new Error('no');");
		expect(broken).toMatch(/n8n has not loaded it: its log .*n8n\.log says why\.\n$/);
		endWatching();
		endWatching = watch(3_000);
	});

	test('that mends the one before is in n8n', async () => {
		expect(await edit('{ edited: 3 }')).toContain('Your edit is in n8n.');
		expect(await untilAnswer(3)).toEqual({ edited: 3 });
	});
});
