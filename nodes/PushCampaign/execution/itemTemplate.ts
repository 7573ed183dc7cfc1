/** A value that only n8n can give. */
export const asksN8n = Symbol('asks n8n');

/**
 * Gives a parameter's value for an item without n8n, or `asksN8n`. It is to be trusted only after n8n gave the
 * very same for one item.
 */
export type ItemTemplate = (json: unknown) => unknown;

export const alwaysAsksN8n: ItemTemplate = () => asksN8n;

export const isObject = (value: unknown): value is object =>
	typeof value === 'object' && value !== null;

/** A field of the input item between braces: `{{ $json.page["url"] }}`. */
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
	// Any other expression: what n8n makes of it for one item may even look like the expression itself.
	const hasOtherExpression = /\{\{|\}\}/.test(expression.replace(field, ' '));
	if (hasOtherExpression) return alwaysAsksN8n;
	return (json) => {
		const values = [...expression.matchAll(field)].map(([, path = '']) => valueAt(json, path));
		if (values.some((value) => typeof value !== 'string')) return asksN8n;
		return expression.replace(field, () => String(values.shift()));
	};
}

/**
 * Reads how a parameter is written: as text and fields of the input item, such as `Hello {{ $json.name }}`, also
 * within a collection. Only n8n gives every other expression, and a field that is not a text.
 */
export function templateOf(written: unknown): ItemTemplate {
	if (typeof written === 'string' && written.startsWith('=')) return textTemplate(written.slice(1));
	if (!isObject(written)) return () => written;
	const parts = Object.entries(written).map(([name, part]) => [name, templateOf(part)] as const);
	return (json) => {
		const values = parts.map(([name, valueFor]) => [name, valueFor(json)] as const);
		if (values.some(([, value]) => value === asksN8n)) return asksN8n;
		return Array.isArray(written) ? values.map(([, value]) => value) : Object.fromEntries(values);
	};
}
