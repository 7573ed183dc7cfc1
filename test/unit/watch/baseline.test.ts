import { jsonParse, ObservableObject, type IDataObject } from 'n8n-workflow';
import type { Problem } from '../../../nodes/PushCampaign/service/failures';
import {
	failureProblem,
	notConnectedProblem,
	timeoutProblem,
} from '../../../nodes/PushCampaign/service/failures';
import {
	hasChanged,
	isCopy,
	keepOnly,
	loadState,
	saveState,
	zeroCounters,
} from '../../../nodes/PushCampaign/watch/baseline';
import {
	describeGroup,
	findUnreported,
	toReported,
} from '../../../nodes/PushCampaign/watch/reportedFailures';

const baseline = { counters: { ...zeroCounters, clicked: 3 }, readAt: 7 };
const empty = { baselines: {}, reported: {}, unread: [], version: {} };
const full = {
	baselines: { '1001': baseline },
	reported: { '1002': 'x' },
	unread: ['1003'],
	version: { main: 7 },
};

describe('the state', () => {
	test('is empty at first, and comes back as it was saved', () => {
		const staticData: IDataObject = {};
		expect(loadState(staticData)).toEqual(empty);
		saveState(staticData, empty, full);
		expect(loadState(structuredClone(staticData))).toEqual(full);
	});

	test.each([
		[{ baselines: 'x' }, { ...full, baselines: {} }],
		[
			{ baselines: { '1001': { counters: { clicked: 1 }, readAt: 1 } } },
			{ ...full, baselines: {} },
		],
		[{ baselines: { '1001': { counters: zeroCounters } } }, { ...full, baselines: {} }],
		[{ reported: { '1002': 7 } }, { ...full, reported: {} }],
		[{ unread: 'x' }, { ...full, unread: [] }],
		[{ unread: [7] }, { ...full, unread: [] }],
		[{ version: { main: 'x' } }, { ...full, version: {} }],
		[{ lastTimeChecked: 7 }, full],
	])('with %j in it keeps the rest', (change, expected) => {
		const staticData = jsonParse<IDataObject>(JSON.stringify({ ...full, ...change }));
		expect(loadState(staticData)).toEqual(expected);
	});

	test('is written only where it changed, each key anew', () => {
		const staticData: IDataObject = {};
		saveState(staticData, full, structuredClone(full));
		expect(staticData).toEqual({});
		saveState(staticData, full, { ...full, unread: [] });
		expect(staticData).toEqual({ unread: [] });
		const after = { ...full, baselines: { '1009': baseline } };
		saveState(staticData, full, after);
		expect(staticData).toEqual({ unread: [], baselines: after.baselines });
		expect(staticData['baselines']).not.toBe(after.baselines);
	});

	test.each([
		[{}, false],
		[{ baselines: {} }, true],
		[{ reported: {} }, true],
		[{ unread: ['1003', '1004'] }, true],
		[{ version: { main: 8 } }, true],
	])('with %j it has changed: %p', (change, isChanged) => {
		expect(hasChanged(full, structuredClone({ ...full, ...change }))).toBe(isChanged);
	});

	test('is a copy unless n8n watches it for changes', () => {
		expect(isCopy({})).toBe(true);
		expect(isCopy(ObservableObject.create({}))).toBe(false);
	});

	test('keeps only what belongs to the campaigns', () => {
		expect(keepOnly({ a: 1, b: 2, c: 3 }, ['c', 'a', 'x'])).toEqual({ a: 1, c: 3 });
		expect(keepOnly({ a: 1 }, [])).toEqual({});
	});
});

describe('failures of campaigns', () => {
	const gone = failureProblem({ status: 'failure', type: 'invalid_value' }, 'read', {
		isOfCampaign: true,
	});
	const slow = timeoutProblem(30_000, 'read');
	const crowded = failureProblem({ status: 'failure', type: 'rate_limit' }, 'read');
	const down = notConnectedProblem('push.example', 'its name is not known', 'read');
	const of = (...entries: Array<[string, Problem]>) => new Map(entries);
	const found = (failures: Map<string, Problem>, reported: Record<string, string> = {}) =>
		findUnreported(failures, reported).map(({ problem, campaignIds }) => [problem, ...campaignIds]);

	test('are grouped by reason', () => {
		expect(found(of(['1', gone], ['2', slow], ['3', gone], ['4', down]))).toEqual([
			[gone, '1', '3'],
			[slow, '2'],
			[down, '4'],
		]);
		expect(found(of())).toEqual([]);
	});

	test('are reported once', () => {
		const failures = of(['1', gone], ['2', slow]);
		const reported = toReported(failures, {});
		expect(Object.keys(reported)).toEqual(['1', '2']);
		expect(found(failures, reported)).toEqual([]);
	});

	test("a campaign's own is reported once for each campaign", () => {
		const reported = toReported(of(['1', gone]), {});
		expect(found(of(['1', gone], ['2', gone]), reported)).toEqual([[gone, '2']]);
	});

	/** What each of some polls reports. */
	function reports(...polls: Array<Map<string, Problem>>) {
		let reported: Record<string, string> = {};
		return polls.map((failures) => {
			const news = found(failures, reported);
			reported = toReported(failures, reported);
			return news;
		});
	}

	test("the service's is reported once, however many campaigns it hits now and then", () => {
		expect(
			reports(
				of(['1', slow]),
				of(['1', slow], ['2', slow]),
				of(['1', slow], ['3', slow]),
				of(['1', slow], ['2', slow], ['4', slow]),
			),
		).toEqual([[[slow, '1']], [], [], []]);
	});

	test('and for each campaign where it stays, whether or not the first one heals', () => {
		const both = of(['1', slow], ['2', slow]);
		expect(reports(of(['1', slow]), both, both, both)).toEqual([
			[[slow, '1']],
			[],
			[[slow, '2']],
			[],
		]);
		const second = of(['2', slow]);
		expect(reports(of(['1', slow]), second, second, second)).toEqual([
			[[slow, '1']],
			[],
			[[slow, '2']],
			[],
		]);
	});

	test('another reason is news, and so is the same one after all have healed', () => {
		expect(
			reports(of(['1', slow]), of(['1', down]), of(['1', slow]), of(), of(['1', slow])),
		).toEqual([[[slow, '1']], [[down, '1']], [[slow, '1']], [], [[slow, '1']]]);
	});

	test.each([slow, crowded])(
		'$message: once, where it is another campaign each time',
		(problem) => {
			const polls = ['1', '2', '3', '4', '5'].map((id) => of([id, problem]));
			expect(reports(...polls)).toEqual([[[problem, '1']], [], [], [], []]);
		},
	);

	test('a rate limit is reported for no other campaign as long as it lasts', () => {
		const both = of(['1', crowded], ['2', crowded]);
		expect(reports(of(['1', crowded]), both, both)).toEqual([[[crowded, '1']], [], []]);
	});

	test.each([
		[1, 'Campaign 1'],
		[2, 'Campaigns 1, 2'],
		[10, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'],
		[11, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more'],
		[200, 'Campaigns 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 190 more'],
	])('%d of them are named', (count, names) => {
		const campaignIds = Array.from({ length: count }, (_, index) => String(index + 1));
		expect(describeGroup({ problem: gone, campaignIds })).toEqual({
			...gone,
			message: `${names} can't be read: The push service has no campaign with this ID`,
		});
	});
});
