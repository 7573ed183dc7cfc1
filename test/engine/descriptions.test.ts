import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';
import { PushCampaignApi } from '../../credentials/PushCampaignApi.credentials';
import { PushCampaign } from '../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../nodes/PushCampaign/PushCampaignTrigger.node';
import { workflowOf } from './support/pushCampaign';
import { loadWorkflow } from './support/run';
import { declaredIn, schemaFolder } from './support/schemas';

// What n8n reads of the package before anything runs, each word beside the value that it stands for.

const node = new PushCampaign();
const trigger = new PushCampaignTrigger();
const credential = new PushCampaignApi();

/** A property, and all that can be added to it. */
const withAll = (property: INodeProperties): INodeProperties[] => [
	property,
	...(property.options ?? []).flatMap((option) => {
		if ('values' in option) return option.values.flatMap(withAll);
		return 'displayName' in option ? withAll(option) : [];
	}),
];
const fieldsOf = ({ properties }: { properties: INodeProperties[] }) =>
	properties.flatMap(withAll).filter(({ type }) => type !== 'notice');

/** The choices of a list, each as `Label: value`. */
const choicesOf = ({ options = [] }: INodeProperties) =>
	options.flatMap((option) => ('value' in option ? `${option.name}: ${option.value}` : []));

const folder = join(__dirname, '../../nodes/PushCampaign');
const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'));

const operations = [
	['campaign', 'sendToAll', 'Send to All', 'Send campaign to all subscribers'],
	[
		'campaign',
		'sendToAttributes',
		'Send to Attributes',
		'Send campaign to subscribers with attributes',
	],
	['campaign', 'sendToSegments', 'Send to Segments', 'Send campaign to segments'],
	['campaign', 'sendToSubscriber', 'Send to Subscriber', 'Send notification to one subscriber'],
	['campaign', 'getStatus', 'Get Status', 'Get campaign status'],
	['site', 'getSubscriberCount', 'Get Subscriber Count', 'Get subscriber count'],
] as const;

test('each resource has its own operations, under their own names', () => {
	const lists = node.description.properties.filter(({ name }) => name === 'operation');
	const shown = lists.flatMap(({ displayOptions, options = [] }) =>
		options.map((option) => [
			...(displayOptions?.show?.['resource'] ?? []),
			...('value' in option ? [option.value, option.name, option.action] : []),
		]),
	);
	expect(shown).toEqual(operations);
	const begins = lists.map(({ default: first }) => first);
	expect(begins).toEqual(['sendToAll', 'getSubscriberCount']);
});

test('each choice has the value that its words promise', () => {
	const all = [...fieldsOf(node.description), ...fieldsOf(credential)];
	const lists = all.filter(({ name, type }) => type === 'options' && name !== 'operation');
	expect(Object.fromEntries(lists.map((list) => [list.name, choicesOf(list)]))).toEqual({
		resource: ['Campaign: campaign', 'Site: site'],
		specifyAttributes: ['Using Fields Below: keypair', 'Using JSON: json'],
		unit: ['Days: d', 'Hours: h', 'Minutes: m'],
		headerNames: ['Standard: standard', 'Webpushr: webpushr', 'Custom: custom'],
		// Chosen from a list that the node gives.
		sendAtTimezone: [],
	});
});

test('each field has its label for a name, but for those that have another one', () => {
	const camelCase = (label: string) =>
		label
			.toLowerCase()
			.replace(/[^a-z ]/g, '')
			.replace(/ ([a-z])/g, (_blank, letter: string) => letter.toUpperCase());
	const all = [node.description, trigger.description, credential].flatMap(fieldsOf);
	const others = all.filter(({ displayName, name }) => name !== camelCase(displayName));
	expect(Object.fromEntries(others.map(({ displayName, name }) => [displayName, name]))).toEqual({
		'Campaign Name': 'name',
		Timezone: 'sendAtTimezone',
		'Convert HTML to Text': 'htmlToText',
		'Send Only Once': 'idempotencyKey',
		'Shorten Long Texts': 'shortenTexts',
		'Trigger On': 'event',
	});
});

