/**
 * Works out a parameter of one item from the input item alone; `undefined` where that takes n8n. What it
 * gives is to be trusted only once n8n has given the very same.
 */
export type ItemTemplate = (json: unknown) => unknown;

export const takesN8n: ItemTemplate = () => undefined;

/** What is written between braces where it is a field of the input item: `$json.page["url"]`. */
const field = /\{\{\s*\$json((?:\.[A-Za-z_]\w*|\["[\w -]+"\]|\['[\w -]+'\])+)\s*\}\}/;

function textAt(json: unknown, path: readonly string[]): string | undefined {
	let value = json;
	for (const name of path) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
			return undefined;
		value = Reflect.get(value, name);
	}
	return typeof value === 'string' ? value : undefined;
}

function textTemplate(expression: string): ItemTemplate {
	// Every other part is the way to a field.
	const parts = expression.split(field);
	// Any other expression: what n8n makes of it for one item may even read like itself.
	if (parts.some((part) => /\{\{|\}\}/.test(part))) return takesN8n;
	const pieces = parts.map((part, index) =>
		index % 2 === 1 ? [...part.matchAll(/[\w -]+/g)].map(([name]) => name) : part,
	);
	return (json) => {
		let text = '';
		for (const piece of pieces) {
			const part = typeof piece === 'string' ? piece : textAt(json, piece);
			if (part === undefined) return undefined;
			text += part;
		}
		return text;
	};
}

/**
 * Reads how a parameter is written: text and fields of the input item, such as `Hello {{ $json.name }}`,
 * also within a collection. Where a field is no text, and for every other expression, it takes n8n.
 */
export function templateOf(written: unknown): ItemTemplate {
	if (typeof written === 'string' && written.startsWith('=')) return textTemplate(written.slice(1));
	if (typeof written !== 'object' || written === null) return () => written;
	const parts = Object.entries(written).map(([name, part]) => [name, templateOf(part)] as const);
	return (json) => {
		const values = parts.map(([name, valueFor]) => [name, valueFor(json)] as const);
		if (values.some(([, value]) => value === undefined)) return undefined;
		return Array.isArray(written) ? values.map(([, value]) => value) : Object.fromEntries(values);
	};
}
