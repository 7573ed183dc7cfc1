import { Keys } from '../../../nodes/PushCampaign/send/keys';
import { Ledger } from '../../../nodes/PushCampaign/send/ledger';
import type { Send } from '../../../nodes/PushCampaign/send/once';
import { trySend } from '../../../nodes/PushCampaign/send/once';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import {
	failureProblem,
	unknownProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';

// One send asks the ledger, then its key, then the clock, right before its request leaves.

const position = '0.0';
const tooLate = validationProblem(new InvalidInput('It is too late', 'Choose a later time.'));
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
	const ledger = new Ledger();
	const keys = new Keys(rows, given.now ?? (() => 0));
	const memory = { ledger, keys, warn };
	const send: Send = {
		position,
		repeats: new Map(),
		key: { name: 'key', id: '77' },
		timeoutMs: 1_000,
		refusal() {
			asked.push('clock');
			return undefined;
		},
		async request() {
			asked.push('request');
			return { answered: true, value: { description: 'Created' }, raw: {} };
		},
		toRow: ({ description }) => ({ description }),
	};
	return { table, asked, warn, ledger, memory, send };
}

const failed = (problem: object) => ({ outcome: { ended: 'failed', problem } });

test('a send claims its key right before its request leaves, and notes that it was sent', async () => {
	const { memory, send, asked, table } = setUp();
	const attempt = await trySend(memory, send);
	const outcome = { ended: 'sent', row: { description: 'Created' } };
	expect(attempt).toEqual({ outcome, then: 'end', isAccepted: true });
	const order = asked.filter((what) => what !== 'clock').slice(-3);
	expect(order).toEqual(['insert key:claim:1', 'request', 'insert key:sent']);
	expect([...table]).toEqual(['key:claim:1', 'key:sent']);
});

test('while a request is in flight the ledger knows it', async () => {
	const { memory, send, ledger } = setUp();
	const says: unknown[] = [];
	const request: Send['request'] = async () => {
		says.push(ledger.recall(send.position).says);
		return await send.request();
	};
	await trySend(memory, { ...send, request });
	expect(says).toEqual(['inFlight']);
	expect(ledger.recall(send.position)).toMatchObject({ says: 'sent' });
});

test('a send without a key is judged by its time alone', async () => {
	const { memory, send, asked, table } = setUp();
	const keyless = { ...send, key: undefined };
	const late = await trySend(memory, { ...keyless, refusal: () => tooLate });
	expect(late).toMatchObject({ ...failed(tooLate), then: 'stop' });
	expect(asked).toEqual([]);
	expect(await trySend(memory, keyless)).toMatchObject({ outcome: { ended: 'sent' } });
	expect(asked).toEqual(['clock', 'request']);
	expect(table).toEqual(new Set());
});

test('what is a defect of the node is thrown, and is no failure of a send', async () => {
	const { memory, ledger, send } = setUp();
	const request = async () => await Promise.reject(new TypeError('A defect'));
	await expect(trySend(memory, { ...send, request })).rejects.toThrow('A defect');
	// It is not in flight for ever: the next try says that nobody knows.
	expect(ledger.recall(send.position)).toMatchObject({ says: 'unknown' });
});

test('an item that another call begins while its key is claimed leaves the key free, and is asked again', async () => {
	const { memory, send, ledger, table, asked } = setUp();
	const add = table.add.bind(table);
	jest.spyOn(table, 'add').mockImplementation((row) => {
		ledger.begin([position]);
		return add(row);
	});
	expect(await trySend(memory, send)).toEqual({ then: 'held' });
	expect([...table]).toEqual(['key:claim:1', 'key:free:1']);
	expect(asked).not.toContain('request');
});

test('an item that this execution has left unknown fails again, and is asked of nobody else', async () => {
	const { memory, send, asked, ledger } = setUp();
	ledger.keepFailed([position], lost);
	expect(await trySend(memory, send)).toMatchObject({ ...failed(lost), then: 'end' });
	expect(asked).toEqual([]);
});

test('an item that is the same as another one is known as that is: in flight, sent, refused, unknown', async () => {
	const { memory, send, ledger } = setUp();
	const repeats = new Map([['0.1', { description: 'The same' }]]);
	const says = () => ledger.recall('0.1');
	const during: unknown[] = [];
	const request: Send['request'] = async () => {
		during.push(says().says);
		return { answered: false, problem: refused('invalid_value') };
	};
	await trySend(memory, { ...send, repeats, key: undefined, request });
	expect([...during, says()]).toEqual(['inFlight', { says: 'new' }]);
	const unknown = async () => ({ answered: false, problem: lost }) as const;
	await trySend(memory, { ...send, position: '1.0', repeats, key: undefined, request: unknown });
	expect(says()).toMatchObject({ says: 'unknown' });
	await trySend(memory, { ...send, repeats });
	expect(says()).toEqual({ says: 'sent', row: { description: 'The same' } });
});

