import type * as n8nWorkflow from 'n8n-workflow';
import { IdempotencyKeys } from '../../../../nodes/PushCampaign/send/keys/idempotencyKeys';
import type { SendOutcome } from '../../../../nodes/PushCampaign/send/sendOutcome';
import { explain, reasons } from '../../../../nodes/PushCampaign/service/failures';
import { InvalidInput } from '../../../../nodes/PushCampaign/service/invalidInput';
import { ProcessedData } from '../../../support/processedData';
import { executeFunctions, keyRow, keyStatesIn } from '../../execution/support';

jest.mock('n8n-workflow', () => ({
	...jest.requireActual<typeof n8nWorkflow>('n8n-workflow'),
	sleep: async () => await Promise.resolve(),
}));

const sent: SendOutcome = { kind: 'done', value: { campaignId: '1', description: 'Created' } };
const failed = (type: string): SendOutcome => ({
	kind: 'failed',
	problem: explain(reasons.failure({ status: 'failure', type }), 'send'),
});
const lost: SendOutcome = { kind: 'failed', problem: explain(reasons.connectionLost, 'send') };

/** One execution, with what its node sends under a key. */
function startExecution(database: ProcessedData, signal?: AbortSignal) {
	const { context, warnings } = executeFunctions({ database, ...(signal && { signal }) });
	const keys = new IdempotencyKeys(context, 'send');
	const send = async (key: string, outcome = sent, onRequest: () => unknown = () => undefined) =>
		await keys.once({ key, resendUnknown: false, timeoutMs: 1000 }, async () => {
			await onRequest();
			return outcome;
		});
	return { keys, send, warnings, context };
}

const states = (database: ProcessedData, key: string) => keyStatesIn(database, [key]);

describe('a key', () => {
	test('is claimed when its request leaves, and sent once it is answered', async () => {
		const database = new ProcessedData();
		const { send } = startExecution(database);
		const during = { states: {} };
		await send('a', sent, () => (during.states = states(database, 'a')));
		expect(during.states).toEqual({ sent: [], claimed: ['a'] });
		expect(states(database, 'a')).toEqual({ sent: ['a'], claimed: [] });
	});

	test.each(['rate_limit', 'bad_request'])(
		'is free again after the refusal %s, and sent the next time',
		async (type) => {
			const database = new ProcessedData();
			const { send } = startExecution(database);
			await send('a', failed(type));
			expect(database.rows.size).toBe(0);
			expect(await send('a')).toBe(sent);
		},
	);

	test('that was sent is asked for by reading alone, by another process, too', async () => {
		const database = new ProcessedData();
		await startExecution(database).send('a');
		database.queries.length = 0;
		const request = jest.fn();
		const outcome = await startExecution(database).send('a', sent, request);
		expect(outcome).toMatchObject({ kind: 'done', value: 'alreadySent' });
		expect(request).not.toHaveBeenCalled();
		expect(new Set(database.queries.map(({ kind }) => kind))).toEqual(new Set(['find']));
	});

	test('that is claimed by somebody else is asked for by reading alone', async () => {
		const database = new ProcessedData();
		database.rows.set(keyRow('held', 'claim:1'), ['1']);
		expect((await startExecution(database).send('held')).kind).toBe('held');
		expect(new Set(database.queries.map(({ kind }) => kind))).toEqual(new Set(['find']));
	});

	test('that is known to be unknown needs no wait', async () => {
		const database = new ProcessedData();
		await startExecution(database).send('lost', lost);
		const outcome = await startExecution(database).send('lost');
		expect(outcome).toMatchObject({ kind: 'failed', problem: { outcome: 'unknown' } });
	});

	test('takes less than 1 kB of n8n’s database', async () => {
		const database = new ProcessedData();
		await startExecution(database).send('k'.repeat(255));
		const size = [...database.rows].join('').length;
		expect(size).toBeLessThan(400);
	});

	test('is free again if the user stops the execution before its request leaves', async () => {
		const database = new ProcessedData();
		const stop = new AbortController();
		const { send } = startExecution(database, stop.signal);
		database.beforeQuery = ({ kind }) => {
			if (kind === 'insert') stop.abort();
		};
		expect(await send('a')).toEqual({ kind: 'notStarted' });
		expect(database.rows.size).toBe(0);
	});

	test('stays claimed if its request throws', async () => {
		const database = new ProcessedData();
		const { send } = startExecution(database);
		const thrown = send('a', sent, () => {
			throw new TypeError('A defect');
		});
		await expect(thrown).rejects.toThrow('A defect');
		expect(states(database, 'a')).toEqual({ sent: [], claimed: ['a'] });
	});
});

