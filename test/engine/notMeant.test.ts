import type { IDataObject } from 'n8n-workflow';
import { pollerOf } from './support/poll';
import {
	credentialsFor,
	failureOf,
	inputOf,
	push,
	titlesAt,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// What n8n gives for the parts of a text that read more than the input item. The rules are in unit/texts/parts.

const simulator = useSimulator();

/** Runs the action node behind a node called Shop. */
const runBehindShop = async (title: string, json: IDataObject) =>
	await runWorkflow(
		chain([{ name: 'Shop', type: 'n8n-nodes-base.noOp' }, push({ title: `=${title}` })]),
		{ credentials: credentialsFor(simulator()), input: inputOf(json) },
	);

test.each<[code: string, gave: string, json?: IDataObject]>([
	['$json.name', 'nothing'],
	["$('Shop').item.json.name", 'nothing'],
	["$('Shop').first().json.name", 'nothing'],
	["$('Shop').item.json.user.name", 'nothing'],
	["$('Shop').all()[3].json.name", 'nothing'],
	["Number($('Shop').item.json.price)", 'nothing', { price: '19,90' }],
	["String($('Shop').item.json.name)", 'undefined'],
	["$('Shop').item.json.news", 'false', { news: 'false' }],
])('a part is refused as it is written: %j gave %s', async (code, gave, json = {}) => {
	const told = failureOf(await runBehindShop(`Hi {{ ${code} }}!`, json));
	expect(told).toMatchObject({ name: 'NodeOperationError', itemIndex: undefined });
	expect(told.message).toContain(`'Title': {{ ${code} }} gave ${gave}`);
	expect(simulator().requests).toEqual([]);
});

test.each<[title: string, json: IDataObject, sent: string]>([
	["Hi {{ $('Shop')?.item?.json?.name || 'there' }}", {}, 'Hi there'],
	["New: {{ $('Shop').item.json.title }}", { title: 'A null + one' }, 'New: A null + one'],
])('a text is sent if somebody meant it: %j of %j', async (title, json, sent) => {
	await runBehindShop(title, json);
	expect(titlesAt(simulator())).toEqual([sent]);
});

test('a part of a trigger’s campaign IDs that gave nothing is refused', async () => {
	const campaignIds = "=1001,{{ $vars.more }},{{ '1' + '2' }}";
	const poll = pollerOf(
		{ campaignIds },
		{ credentials: credentialsFor(simulator()), mode: 'manual' },
	);
	await expect(poll()).rejects.toThrow("'Campaign IDs': {{ $vars.more }} gave nothing");
});
