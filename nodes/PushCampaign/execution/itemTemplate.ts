/**
 * Works out a parameter of one item from the input item alone; `undefined` where that takes n8n. What it
 * gives is to be trusted only once n8n has given the very same.
 */
export type ItemTemplate = (json: unknown) => unknown;

export const takesN8n: ItemTemplate = () => undefined;

export const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null;

/** What is written between braces where it is a field of the input item: `$json.page["url"]`. */
const field = /\{\{\s*\$json((?:\.[A-Za-z_]\w*|\["[\w -]+"\]|\['[\w -]+'\])+)\s*\}\}/g;

function valueAt(json: unknown, path: string): unknown {
	let value = json;
	for (const [name] of path.matchAll(/[\w -]+/g)) {
		if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
		value = Reflect.get(value, name);
	}
	return value;
}

function textTemplate(expression: string): ItemTemplate {
	// Any other expression: what n8n makes of it for one item may even read like itself.
	if (/\{\{|\}\}/.test(expression.replace(field, ' '))) return takesN8n;
	return (json) => {
		const values = [...expression.matchAll(field)].map(([, path = '']) => valueAt(json, path));
		if (values.some((value) => typeof value !== 'string')) return undefined;
		return expression.replace(field, () => String(values.shift()));
	};
}

/**
 * Reads how a parameter is written: text and fields of the input item, such as `Hello {{ $json.name }}`,
 * also within a collection. Where a field is no text, and for every other expression, it takes n8n.
 */
export function templateOf(written: unknown): ItemTemplate {
	if (typeof written === 'string' && written.startsWith('=')) return textTemplate(written.slice(1));
	if (!isObject(written)) return () => written;
	const parts = Object.entries(written).map(([name, part]) => [name, templateOf(part)] as const);
	return (json) => {
		const values = parts.map(([name, valueFor]) => [name, valueFor(json)] as const);
		if (values.some(([, value]) => value === undefined)) return undefined;
		return Array.isArray(written) ? values.map(([, value]) => value) : Object.fromEntries(values);
	};
}
