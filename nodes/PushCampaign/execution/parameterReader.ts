import type { IExecuteFunctions, IGetNodeParameterOptions, INodeExecutionData } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { InvalidInput } from '../service/invalidInput';

interface Context extends Pick<IExecuteFunctions, 'getInputData' | 'getTimezone'> {
	getNodeParameter(
		name: string,
		itemIndex: number,
		fallback: null,
		options?: IGetNodeParameterOptions,
	): unknown;
}

/** An expression that is a field of the input item and nothing else: `={{ $json.page["url"] }}`. */
const fieldReference = /^=\{\{\s*\$json((?:\.[A-Za-z_]\w*|\["[\w -]+"\]|\['[\w -]+'\])+)\s*\}\}$/;

/** The names on the way to the field; `undefined` where a parameter is written in another way. */
function fieldPath(written: unknown): string[] | undefined {
	const path = typeof written === 'string' ? fieldReference.exec(written)?.[1] : undefined;
	return path?.match(/[\w -]+/g) ?? undefined;
}

function textAt(json: unknown, path: readonly string[]): string | undefined {
	let value = json;
	for (const name of path) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
			return undefined;
		value = Reflect.get(value, name);
	}
	return typeof value === 'string' ? value : undefined;
}

/**
 * Reads the parameters of all items through n8n, which takes half a millisecond to evaluate an
 * expression: far more than everything else that an item needs before it is sent. So what holds no
 * expression is evaluated for the first item alone. And a parameter that is a field of the input item
 * and nothing else, as dragging it from the input panel writes it, is taken from there as soon as n8n
 * has given the very same text for an item; whatever is not text is left to n8n.
 */
export class ParameterReader {
	private readonly items: readonly INodeExecutionData[];
	private readonly timezone: string;
	private readonly seen = new Set<string>();
	private readonly fixed = new Map<string, unknown>();
	private readonly references = new Map<string, readonly string[]>();
	private readonly trusted = new Set<string>();

	constructor(private readonly context: Context) {
		this.items = context.getInputData();
		this.timezone = context.getTimezone();
	}

	/** The parameters of one item; each is worked out when it is asked for. */
	item(itemIndex: number): ItemParameters {
		return {
			timezone: this.timezone,
			get: (name, displayName) => {
				try {
					return this.read(name, itemIndex);
				} catch (error) {
					throw unreadable(displayName, error);
				}
			},
		};
	}

	private read(name: string, itemIndex: number): unknown {
		if (this.fixed.has(name)) return this.fixed.get(name);
		if (this.trusted.has(name)) {
			const text = this.textFor(name, itemIndex);
			if (text !== undefined) return text;
		}
		const value = this.context.getNodeParameter(name, itemIndex, null) ?? null;
		if (!this.seen.has(name)) this.learn(name, value);
		const compared = this.textFor(name, itemIndex);
		if (compared === undefined) return value;
		if (compared === value) this.trusted.add(name);
		else this.references.delete(name);
		return value;
	}

	/** Looks at how a parameter is written. */
	private learn(name: string, value: unknown): void {
		this.seen.add(name);
		const written = this.context.getNodeParameter(name, 0, null, { rawExpressions: true });
		const path = fieldPath(written);
		if (path !== undefined) this.references.set(name, path);
		else if (!hasExpression(written)) this.fixed.set(name, value);
	}

	/** The text of the field that a parameter refers to. */
	private textFor(name: string, itemIndex: number): string | undefined {
		const path = this.references.get(name);
		return path === undefined ? undefined : textAt(this.items[itemIndex]?.json, path);
	}
}

/** Whether a parameter as written, or anything inside of it, is an expression. */
export function hasExpression(written: unknown): boolean {
	return JSON.stringify(written).includes('"=');
}

/** What n8n threw while it worked out a parameter's expression, in words for the user. */
export function unreadable(displayName: string, error: unknown): InvalidInput {
	const reason = error instanceof Error ? error.message : String(error);
	return new InvalidInput(
		displayName,
		`${displayName} can't be worked out: ${reason}`,
		`Correct the expression in ${displayName}.`,
	);
}
