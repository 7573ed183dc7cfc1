import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeProperties, INodePropertyOptions, INodeType } from 'n8n-workflow';
import { PushCampaignApi } from '../../credentials/PushCampaignApi.credentials';
import { PushCampaign } from '../../nodes/PushCampaign/PushCampaign.node';
import { PushCampaignTrigger } from '../../nodes/PushCampaign/PushCampaignTrigger.node';
import { expectPage } from '../support/page';

// All that n8n shows of both nodes and of the credential before anything runs, whole, as `panels.md` has it: read that
// file aloud. Saved workflows find each field by the name in it, and n8n leaves out of them what is a default.

/** A text as it is, anything else as JSON: so the number 5 is told from the text "5". */
const toText = (value: unknown): string =>
	typeof value === 'string' && /^(?!(?:true|false|null)$).*\p{L}/su.test(value)
		? value
		: String(JSON.stringify(value));

const hasMore = (value: unknown): value is object =>
	typeof value === 'object' &&
	value !== null &&
	(Array.isArray(value) ? value.some(hasMore) : Object.keys(value).length > 0);

const inOrder = (object: object): Array<[string, unknown]> =>
	Object.entries(object).sort(([one], [other]) => one.localeCompare(other));

/** A line for each value in an object, whatever it is, by its path. */
const linesOf = (object: object, path = ''): string[] =>
	inOrder(object).flatMap(([key, value]) =>
		hasMore(value) ? linesOf(value, `${path}${key}.`) : [`- ${path}${key}: ${toText(value)}`],
	);

const labelsOf = (properties: readonly INodeProperties[]) =>
	properties.map(({ displayName }) => displayName).join(', ');

function tellChoice({ name, value, ...more }: INodePropertyOptions): string {
	const others = inOrder(more).map(([key, each]) => `; ${key}: ${toText(each)}`);
	return `- **${name}** is ${toText(value)}${others.join('')}`;
}

/** The choices at the top of a panel: each of the others is shown for some of them. */
const choices = ['resource', 'operation', 'event'];

/** For which of these choices a field is shown. */
const placeOf = ({ displayOptions: { show = {} } = {} }: INodeProperties): string[] =>
	choices.flatMap((name) => (show[name] ?? []).map(toText));

/** What else decides whether a field is shown. */
function conditionsOf({ displayOptions: { show = {}, ...more } = {} }: INodeProperties): object {
	const others = Object.entries(show).filter(([name]) => !choices.includes(name));
	return others.length > 0 ? { ...more, show: Object.fromEntries(others) } : more;
}

/** What a field says, and then what the fields in it say. */
function tellField(property: INodeProperties, above = ''): string[] {
	const { displayName, description = '', options = [], displayOptions: _, ...field } = property;
	const { name, type, default: initial, ...more } = field;
	const title = `${above}${displayName}`;
	const lines = [
		`- name: ${name}; type: ${type}; default: ${toText(initial)}`,
		...linesOf(more),
		...linesOf(conditionsOf(property), 'if.'),
	];
	const within: INodeProperties[] = [];
	for (const option of options) {
		if ('values' in option) {
			const { values, ...group } = option;
			lines.push(...linesOf(group, 'group.'));
			within.push(...values);
		} else if ('displayName' in option) within.push(option);
		else lines.push(tellChoice(option));
	}
	if (within.length > 0) lines.push(`- holds: ${labelsOf(within)}`);
	const told = [`### ${title}`, description, lines.join('\n')].filter((part) => part !== '');
	return [told.join('\n\n'), ...within.flatMap((each) => tellField(each, `${title} → `))];
}

/** What all fields say, each text once, with the choices for which it is shown. */
function tellFields(properties: readonly INodeProperties[]): string[] {
	const fields = new Map<string, string[]>();
	const places = new Map<string, string[]>();
	const add = (to: Map<string, string[]>, key: string, value: string) =>
		to.set(key, [...(to.get(key) ?? []), value]);
	for (const property of properties) {
		const place = placeOf(property);
		add(places, place.join(' → ') || 'always', property.name);
		for (const told of tellField(property)) add(fields, told, place.at(-1) ?? 'always');
	}
	return [
		'### Which fields are shown, in their order',
		[...places].map(([place, names]) => `- ${place}: ${names.join(', ')}`).join('\n'),
		...[...fields].map(([told, shown]) => `${told}\n- shown: ${shown.join(', ')}`),
	];
}

interface Shown {
	readonly displayName: string;
	readonly description?: string;
	readonly properties: INodeProperties[];
}
const tell = ({ displayName, description = '', properties, ...more }: Shown): string =>
	[`## ${displayName}`, description, linesOf(more).join('\n'), ...tellFields(properties)]
		.filter((part) => part !== '')
		.join('\n\n');

const read = (path: string) => readFileSync(join(__dirname, path), 'utf8');

/** A node, and by what n8n finds it. */
const tellNode = ({ description }: INodeType, name: string): string => {
	const codex: unknown = JSON.parse(read(`../../nodes/PushCampaign/${name}.node.json`));
	return tell({ ...description, ...{ codex } });
};

test('what n8n shows of the nodes and the credential is as panels.md has it', () => {
	const { authenticate: _, ...credential } = new PushCampaignApi();
	const told = [
		'# What n8n shows before anything runs',
		tellNode(new PushCampaign(), 'PushCampaign'),
		tellNode(new PushCampaignTrigger(), 'PushCampaignTrigger'),
		tell(credential),
	].join('\n\n');
	expectPage(join(__dirname, 'panels.md'), `${told}\n`);
});
