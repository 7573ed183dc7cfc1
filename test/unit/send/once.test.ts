import { Keys } from '../../../nodes/PushCampaign/send/keys';
import { openLedger } from '../../../nodes/PushCampaign/send/ledger';
import type { Send } from '../../../nodes/PushCampaign/send/once';
import { askKey, trySend } from '../../../nodes/PushCampaign/send/once';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import { failureProblem, unknownProblem } from '../../../nodes/PushCampaign/service/problems';
import { Unavailable } from '../../../nodes/PushCampaign/service/thrown';

// One send asks the ledger, then its key, right before its request leaves.

const position = '0.0';
const lost = unknownProblem('the connection was lost', { isSend: true });
const refused = (type: string) =>
	failureProblem({ type, description: '' }, { statusCode: 200 }, { isSend: true });

/** One run of one process, that writes down what it asks. */
function setUp(given: { rows?: string[]; failing?: RegExp; now?: () => number } = {}) {
	const table = new Set(given.rows);
	const asked: string[] = [];
	const ask = (what: string) => {
		asked.push(what);
		if (given.failing?.test(what)) throw new Unavailable('SQLITE_BUSY', 'Check the database.');
	};
	const rows: KeyRows = {
		async insert(name) {
			ask(`insert ${name}`);
			const isNew = !table.has(name);
			table.add(name);
			return isNew;
		},
		async isThere(name) {
			ask(`look ${name}`);
			return table.has(name);
		},
	};
	const warn = jest.fn();
	const ledger = openLedger({}, 'execution');
	const keys = new Keys(rows, given.now ?? (() => 0));
	const memory = { ledger, keys, warn };
	const key = { name: 'key', id: '77' };
	const send: Send = {
		position,
		key,
		timeoutMs: 1_000,
		async request() {
			asked.push('request');
			return { answered: true, value: { description: 'Created' }, raw: {} };
		},
		toRow: (ending) => ({ status: ending.status }),
	};
	return { table, asked, warn, ledger, memory, send, key };
}

const failed = (problem: object) => ({ outcome: { state: 'failed', problem } });
const unknownUnderKey = {
	outcome: 'unknown',
	message:
		'It is unknown whether this was sent (a request left before under its ID, and nobody knows how it ended)',
};

test('a send claims its key right before its request leaves, and notes that it was sent', async () => {
	const { memory, send, asked, table } = setUp();
	const attempt = await trySend(memory, send);
	const outcome = { state: 'sent', row: { status: 'success' } };
	expect(attempt).toEqual({ outcome, then: 'end', isAccepted: true });
	expect(asked.slice(-3)).toEqual(['insert key:claim:1', 'request', 'insert key:sent']);
	expect([...table]).toEqual(['key:claim:1', 'key:sent']);
});

test('while a request is in flight the ledger knows it', async () => {
	const { memory, send, ledger } = setUp();
	const states: unknown[] = [];
	const request: Send['request'] = async () => {
		states.push(ledger.recall(send.position).state);
		return await send.request();
	};
	await trySend(memory, { ...send, request });
	expect(states).toEqual(['inFlight']);
	expect(ledger.recall(send.position)).toMatchObject({ state: 'before' });
});

test('a send without a key asks nothing of the database', async () => {
	const { memory, send, asked } = setUp();
	await trySend(memory, { ...send, key: undefined });
	expect(asked).toEqual(['request']);
});

test('what is a defect of the node is thrown, and is no failure of a send', async () => {
	const { memory, ledger, send } = setUp();
	const request = async () => await Promise.reject(new TypeError('A defect'));
	await expect(trySend(memory, { ...send, request })).rejects.toThrow('A defect');
	// It is not in flight for ever: the next try says that nobody knows.
	expect(ledger.recall(send.position)).toMatchObject({ state: 'failed' });
});

test('an item that another call begins while its key is claimed leaves the key free, and is asked again', async () => {
	const { memory, send, ledger, table, asked } = setUp();
	const add = table.add.bind(table);
	jest.spyOn(table, 'add').mockImplementation((row) => {
		ledger.begin(position);
		return add(row);
	});
	expect(await trySend(memory, send)).toEqual({ then: 'held' });
	expect([...table]).toEqual(['key:claim:1', 'key:free:1']);
	expect(asked).not.toContain('request');
});

test('what the ledger knows is asked of nobody else: sent, unknown, in flight', async () => {
	const { memory, send, asked, ledger } = setUp();
	ledger.keep('sent', { state: 'sent', row: { status: 'success' } });
	ledger.keep('unknown', { state: 'failed', problem: lost });
	ledger.begin('in flight');
	const nothingElse = { then: 'end', isAccepted: false };
	expect(await trySend(memory, { ...send, position: 'sent' })).toEqual({
		...nothingElse,
		outcome: { state: 'before', row: { status: 'success' } },
	});
	expect(await trySend(memory, { ...send, position: 'unknown' })).toMatchObject({
		...failed({ reason: lost.reason }),
		...nothingElse,
	});
	expect(await trySend(memory, { ...send, position: 'in flight' })).toEqual({ then: 'held' });
	expect(asked).toEqual([]);
});

