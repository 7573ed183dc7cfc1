import { jsonParse, ObservableObject, type IDataObject } from 'n8n-workflow';
import { mapCounters } from '../../../nodes/PushCampaign/service/answers';
import type { Store, WatchState } from '../../../nodes/PushCampaign/watch/state';
import { loadState, saveState } from '../../../nodes/PushCampaign/watch/state';

const counters = mapCounters((name) => name.length);
const empty: WatchState = { revision: 0, baselines: {} };
const full: WatchState = { revision: 7, baselines: { '1001': { counters, highest: counters } } };
const name = 'n8n-nodes-push-campaign.pushCampaignTrigger';

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

test.each([true, false])('the state comes back as it was saved, in a cursor: %p', (isCursor) => {
	const store = storeOf({ isCursor });
	expect(loadState(store)).toEqual(empty);
	saveState(store, full, []);
	// n8n puts marks of its own into what it is given.
	expect(store.node['baselines']).not.toBe(full.baselines);
	expect(store.node).toHaveProperty('__dataChanged', true);
	const later = reloaded(store);
	expect(loadState(later)).toEqual(full);
	saveState(later, { ...full, baselines: {} }, []);
	expect(loadState(reloaded(later)).baselines).toEqual({});
	const broken = storeOf({ isCursor, node: { ...full, baselines: 'x' } });
	expect(loadState(broken)).toEqual(empty);
});

test.each([
	['1.0.0', { counters, readAt: 1 }, counters],
	['where a counter fell', { counters, highest: { clicked: 99 } }, { ...counters, clicked: 99 }],
])('what an earlier version saved is read: %s', (_what, saved, highest) => {
	const node = { baselines: { '1001': saved }, unread: [] };
	const state = { revision: 0, baselines: { '1001': { counters, highest } } };
	expect(loadState(storeOf({ node }))).toEqual(state);
	expect(loadState(storeOf({ node, isCursor: true }))).toEqual(state);
});

describe('what the classic engine saves', () => {
	test('goes by the ID of the node, and by its name where there is none', () => {
		const store = storeOf();
		saveState(store, full, []);
		const renamed = { ...reloaded(store), node: {} };
		expect(loadState(renamed)).toEqual(full);
		expect(loadState({ ...renamed, nodeId: 'b' })).toEqual(empty);
		// Another trigger has got the name by now.
		saveState({ ...renamed, nodeId: 'b' }, { ...full, revision: 9 }, []);
		expect(loadState({ ...store, global: renamed.global }).revision).toBe(7);
		expect(loadState({ ...store, nodeId: 'c' })).toEqual(full);
		// n8n was switched to its durable engine, which has nothing of its own yet.
		expect(loadState({ ...store, isCursor: true, node: {} })).toEqual(full);
		expect(loadState({ ...store, isCursor: true, node: { ...empty } })).toEqual(empty);
	});

	test('leaves the workflow’s other data alone, and n8n notices it', () => {
		const store = storeOf({ global: ObservableObject.create({ mine: 1 }) });
		saveState(store, full, []);
		expect(store.global).toEqual({ mine: 1, [name]: { a: full } });
		expect(store.global).toHaveProperty('__dataChanged', true);
		const cursor = storeOf({ isCursor: true });
		saveState(cursor, full, []);
		expect(cursor.global).toEqual({});
	});

	test('is read though a Code node wrote something else there', () => {
		const store = storeOf({ global: { [name]: { a: 7 } }, node: { ...full } });
		expect(loadState(store)).toEqual(full);
		saveState(store, full, []);
		expect(loadState({ ...store, node: {} })).toEqual(full);
	});

	test('holds the hundred triggers that were written last, each in its newest state', () => {
		const store = storeOf();
		const write = (nodeId: string, stores: Store[] = []) =>
			saveState({ ...store, nodeId, node: {} }, full, stores);
		const revisionOf = (nodeId: string) => loadState({ ...store, nodeId, node: {} }).revision;
		for (let count = 0; count < 100; count += 1) write(`node ${count}`);
		write('node 0');
		write('node 100');
		expect(['node 0', 'node 1', 'node 2', 'node 100'].map(revisionOf)).toEqual([7, 0, 7, 7]);
		for (const revision of [8, 7]) {
			write('node 0', [storeOf({ nodeId: 'node 2', node: { ...full, revision } })]);
			expect(revisionOf('node 2')).toBe(8);
		}
	});
});
