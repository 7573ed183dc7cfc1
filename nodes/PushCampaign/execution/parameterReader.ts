import type { IExecuteFunctions, IGetNodeParameterOptions, INodeExecutionData } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { isBlank } from '../operations/parameters';
import { InvalidInput, messageOf } from '../service/invalidInput';
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

/** How a parameter is written, and where its values come from after the first. */
interface Source {
	readonly written: unknown;
	readonly valueFor: ItemTemplate;
}

/**
 * Reads the parameters of all items through n8n, which takes half a millisecond to evaluate an
 * expression: far more than everything else that an item needs before it is sent. So what holds no
 * expression is evaluated for the first item alone. And a parameter of text and fields of the input item
 * alone is put together here, if n8n gives the very same for the first item.
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
		const json = this.items[itemIndex]?.json;
		const known = this.sources.get(name);
		const value =
			known?.valueFor(json) ?? this.context.getNodeParameter(name, itemIndex, null) ?? undefined;
		const source = known ?? this.learn(name, value, json);
		return tellNothing(source.written, value);
	}

	/** Looks at how a parameter is written. */
	private learn(name: string, value: unknown, json: unknown): Source {
		const written = this.context.getNodeParameter(name, 0, null, { rawExpressions: true });
		const template = hasExpression(written) ? templateOf(written) : () => value;
		const valueFor = isSame(template(json), value) ? template : takesN8n;
		const source = { written, valueFor };
		this.sources.set(name, source);
		return source;
	}
}

/** Null for each expression that gave nothing, so that it can be told from what was left empty. */
function tellNothing(written: unknown, value: unknown): unknown {
	if (typeof written === 'string') return isExpression(written) && isBlank(value) ? null : value;
	if (!isObject(written) || !isObject(value)) return value;
	const parts = Object.entries(value).map(
		([name, part]) => [name, tellNothing(Reflect.get(written, name), part)] as const,
	);
	return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isExpression = (written: string) => written.startsWith('=');

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