test('a claim of somebody else is waited for, and is unknown to one of those who find its time over', async () => {
	let now = 0;
	const { memory, send, asked, table } = setUp({ rows: ['key:claim:1'], now: () => now });
	expect(await trySend(memory, send)).toEqual({ then: 'held' });
	now = 6_000;
	const first = { ...failed(unknownUnderKey), then: 'end', isAccepted: false };
	expect(await trySend(memory, send)).toMatchObject(first);
	expect([...table]).toEqual(['key:claim:1', 'key:lost:1']);
	// It fails in each try of this execution; a later one gives a row.
	expect(await trySend(memory, send)).toMatchObject(first);
	const later = { ...memory, ledger: openLedger({}, 'later') };
	expect(await trySend(later, send)).toMatchObject({
		outcome: { state: 'reported', problem: unknownUnderKey },
	});
	expect(asked).not.toContain('request');
});

test('what was sent under a key is already sent, also for a run that takes it for free without a look', async () => {
	const { memory, send, asked, ledger } = setUp({ rows: ['other:claim:1', 'other:sent'] });
	await trySend(memory, send);
	asked.length = 0;
	const other = { ...send, position: '0.1', key: { name: 'other', id: '1' } };
	expect(await trySend(memory, other)).toEqual({ then: 'held' });
	const before = { state: 'before', row: { status: 'alreadySent' } };
	expect(await trySend(memory, other)).toMatchObject({ outcome: before });
	expect(asked).not.toContain('request');
	// A Retry may have another ID.
	expect(ledger.recall('0.1')).toEqual(before);
});

describe('an item that is refused asks its key, and its position keeps the answer', () => {
	test.each<[what: string, rows: string[], expected: object | undefined]>([
		['free', [], undefined],
		['free again', ['key:claim:1', 'key:free:1'], undefined],
		['sent', ['key:claim:1', 'key:sent'], { state: 'before', row: { status: 'alreadySent' } }],
		['lost', ['key:claim:1', 'key:lost:1'], { state: 'reported', problem: unknownUnderKey }],
		['claimed', ['key:claim:1'], { state: 'failed', problem: unknownUnderKey }],
	])('%s', async (_what, rows, expected) => {
		const { memory, send, key, ledger, table } = setUp({ rows });
		const outcome = await askKey(memory, key, send);
		if (expected === undefined) {
			expect(outcome).toBeUndefined();
			expect(ledger.recall(position)).toEqual({ state: 'new' });
		} else {
			expect(outcome).toMatchObject(expected);
			expect(ledger.recall(position)).toMatchObject(expected);
		}
		expect([...table]).toEqual(rows);
	});
});

test.each([
	['too many requests', refused('rate_limit'), 'refused', undefined, 'key:free:1'],
	['a refusal for a reason that it names', refused('invalid_value'), 'stop', true, 'key:free:1'],
	['a failure without a type', refused(''), 'stop', false, 'key:free:1'],
	['no usable answer', lost, 'stop', false, 'key:lost:1'],
	['no such subscriber, who stops no other one', refused('invalid_sid'), 'end', true, 'key:free:1'],
])(
	'after %s the key says so, and only the service accepts',
	async (_what, problem, then, isAccepted, row) => {
		const { memory, send, table } = setUp();
		const attempt = await trySend(memory, {
			...send,
			request: async () => ({ answered: false, problem }),
		});
		expect(attempt).toMatchObject({ ...failed(problem), then });
		expect('isAccepted' in attempt ? attempt.isAccepted : undefined).toBe(isAccepted);
		expect([...table]).toEqual(['key:claim:1', row]);
	},
);

describe('if n8n’s database does not answer', () => {
	test('for a look or a claim, nothing leaves', async () => {
		for (const failing of [/look/, /claim/]) {
			const { memory, send, asked } = setUp({ failing });
			const attempt = await trySend(memory, send);
			expect(attempt).toMatchObject({
				...failed({ type: 'network', outcome: 'notSent', cause: 'temporarily-unavailable' }),
				...{ then: 'stop', isAccepted: false },
			});
			expect(asked).not.toContain('request');
		}
	});

	test('for the end of a send, it was sent all the same, and n8n’s log says so', async () => {
		const { memory, send, warn } = setUp({ failing: /insert key:sent/ });
		expect(await trySend(memory, send)).toMatchObject({ outcome: { state: 'sent' } });
		expect(warn).toHaveBeenCalledTimes(1);
		expect(warn).toHaveBeenCalledWith(expect.stringContaining('SQLITE_BUSY'));
	});
});
