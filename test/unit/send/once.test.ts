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
	const [warn, noteSent] = [jest.fn(), jest.fn()];
	const ledger = new Ledger();
	const keys = new Keys(rows, given.now ?? (() => 0));
	const once = new SendsOnce(ledger, keys, 'execution', { warn, noteSent });
	const send: Send = {
		position: '0.0',
		key: 'key',
		repeats: 'never',
		unknownOutcome: 'report',
		timeoutMs: 1_000,
		checkTime() {
			asked.push('clock');
			return undefined;
		},
		async request() {
			asked.push('request');
			return { answered: true, value: { description: 'Created' }, raw: {} };
		},
		toRow: ({ description }) => ({ description }),
		countedRow: { status: 'alreadySent' },
	};
	return { table, asked, warn, noteSent, ledger, once, send };
}

const failed = (problem: object) => ({ outcome: { ended: 'failed', problem } });

test('a send claims its key right before its request leaves, and notes that it was sent', async () => {
	const { once, send, asked, table } = setUp();
	const attempt = await once.try(send);
	const outcome = { ended: 'sent', row: { description: 'Created' } };
	expect(attempt).toEqual({ outcome, then: 'end', isAccepted: true });
	expect(asked.slice(-3)).toEqual(['insert key:claim:1', 'request', 'insert key:sent']);
	expect([...table]).toEqual(['key:claim:1', 'key:sent']);
});

test('while a request is in flight the ledger has it as unknown', async () => {
	for (const key of [undefined, 'key']) {
		const { once, send, ledger } = setUp();
		const says: unknown[] = [];
		const request: Send['request'] = async () => {
			says.push(ledger.recall(send.position, 'other', 'resend'));
			return await send.request();
		};
		await once.try({ ...send, key, request });
		expect(says).toMatchObject([{ says: 'unknown', hasKey: key !== undefined }]);
		expect(ledger.recall(send.position, 'other', 'resend')).toMatchObject({
			...{ says: 'sent', hasKey: key !== undefined },
		});
	}
});

test('a send without a key is judged by its time alone', async () => {
	const { once, send, asked, table } = setUp();
	const keyless = { ...send, key: undefined };
	expect(await once.isFree(keyless)).toBe(true);
	const late = await once.try({ ...keyless, checkTime: () => tooLate });
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
});

test('an item that the ledger has as unknown fails again, and is asked of nobody else', async () => {
	const { once, send, ledger, asked } = setUp();
	ledger.begin(send.position, 'execution', true);
	ledger.keepFailed(send.position, 'execution', lost, true);
	expect(await once.try(send)).toMatchObject({ ...failed(lost), then: 'end' });
	expect(await once.isFree(send)).toBe(false);
	expect(asked).toEqual([]);
});

test('what the ledger knows is asked of nobody else', async () => {
	const { once, send, asked } = setUp();
	await once.try(send);
	asked.length = 0;
	const again = await once.try({ ...send, checkTime: () => tooLate });
	expect(again).toMatchObject({ outcome: { ended: 'sentBefore' }, then: 'end', isAccepted: false });
	expect(asked).toEqual([]);
});

test('a late item asks its key first: what was sent is already sent, whatever its time says', async () => {
	const sent = setUp({ rows: ['key:claim:1', 'key:sent'] });
	const late = { ...sent.send, checkTime: () => tooLate };
	expect(await sent.once.isFree(late)).toBe(false);
	expect(await sent.once.try(late)).toMatchObject({ outcome: { ended: 'alreadySent' } });

	const free = setUp();
	expect(await free.once.isFree({ ...free.send, checkTime: () => tooLate })).toBe(true);
	expect(await free.once.try({ ...free.send, checkTime: () => tooLate })).toMatchObject({
		...failed({ type: 'validation', message: tooLate.message }),
		then: 'stop',
	});
	expect(free.table).toEqual(new Set());
	expect(free.asked).not.toContain('request');
});

test('refuses an item that becomes late while it waits', async () => {
	const { once, send, table } = setUp();
	const attempt = await once.try({ ...send, checkTime: () => tooLate });
	expect(attempt).toMatchObject({ ...failed({ message: tooLate.message }), then: 'stop' });
	expect(table).toEqual(new Set());
});

test('a late item is not taken for free because the item before was', async () => {
	const { once, send } = setUp({ rows: ['sent before:claim:1', 'sent before:sent'] });
	await once.try(send);
	const late = { ...send, position: '0.1', key: 'sent before', checkTime: () => tooLate };
	expect(await once.isFree(late)).toBe(false);
	expect(await once.try(late)).toMatchObject({ outcome: { ended: 'alreadySent' } });
});

test('a claim of somebody else is waited for, and is unknown once its time is over', async () => {
	let now = 0;
	const { once, send, asked } = setUp({ rows: ['key:claim:1'], now: () => now });
	now = 5_999;
	expect(await once.isFree(send)).toBe(false);
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
	const unknown = (key: string | undefined) => {
		const all = setUp();
		all.ledger.begin('0.0', 'earlier execution', false);
		all.ledger.keepFailed('0.0', 'earlier execution', lost, false);
		return { ...all, send: { ...all.send, key, unknownOutcome: 'countAsSent' as const } };
	};
	const counted = { outcome: { ended: 'sentBefore', row: { status: 'alreadySent' } }, then: 'end' };

	test('sends nothing, with a key or without, and the execution knows it from then on', async () => {
		for (const key of [undefined, 'key']) {
			const { once, send, asked, table } = unknown(key);
			expect(await once.try(send)).toMatchObject(counted);
			expect(await once.try({ ...send, unknownOutcome: 'report' })).toMatchObject(counted);
			expect(once.recall(send)).toMatchObject({ says: 'sent', hasKey: key !== undefined });
			expect(table.size).toBe(key === undefined ? 0 : 2);
			expect(asked).not.toContain('request');
		}
	});

	test('with a key that was added after the send makes claim 1, for those who claim without a look', async () => {
		const { once, send, table } = unknown('key');
		await once.try(send);
		expect([...table]).toEqual(['key:claim:1', 'key:sent']);
	});

	test('is not judged by the time of the send', async () => {
		const { once, send } = unknown('key');
		const late = { ...send, checkTime: () => tooLate };
		expect(await once.isFree(late)).toBe(false);
		expect(await once.try(late)).toMatchObject(counted);
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

	test('for a late item, the message names the database and not a bug', async () => {
		const { once, send } = setUp({ failing: /look/ });
		await expect(once.isFree({ ...send, checkTime: () => tooLate })).rejects.toBeInstanceOf(
			Unavailable,
		);
	});
});
