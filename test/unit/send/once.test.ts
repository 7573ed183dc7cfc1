import { Keys } from '../../../nodes/PushCampaign/send/keys';
import { Ledger } from '../../../nodes/PushCampaign/send/ledger';
import type { Send } from '../../../nodes/PushCampaign/send/once';
import { SendsOnce } from '../../../nodes/PushCampaign/send/once';
import type { KeyRows } from '../../../nodes/PushCampaign/send/rows';
import {
	failureProblem,
	unknownProblem,
	validationProblem,
} from '../../../nodes/PushCampaign/service/problems';
import { InvalidInput, Unavailable } from '../../../nodes/PushCampaign/service/thrown';

// One send asks the ledger, then its key, then the clock, right before its request leaves.

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
	const once = new SendsOnce(ledger, keys, 'execution', warn);
	const send: Send = {
		position: '0.0',
		key: 'key',
		unknownOutcome: 'report',
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
	return { table, asked, warn, ledger, once, send };
}

const failed = (problem: object) => ({ outcome: { ended: 'failed', problem } });

test('a send claims its key right before its request leaves, and notes that it was sent', async () => {
	const { once, send, asked, table } = setUp();
	const attempt = await once.try(send);
	const outcome = { ended: 'sent', row: { description: 'Created' } };
	expect(attempt).toEqual({ outcome, then: 'end', isAccepted: true });
	const order = asked.filter((what) => what !== 'clock').slice(-3);
	expect(order).toEqual(['insert key:claim:1', 'request', 'insert key:sent']);
	expect([...table]).toEqual(['key:claim:1', 'key:sent']);
});

test('while a request is in flight the ledger knows it', async () => {
	const { once, send, ledger } = setUp();
	const says: unknown[] = [];
	const request: Send['request'] = async () => {
		says.push(ledger.recall(send.position, 'other').says);
		return await send.request();
	};
	await once.try({ ...send, request });
	expect(says).toEqual(['inFlight']);
	expect(ledger.recall(send.position, 'other')).toMatchObject({ says: 'sent' });
});

test('a send without a key is judged by its time alone', async () => {
	const { once, send, asked, table } = setUp();
	const keyless = { ...send, key: undefined };
	const late = await once.try({ ...keyless, refusal: () => tooLate });
	expect(late).toMatchObject({ ...failed(tooLate), then: 'stop' });
	expect(asked).toEqual([]);
	expect(await once.try(keyless)).toMatchObject({ outcome: { ended: 'sent' } });
	expect(asked).toEqual(['clock', 'request']);
	expect(table).toEqual(new Set());
});

test('what is a defect of the node is thrown, and is no failure of a send', async () => {
	const { once, send } = setUp();
	const request = async () => await Promise.reject(new TypeError('A defect'));
	await expect(once.try({ ...send, request })).rejects.toThrow('A defect');
	// It is not in flight for ever: the next try says that nobody knows.
	expect(once.recall(send.position)).toMatchObject({ says: 'unknown' });
});

test('an item that another call begins while its key is claimed leaves the key free, and is asked again', async () => {
	const { once, send, ledger, table, asked } = setUp();
	const add = table.add.bind(table);
	jest.spyOn(table, 'add').mockImplementation((row) => {
		ledger.begin(send, 'execution');
		return add(row);
	});
	expect(await once.try(send)).toEqual({ then: 'held' });
	expect([...table]).toEqual(['key:claim:1', 'key:free:1']);
	expect(asked).not.toContain('request');
});

test.each([
	['reports again', 'report', 'earlier execution'],
	['counts as sent, which is done when it is read', 'countAsSent', 'earlier execution'],
	['is sent again, and this execution left it so', 'resend', 'execution'],
] as const)(
	'an unknown item that %s fails again, and is asked of nobody else',
	async (_what, unknownOutcome, executionId) => {
		const { once, send, ledger, asked } = setUp();
		ledger.keepFailed(send, executionId, lost);
		expect(await once.try({ ...send, unknownOutcome })).toMatchObject({
			...failed(lost),
			then: 'end',
		});
		expect(asked).toEqual([]);
	},
);

test('an item that another run is sending at this moment is asked again after a pause', async () => {
	const { once, send, ledger } = setUp();
	ledger.begin(send, 'other');
	expect(await once.try({ ...send, unknownOutcome: 'resend' })).toEqual({ then: 'held' });
});

test('an unknown item of an earlier execution is sent with Send Again', async () => {
	const { once, send, ledger } = setUp();
	ledger.keepFailed(send, 'earlier execution', lost);
	const again = await once.try({ ...send, unknownOutcome: 'resend' });
	expect(again).toMatchObject({ outcome: { ended: 'sent' } });
});