describe('if n8n’s database fails', () => {
	const failsAt = (database: ProcessedData, kind: string, from: number, most = Infinity) => {
		let count = 0;
		database.beforeQuery = (query) => {
			if (query.kind !== kind) return;
			count += 1;
			if (count >= from && count < from + most) throw new Error('SQLITE_IOERR');
		};
	};

	test('nothing is sent under a key that can not be claimed', async () => {
		const database = new ProcessedData();
		const { send } = startExecution(database);
		failsAt(database, 'insert', 1);
		const request = jest.fn();
		expect(await send('a', sent, request)).toMatchObject({
			kind: 'failed',
			problem: { type: 'network', outcome: 'notSent' },
		});
		expect(request).not.toHaveBeenCalled();
	});

	test('it is noted again that a key was sent', async () => {
		const database = new ProcessedData();
		const { send, warnings } = startExecution(database);
		failsAt(database, 'insert', 2, 2);
		expect(await send('a')).toBe(sent);
		expect(states(database, 'a')).toEqual({ sent: ['a'], claimed: [] });
		expect(warnings).toEqual([]);
	});

	test('a key stays claimed, with a warning, if it can not be noted that it was sent', async () => {
		const database = new ProcessedData();
		const { send, warnings } = startExecution(database);
		failsAt(database, 'insert', 2);
		expect(await send('a')).toBe(sent);
		expect(warnings).toEqual([expect.stringMatching(/workflow-1 stays claimed, .* SQLITE_IOERR/)]);
		database.beforeQuery = () => undefined;
		expect((await send('a')).kind).toBe('held');
	});

	test('a key stays claimed, with a warning, if it can not be freed', async () => {
		const database = new ProcessedData();
		const { send, warnings } = startExecution(database);
		failsAt(database, 'delete', 1);
		await send('not freed', failed('bad_request'));
		expect(warnings).toEqual([
			expect.stringMatching(/stays claimed, because n8n could not free it/),
		]);
		expect((await send('not freed')).kind).toBe('held');
	});
});

describe('whether a node can have rows of its own', () => {
	/** What a version of n8n hands to a node: a context of a class of its own. */
	class Context {}
	const contextOf = (database: ProcessedData) => {
		class VersionOfN8n extends Context {}
		const { context } = executeFunctions({ database });
		return Object.assign(new VersionOfN8n(), context);
	};

	test('is tried once for each class of context', async () => {
		const database = new ProcessedData();
		const context = contextOf(database);
		await new IdempotencyKeys(context, 'send').requireUsable();
		const queries = database.queries.length;
		await new IdempotencyKeys(context, 'send').requireUsable();
		expect(queries).toBeGreaterThan(0);
		expect(database.queries.length).toBe(queries);
		expect(database.rows.size).toBe(0);
	});

	test('is tried again if n8n’s database was down', async () => {
		const database = new ProcessedData();
		const keys = new IdempotencyKeys(contextOf(database), 'send');
		database.beforeQuery = () => {
			throw new Error('Connection terminated');
		};
		await expect(keys.requireUsable()).rejects.toThrow('Connection terminated');
		database.beforeQuery = () => undefined;
		await keys.requireUsable();
	});

	test('is no if n8n takes the ID from elsewhere, and then keys are refused', async () => {
		const database = new ProcessedData();
		const context = contextOf(database);
		// Its helpers hold another object than the node that it shows.
		Object.assign(context, { helpers: database.helpersOf(context.getNode()) });
		const refused = new IdempotencyKeys(context, 'send').requireUsable();
		await expect(refused).rejects.toThrow(InvalidInput);
		await expect(refused).rejects.toThrow('do not work with this version of n8n');
	});
});
