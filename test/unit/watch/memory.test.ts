import { TriggerMemories } from '../../../nodes/PushCampaign/watch/memory';

const memories = () => new TriggerMemories(() => ({}));

test('a trigger is remembered by its workflow and its node', () => {
	const all = memories();
	const memory = all.ofTrigger('a', '1');
	expect(all.ofTrigger('a', '1')).toBe(memory);
	expect(all.ofTrigger('a', '2')).not.toBe(memory);
	expect(all.ofTrigger('b', '1')).not.toBe(memory);
	expect([...all.ofWorkflow('a').keys()]).toEqual(['1', '2']);
	expect([...all.ofWorkflow('no such workflow').keys()]).toEqual([]);
});

test('the thousand workflows that polled last are remembered', () => {
	const all = memories();
	const [first, second] = [all.ofTrigger('first', '1'), all.ofTrigger('second', '1')];
	for (let count = 0; count < 998; count += 1) all.ofTrigger(`other ${count}`, '1');
	expect(all.ofTrigger('first', '1')).toBe(first);
	all.ofTrigger('one more', '1');
	expect(all.ofTrigger('first', '1')).toBe(first);
	expect(all.ofTrigger('second', '1')).not.toBe(second);
});

test('the hundred triggers of a workflow that polled last are remembered', () => {
	const all = memories();
	for (let count = 0; count < 150; count += 1) all.ofTrigger('a', String(count));
	expect([...all.ofWorkflow('a').keys()]).toHaveLength(100);
	expect(all.ofWorkflow('a').has('49')).toBe(false);
	expect(all.ofWorkflow('a').has('50')).toBe(true);
});