test('what the ledger knows is asked of nobody else', async () => {
	const { once, send, asked } = setUp();
	await once.try(send);
	asked.length = 0;
	const again = await once.try({ ...send, refusal: () => tooLate });
	expect(again).toMatchObject({ outcome: { ended: 'sentBefore' }, then: 'end', isAccepted: false });
	expect(asked).toEqual([]);
});

test('a late item asks its key first: what was sent is already sent, whatever its time says', async () => {
	const sent = setUp({ rows: ['key:claim:1', 'key:sent'] });
	const late = { ...sent.send, refusal: () => tooLate };
	expect(await sent.once.try(late)).toMatchObject({ outcome: { ended: 'alreadySent' } });

	const free = setUp();
	expect(await free.once.try({ ...free.send, refusal: () => tooLate })).toMatchObject({
		...failed({ type: 'validation', message: tooLate.message }),
		then: 'stop',
	});
	expect(free.table).toEqual(new Set());
	expect(free.asked).not.toContain('request');
});

test('refuses an item that becomes late while it waits', async () => {
	const { once, send, table } = setUp();
	const attempt = await once.try({ ...send, refusal: () => tooLate });
	expect(attempt).toMatchObject({ ...failed({ message: tooLate.message }), then: 'stop' });
	expect(table).toEqual(new Set());
});

test('a late item is not taken for free because the item before was', async () => {
	const { once, send } = setUp({ rows: ['sent before:claim:1', 'sent before:sent'] });
	await once.try(send);
	const late = { ...send, position: '0.1', key: 'sent before', refusal: () => tooLate };
	expect(await once.try(late)).toMatchObject({ outcome: { ended: 'alreadySent' } });
});

test('a claim of somebody else is waited for, and is unknown once its time is over', async () => {
	let now = 0;
	const { once, send, asked } = setUp({ rows: ['key:claim:1'], now: () => now });
	now = 5_999;
	expect(await once.try(send)).toEqual({ then: 'held' });
	now += 5_999;
	expect(await once.try(send)).toMatchObject({ then: 'held' });
	now += 1;
	const message: unknown = expect.stringMatching(/^It is unknown whether this was sent\b/);
	const given = { ...failed({ outcome: 'unknown', type: 'network', message }), then: 'end' };
	expect(await once.try(send)).toMatchObject(given);
	expect(asked).not.toContain('request');
});

describe('Count as Sent', () => {
	const row = { status: 'alreadySent' };

	test('sends nothing, with a key or without, and the execution knows it from then on', async () => {
		for (const key of [undefined, 'key']) {
			const { once, send, asked, table } = setUp();
			await once.countAsSent(send.position, key, row);
			expect(await once.try({ ...send, unknownOutcome: 'report' })).toMatchObject({
				...{ outcome: { ended: 'sentBefore', row }, then: 'end' },
			});
			expect(table.size).toBe(key === undefined ? 0 : 2);
			expect(asked).not.toContain('request');
		}
	});

	test('makes claim 1 of a key that has none, for those who claim without a look', async () => {
		const { once, send, table } = setUp();
		await once.countAsSent(send.position, 'key', row);
		expect([...table]).toEqual(['key:claim:1', 'key:sent']);
	});

	test('is not known by the execution if the database does not take it', async () => {
		const { once, send } = setUp({ failing: /insert/ });
		const counting = once.countAsSent(send.position, 'key', row);
		await expect(counting).rejects.toBeInstanceOf(Unavailable);
		expect(once.recall(send.position)).toEqual({ says: 'new' });
	});
});

test('a key that counts as sent is sent also for a run that takes it for free without a look', async () => {
	const { once, send, asked } = setUp({ rows: ['added:claim:1', 'added:sent'] });
	await once.try(send);
	asked.length = 0;
	const added = { ...send, position: '0.1', key: 'added' };
	expect(await once.try(added)).toEqual({ then: 'held' });
	expect(await once.try(added)).toMatchObject({ outcome: { ended: 'alreadySent' } });
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
		const { once, send, table } = setUp();
		const attempt = await once.try({
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
			const { once, send, asked } = setUp({ failing });
			const attempt = await once.try(send);
			expect(attempt).toMatchObject({
				...failed({ type: 'network', outcome: 'notSent', cause: 'temporarily-unavailable' }),
				...{ then: 'stop', isAccepted: false },
			});
			expect(asked).not.toContain('request');
		}
	});

	test('for the end of a send, it was sent all the same, and n8n’s log says so', async () => {
		const { once, send, warn } = setUp({ failing: /insert key:sent/ });
		expect(await once.try(send)).toMatchObject({ outcome: { ended: 'sent' } });
		expect(warn).toHaveBeenCalledTimes(1);
		expect(warn).toHaveBeenCalledWith(expect.stringContaining('SQLITE_BUSY'));
	});

	test('for a look, it is thrown', async () => {
		const { once } = setUp({ failing: /look/ });
		await expect(once.look({ key: 'key', timeoutMs: 1 })).rejects.toBeInstanceOf(Unavailable);
	});
});
