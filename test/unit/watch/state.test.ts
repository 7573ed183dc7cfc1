import { jsonParse, ObservableObject, type IDataObject } from 'n8n-workflow';
import { mapCounters } from '../../../nodes/PushCampaign/service/answers';
import type { Store } from '../../../nodes/PushCampaign/watch/state';
import { keepOnly, loadState, saveState } from '../../../nodes/PushCampaign/watch/state';

const counters = { ...mapCounters(() => 0), clicked: 3 };
const baseline = { counters, highest: { closed: 5 } };
const empty = { revision: 0, baselines: {}, failing: {}, unread: [] };
const full = {
	revision: 7,
	baselines: { '1001': baseline },
	failing: { '1002': { last: 'x', told: 'y' } },
	unread: ['1003'],
};
const none = new Map();

function storeOf(data: Partial<Store> = {}): Store {
	return {
		nodeId: 'a',
		node: ObservableObject.create({}),
		global: ObservableObject.create({}),
		isCursor: false,
		...data,
	};
}
/** What n8n has saved and loaded again. */
const reloaded = ({ node, global, ...store }: Store): Store => ({
	...store,
	node: ObservableObject.create(jsonParse<IDataObject>(JSON.stringify(node))),
	global: ObservableObject.create(jsonParse<IDataObject>(JSON.stringify(global))),
});

describe.each([true, false])('the state, in a cursor: %p', (isCursor) => {
	test('is empty at first, and comes back as it was saved', () => {
		const store = storeOf({ isCursor });
		expect(loadState(store)).toEqual(empty);
		saveState(store, full, none);
		expect(loadState(store)).toEqual(full);
		expect(store.node['baselines']).not.toBe(full.baselines);
		expect(store.node).toHaveProperty('__dataChanged', true);
		const later = reloaded(store);
		expect(loadState(later)).toEqual(full);
		saveState(later, { ...full, baselines: {} }, none);
		expect(loadState(reloaded(later)).baselines).toEqual({});
	});

	test.each([
		[{ baselines: 'x' }, { baselines: {} }],
		[{ baselines: { '1001': { counters: { clicked: 1 } } } }, { baselines: {} }],
		[{ baselines: { '1001': { counters } } }, { baselines: { '1001': { counters, highest: {} } } }],
		[{ baselines: { '01001': baseline } }, {}],
		[{ baselines: { '0x1': baseline } }, { baselines: { '0x1': baseline } }],
		[{ revision: 'x' }, { revision: 0 }],
		[{ failing: { '1002': 'x' } }, { failing: {} }],
		[{ failing: { '1002': { last: 'x' } } }, { failing: { '1002': { last: 'x' } } }],
		[{ unread: [7] }, { unread: [] }],
		[{ lastTimeChecked: 7 }, {}],
	])('with %j in it keeps the rest', (change, expected) => {
		const node = jsonParse<IDataObject>(JSON.stringify({ ...full, ...change }));
		expect(loadState(storeOf({ isCursor, node }))).toEqual({ ...full, ...expected });
	});
});

describe('what the classic engine saves', () => {
	test('goes by the ID of the node, and by its name where there is none', () => {
		const store = storeOf();
		saveState(store, full, none);
		const renamed = { ...reloaded(store), node: {} };
		expect(loadState(renamed)).toEqual(full);
		expect(loadState({ ...renamed, nodeId: 'b' })).toEqual(empty);
		// Another trigger has got the name by now.
		saveState({ ...renamed, nodeId: 'b' }, { ...full, revision: 9 }, none);
		expect(loadState({ ...store, global: renamed.global }).revision).toBe(7);
		expect(loadState({ ...store, nodeId: 'c' })).toEqual(full);
		expect(loadState({ ...store, isCursor: true, node: {} })).toEqual(full);
		expect(loadState({ ...store, isCursor: true, node: { baselines: {} } })).toEqual(empty);
	});

	test('leaves the workflow’s other data alone, and n8n notices it', () => {
		const store = storeOf({ global: ObservableObject.create({ mine: { seen: 1 } }) });
		saveState(store, full, none);
		expect(store.global['mine']).toEqual({ seen: 1 });
		expect(Object.keys(store.global)).toEqual([
			'mine',
			'n8n-nodes-push-campaign.pushCampaignTrigger',
		]);
		expect(store.global).toHaveProperty('__dataChanged', true);
		const cursor = storeOf({ isCursor: true });
		saveState(cursor, full, none);
		expect(cursor.global).toEqual({});
	});

	test.each([{}, 7, { a: 7 }, null])('is read though a Code node wrote %j there', (value) => {
		const global = { 'n8n-nodes-push-campaign.pushCampaignTrigger': value };
		const store = storeOf({ global, node: { ...full } });
		expect(loadState(store)).toEqual(full);
		saveState(store, full, none);
		expect(loadState({ ...store, node: {} })).toEqual(full);
	});

	test('holds the hundred triggers that were written last, each in its newest state', () => {
		const store = storeOf();
		const write = (nodeId: string, known: ReadonlyMap<string, typeof full> = none) =>
			saveState({ ...store, nodeId, node: {} }, full, known);
		const revisionOf = (nodeId: string) => loadState({ ...store, nodeId, node: {} }).revision;
		for (let count = 0; count < 100; count += 1) write(`node ${count}`);
		write('node 0');
		write('node 100');
		expect(['node 0', 'node 1', 'node 2', 'node 100'].map(revisionOf)).toEqual([7, 0, 7, 7]);
		const known = (revision: number) => new Map([['node 2', { ...full, revision }]]);
		write('node 0', known(8));
		expect(revisionOf('node 2')).toBe(8);
		write('node 0', known(7));
		expect(revisionOf('node 2')).toBe(8);
	});
});

test('only what belongs to the campaigns is kept', () => {
	expect(keepOnly({ a: 1, b: 2, c: 3 }, ['c', 'a', 'x'])).toEqual({ a: 1, c: 3 });
	expect(keepOnly({ a: 1 }, [])).toEqual({});
});