test('a test is not remembered', async () => {
	const { memory, send, ledger } = setUp();
	const test = { ...send, position: undefined, key: undefined };
	await trySend(memory, test);
	expect(ledger.hasEntries()).toBe(false);
	expect(await trySend(memory, test)).toMatchObject({ outcome: { ended: 'sent' } });
});

test('an item that another run is sending at this moment is asked again after a pause', async () => {
	const { memory, send, ledger } = setUp();
	ledger.begin([position]);
	expect(await trySend(memory, send)).toEqual({ then: 'held' });
});

test('what the ledger knows is asked of nobody else', async () => {
	const { memory, send, asked } = setUp();
	await trySend(memory, send);
	asked.length = 0;
	const again = await trySend(memory, { ...send, refusal: () => tooLate });
	expect(again).toMatchObject({
		outcome: { ended: 'sentEarlier' },
		then: 'end',
		isAccepted: false,
	});
	expect(asked).toEqual([]);
});

test('a late item asks its key first: what was sent is already sent, whatever its time says', async () => {
	const sent = setUp({ rows: ['key:claim:1', 'key:sent'] });
	const late = { ...sent.send, refusal: () => tooLate };
	expect(await trySend(sent.memory, late)).toMatchObject({
		outcome: { ended: 'underKey', isUnknown: false },
	});

	const free = setUp();
	expect(await trySend(free.memory, { ...free.send, refusal: () => tooLate })).toMatchObject({
		...failed({ type: 'validation', message: tooLate.message }),
		then: 'stop',
	});
	expect(free.table).toEqual(new Set());
	expect(free.asked).not.toContain('request');
});

test('a late item is not taken for free because the item before was', async () => {
	const { memory, send } = setUp({ rows: ['sent before:claim:1', 'sent before:sent'] });
	await trySend(memory, send);
	const late = {
		...send,
		position: '0.1',
		key: { name: 'sent before', id: '1' },
		refusal: () => tooLate,
	};
	expect(await trySend(memory, late)).toMatchObject({
		outcome: { ended: 'underKey', isUnknown: false },
	});
});

test('a claim of somebody else is waited for, and told as unknown by one of those who find its time over', async () => {
	let now = 0;
	const { memory, send, asked, table } = setUp({ rows: ['key:claim:1'], now: () => now });
	expect(await trySend(memory, send)).toEqual({ then: 'held' });
	now = 6_000;
	const message =
		"It is unknown whether this was sent (a request left before under the ID '77', and nobody knows how it ended)";
	const told = { ...failed({ outcome: 'unknown', type: 'network', message }), then: 'end' };
	expect(await trySend(memory, send)).toMatchObject(told);
	expect([...table]).toEqual(['key:claim:1', 'key:lost:1']);
	// In this execution it fails again; a later one gives a row.
	expect(await trySend(memory, send)).toMatchObject(told);
	const later = { ...memory, ledger: new Ledger() };
	const known = { outcome: { ended: 'underKey', isUnknown: true }, then: 'end', isAccepted: false };
	expect(await trySend(later, send)).toEqual(known);
	expect(await trySend(later, { ...send, refusal: () => tooLate })).toEqual(known);
	expect(asked).not.toContain('request');
});

test('a key that somebody else sent is already sent also for a run that takes it for free without a look', async () => {
	const { memory, send, asked } = setUp({ rows: ['other:claim:1', 'other:sent'] });
	await trySend(memory, send);
	asked.length = 0;
	const other = { ...send, position: '0.1', key: { name: 'other', id: '1' } };
	expect(await trySend(memory, other)).toEqual({ then: 'held' });
	expect(await trySend(memory, other)).toMatchObject({
		outcome: { ended: 'underKey', isUnknown: false },
	});
	expect(asked).not.toContain('request');
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
		expect(await trySend(memory, send)).toMatchObject({ outcome: { ended: 'sent' } });
		expect(warn).toHaveBeenCalledTimes(1);
		expect(warn).toHaveBeenCalledWith(expect.stringContaining('SQLITE_BUSY'));
	});
});
