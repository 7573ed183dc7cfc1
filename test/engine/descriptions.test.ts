import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { queries, sends } from '../../nodes/PushCampaign/operations';
import { PushCampaign } from '../../nodes/PushCampaign/PushCampaign.node';
import { triggerProperties } from '../../nodes/PushCampaign/trigger/events';
import { triggerNode } from './support/poll';
import { push } from './support/pushCampaign';
import { loadWorkflow } from './support/run';
import { declaredIn, schemaFolder } from './support/schemas';
import { nodeFrom } from './support/workflow';

// What n8n makes of the nodes' descriptions. Their words are in unit/panels.md.

test.each([
	{ node: nodeFrom(push({ operation: 'getStatus' })), shown: 'Get Status' },
	{ node: triggerNode({ event: 'campaignReached' }), shown: 'Campaign Reaches a Number' },
])('the canvas shows below a node: $shown', ({ node, shown }) => {
	const workflow = loadWorkflow({ nodes: [node], connections: {} }, false);
	const { subtitle } = workflow.nodeTypes.getByNameAndVersion(node.type).description;
	// As the editor does it.
	expect(workflow.expression.getSimpleParameterValue(node, subtitle, 'internal', {})).toBe(shown);
});

test('the list of timezones comes from the method that unit/panels.md names', async () => {
	const timezones = await new PushCampaign().methods.loadOptions.getTimezones();
	expect(timezones).toContainEqual({ name: 'Europe/Berlin', value: 'Europe/Berlin' });
	expect(timezones.every(({ name, value }) => name === value)).toBe(true);
});

describe('an output schema', () => {
	test('is there for each operation, and names the status of what was sent now or earlier', () => {
		const files = ['campaign', 'site'].flatMap((resource) =>
			readdirSync(join(schemaFolder, resource)).map((file) => `${resource}/${file}`),
		);
		const all = [...sends, ...queries].map(({ resource, option }) => `${resource}/${option.value}`);
		expect(files.sort()).toEqual(all.map((name) => `${name}.json`).sort());
		for (const { resource, option } of sends) {
			const { status } = Object.fromEntries(declaredIn(`${resource}/${option.value}`));
			expect(status?.enum).toEqual(['success', 'alreadySent']);
		}
	});

	test('of the trigger has each number that can be watched, and by how much it has moved', () => {
		const watchable = triggerProperties
			.filter(({ name }) => name === 'watch')
			.flatMap(({ options = [] }) =>
				options.flatMap((one) => ('value' in one ? String(one.value) : [])),
			);
		const declared = declaredIn('../v1.0.0').map(([name]) => name);
		const expected = watchable.map((name) => (name === 'status' ? 'statusBefore' : `${name}By`));
		expect(declared.filter((name) => /By$|Before$/.test(name)).sort()).toEqual(expected.sort());
		expect(declared).toEqual(expect.arrayContaining(watchable));
	});
});
