import type { IExecuteFunctions, IGetNodeParameterOptions, INodeExecutionData } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { InvalidInput } from '../service/invalidInput';
import { messageOf } from './errors';

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

/** How a parameter is written, and what follows from that for its value. */
type Source =
	| { readonly kind: 'fixed'; readonly value: unknown }
	| { readonly kind: 'field'; readonly path: readonly string[]; isTrusted: boolean }
	| { readonly kind: 'expression' };

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
	/** By the parameter's name. */
	private readonly sources = new Map<string, Source>();

	constructor(private readonly context: Context) {
		this.items = context.getInputData();
		this.timezone = context.getTimezone();
	}

	/** The parameters of one item; each is worked out when it is asked for. */
	item(itemIndex: number): ItemParameters {
		return {
			timezone: this.timezone,
			get: ({ name, displayName }) => {
				try {
					return this.read(name, itemIndex);
				} catch (error) {
					throw unreadable(displayName, error);
				}
			},
		};
	}

	private read(name: string, itemIndex: number): unknown {
		const known = this.sources.get(name);
		if (known?.kind === 'fixed') return known.value;
		const text =
			known?.kind === 'field' ? textAt(this.items[itemIndex]?.json, known.path) : undefined;
		if (known?.kind === 'field' && known.isTrusted && text !== undefined) return text;

		const value = this.context.getNodeParameter(name, itemIndex, null) ?? null;
		const source = known ?? this.learn(name, value);
		if (source.kind !== 'field') return value;
		const compared = text ?? textAt(this.items[itemIndex]?.json, source.path);
		if (compared === value) source.isTrusted = true;
		else if (compared !== undefined) this.sources.set(name, { kind: 'expression' });
		return value;
	}

	/** Looks at how a parameter is written. */
	private learn(name: string, value: unknown): Source {
		const written = this.context.getNodeParameter(name, 0, null, { rawExpressions: true });
		const path = fieldPath(written);
		const other: Source = hasExpression(written)
			? { kind: 'expression' }
			: { kind: 'fixed', value };
		const source: Source = path === undefined ? other : { kind: 'field', path, isTrusted: false };
		this.sources.set(name, source);
		return source;
	}
}

/** Whether a parameter as written, or anything inside of it, is an expression. */
export function hasExpression(written: unknown): boolean {
	return JSON.stringify(written).includes('"=');
}

/** What n8n threw while it worked out a parameter's expression, in words for the user. */
export function unreadable(displayName: string, error: unknown): InvalidInput {
	return new InvalidInput(
		`${displayName} can't be worked out: ${messageOf(error)}`,
		`Correct the expression in ${displayName}.`,
	);
}
