import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IDataObject, INode, INodeParameters } from 'n8n-workflow';
import { jsonParse } from 'n8n-workflow';
import {
	continuing,
	credentialsFor,
	isObject,
	outputOf,
	push,
	useSimulator,
} from './support/pushCampaign';
import { runWorkflow } from './support/run';
import { chain } from './support/workflow';

// Every example, with items that lack what it reads: refused, or a word of its own stands there.

const simulator = useSimulator();
const folder = join(__dirname, '../../examples');

/** The texts in a value, at any depth. */
function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

const nodes = readdirSync(folder)
	.filter((file) => file.endsWith('.json'))
	.flatMap((file) => {
		const text = readFileSync(join(folder, file), 'utf8');
		const workflow = jsonParse<{ nodes: INode[] }>(text);
		return workflow.nodes.map(({ name, type, parameters }) => ({
			...{ file, name, type, parameters },
			expressions: textsIn(parameters).filter((each) => each.startsWith('=')),
		}));
	})
	.filter(({ type, expressions }) => type.endsWith('.pushCampaign') && expressions.length > 0);

/** What stands in a row for a field: as much of it as makes a send valid. */
function exampleOf(field: string): string {
	if (/url|link|page/i.test(field)) return 'https://shop.example/a';
	if (/sendAt/i.test(field)) return 'now';
	if (/timezone/i.test(field)) return 'Europe/Berlin';
	return /id$/i.test(field) ? '77' : field;
}

/** The paths of fields that expressions read: `body.product`. */
const pathsIn = (expressions: readonly string[]): string[][] => {
	const found = expressions.flatMap((text) => [
		...text.matchAll(/(?:\$json|\.json)((?:\??\.[a-z]\w*(?!\w*\()|\['[^']+'\])+)/gi),
	]);
	const paths = new Set(found.map(([, path = '']) => path));
	return [...paths].map((path) => path.split(/\??\.|\['|'\]/).filter(Boolean));
};

/** An item with all of these fields but one. */
function itemWithout(
	missing: readonly string[],
	paths: ReadonlyArray<readonly string[]>,
): IDataObject {
	const item: IDataObject = {};
	for (const path of paths) {
		if (path.join('.').startsWith(missing.join('.'))) continue;
		let at: object = item;
		for (const step of path.slice(0, -1)) {
			const next: unknown = Reflect.get(at, step);
			const inner = isObject(next) ? next : {};
			Reflect.set(at, step, inner);
			at = inner;
		}
		const last = path.at(-1) ?? '';
		Reflect.set(at, last, exampleOf(last));
	}
	return item;
}

/** Runs a node of an example behind all nodes that it names, dry if it sends. */
async function rowOf(parameters: INodeParameters, json: IDataObject): Promise<IDataObject> {
	const named = JSON.stringify(parameters).matchAll(/\$\('([^']+)'\)/g);
	const names = [...new Set([...named].map(([, name = '']) => name))];
	const isRead = parameters['operation'] === 'getStatus';
	const options = isObject(parameters['options']) ? parameters['options'] : {};
	const { testSubscriberId: _none, ...others } = { testSubscriberId: '', ...options };
	const given = isRead ? parameters : { ...parameters, options: { ...others, dryRun: true } };
	const stages = names.map((name) => ({ name, type: 'n8n-nodes-base.noOp' }));
	const run = await runWorkflow(chain([...stages, push(given, continuing)]), {
		...{ credentials: credentialsFor(simulator()), mode: 'manual' },
		input: [{ json }],
	});
	const [row = {}] = outputOf(run);
	return row;
}

test.each(nodes.map((node) => [node.file, node.name, node] as const))(
	'%s, %s: an item that lacks what is read is refused, or a word of its own stands there',
	async (_file, _name, { parameters, expressions }) => {
		const paths = pathsIn(expressions);
		simulator().addCampaign({ id: '77', status: 'Sent' });
		const whole = await rowOf(parameters, itemWithout(['nothing'], paths));
		expect(whole).not.toHaveProperty('error');
		// Texts with gaps in the place of their braces.
		const gaps = expressions.map((text) =>
			text
				.slice(1)
				.replace(/\{\{.*?\}\}/gs, '')
				.trim(),
		);
		for (const missing of [...paths, ['']]) {
			const row = await rowOf(parameters, itemWithout(missing, paths));
			if (row['error'] !== undefined) continue;
			const sent = textsIn([row['request'], row['idempotencyKey']]);
			for (const text of sent) {
				expect(['', ...gaps]).not.toContain(text.replace(/[?&]utm_.*/, '').trim());
			}
		}
	},
);

test('there are examples', () => {
	expect(nodes.length).toBeGreaterThan(5);
});