test('the action node has an input, an output and a credential, and agents can use it', () => {
	expect(node.description).toMatchObject({
		displayName: 'Push Campaign',
		name: 'pushCampaign',
		defaults: { name: 'Push Campaign' },
		group: ['output'],
		version: 1,
		inputs: ['main'],
		outputs: ['main'],
		usableAsTool: true,
		credentials: [{ name: credential.name, required: true }],
	});
	expect(node.description).not.toHaveProperty('polling');
});

test('the trigger polls, and has an output, a credential and no input', () => {
	expect(trigger.description).toMatchObject({
		displayName: 'Push Campaign Trigger',
		name: 'pushCampaignTrigger',
		defaults: { name: 'Push Campaign Trigger' },
		group: ['trigger'],
		version: 1,
		polling: true,
		inputs: [],
		outputs: ['main'],
		credentials: [{ name: credential.name, required: true }],
	});
});

test('the canvas shows below the action node what it does', () => {
	const workflow = loadWorkflow(workflowOf({ operation: 'getStatus' }), false);
	const [, placed] = Object.values(workflow.nodes);
	if (placed === undefined) throw new Error('The workflow has no second node');
	const { subtitle } = node.description;
	const shown = workflow.expression.getSimpleParameterValue(placed, subtitle, 'internal', {});
	expect(shown).toBe('Get Status');
});

test('a list that n8n fills comes from a method that the node has', async () => {
	const methods = fieldsOf(node.description).map(
		({ typeOptions }) => typeOptions?.loadOptionsMethod,
	);
	expect([...new Set(methods)].filter(Boolean)).toEqual(Object.keys(node.methods.loadOptions));
	const timezones = await node.methods.loadOptions.getTimezones();
	expect(timezones).toContainEqual({ name: 'Europe/Berlin', value: 'Europe/Berlin' });
	expect(timezones.every(({ name, value }) => name === value)).toBe(true);
});

const codex = z.object({
	node: z.string(),
	categories: z.array(z.string()),
	alias: z.array(z.string()),
});

// n8n looks for words in a node's name and in these alone; it knows its own categories, to the letter (documentation,
// 'Node codex files').
test.each([
	{ name: 'PushCampaign', more: [] },
	{ name: 'PushCampaignTrigger', more: ['click', 'delivered', 'monitor'] },
])('n8n finds $name by what people look for', ({ name, more }) => {
	expect(codex.parse(read(`${name}.node.json`))).toEqual({
		node: `n8n-nodes-push-campaign.${name.charAt(0).toLowerCase()}${name.slice(1)}`,
		categories: ['Marketing & Content', 'Communication'],
		alias: [
			...['push notification', 'web push notification', 'browser notification', 'browser push'],
			...['send push', 'click rate', 'campaign status', 'subscriber count', 'webpushr'],
			...['send notification', 'notify', 'web push', 'notification', 'subscriber', 'segment'],
			...['broadcast', 'announce', ...more],
		],
	});
});

describe('an output schema', () => {
	test('is there for each operation, and names the status of what was sent now or earlier', () => {
		const files = ['campaign', 'site'].flatMap((resource) =>
			readdirSync(join(schemaFolder, resource)).map((file) => [resource, file]),
		);
		const expected = operations.map(([resource, operation]) => [resource, `${operation}.json`]);
		expect(files.sort()).toEqual([...expected].sort());
		for (const [resource, operation] of operations.slice(0, 4)) {
			const { status } = Object.fromEntries(declaredIn(`${resource}/${operation}`));
			expect(status?.enum).toEqual(['success', 'alreadySent']);
		}
	});

	test('of the trigger has each number that can be watched, and by how much it has moved', () => {
		const watchable = trigger.description.properties
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
