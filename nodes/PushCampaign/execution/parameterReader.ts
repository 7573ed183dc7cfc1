import type { IExecuteFunctions, IGetNodeParameterOptions, INodeExecutionData } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { isBlank } from '../operations/parameters';
import { InvalidInput } from '../service/invalidInput';
import { messageOf } from './errors';
import type { ItemTemplate } from './itemTemplate';
import { takesN8n, templateOf } from './itemTemplate';

interface Context extends Pick<IExecuteFunctions, 'getInputData' | 'getTimezone'> {
	getNodeParameter(
		name: string,
		itemIndex: number,
		fallback: null,
		options?: IGetNodeParameterOptions,
	): unknown;
}

/** How a parameter is written, and what follows from that for its value. */
type Source =
	| { readonly kind: 'fixed'; readonly value: unknown }
	| {
			readonly kind: 'template';
			readonly written: unknown;
			valueFor: ItemTemplate;
			isTrusted: boolean;
	  };

/**
 * Reads the parameters of all items through n8n, which takes half a millisecond to evaluate an
 * expression: far more than everything else that an item needs before it is sent. So what holds no
 * expression is evaluated for the first item alone. And a parameter of text and fields of the input item
 * alone is put together here as soon as n8n has given the very same for an item.
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
					const value = this.read(name, itemIndex);
					const source = this.sources.get(name);
					return source?.kind === 'template' ? tellNothing(source.written, value) : value;
				} catch (error) {
					throw unreadable(displayName, error);
				}
			},
		};
	}

	private read(name: string, itemIndex: number): unknown {
		const known = this.sources.get(name);
		if (known?.kind === 'fixed') return known.value;
		const json = this.items[itemIndex]?.json;
		const trusted = known?.isTrusted ? known.valueFor(json) : undefined;
		if (trusted !== undefined) return trusted;

		const value = this.context.getNodeParameter(name, itemIndex, null) ?? undefined;
		const source = known ?? this.learn(name, value);
		if (source.kind === 'fixed' || source.isTrusted) return value;
		const own = source.valueFor(json);
		if (isSame(own, value)) source.isTrusted = true;
		else if (own !== undefined) source.valueFor = takesN8n;
		return value;
	}

	/** Looks at how a parameter is written. */
	private learn(name: string, value: unknown): Source {
		const written = this.context.getNodeParameter(name, 0, null, { rawExpressions: true });
		const source: Source = hasExpression(written)
			? { kind: 'template', written, valueFor: templateOf(written), isTrusted: false }
			: { kind: 'fixed', value };
		this.sources.set(name, source);
		return source;
	}
}

/** Null for each expression that gave nothing, so that it can be told from what was left empty. */
function tellNothing(written: unknown, value: unknown): unknown {
	if (typeof written === 'string') {
		return written.startsWith('=') && isBlank(value) ? null : value;
	}
	if (!isObject(written) || !isObject(value)) return value;
	const parts = Object.entries(value).map(
		([name, part]) => [name, tellNothing(Reflect.get(written, name), part)] as const,
	);
	return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isSame(own: unknown, value: unknown): boolean {
	return (
		own === value || (typeof own === 'object' && JSON.stringify(own) === JSON.stringify(value))
	);
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
