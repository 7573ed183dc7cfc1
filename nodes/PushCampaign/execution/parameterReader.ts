import type { IExecuteFunctions, IGetNodeParameterOptions, INodeExecutionData } from 'n8n-workflow';

import type { ItemParameters } from '../operations/parameters';
import { isBlank } from '../operations/parameters';
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

/** What is written between braces where it is a field of the input item: `$json.page["url"]`. */
const field = /\{\{\s*\$json((?:\.[A-Za-z_]\w*|\["[\w -]+"\]|\['[\w -]+'\])+)\s*\}\}/;

/** Gives the value of a parameter from the input item alone; `undefined` where that takes n8n. */
type Template = (json: unknown) => unknown;

function textAt(json: unknown, path: readonly string[]): string | undefined {
	let value = json;
	for (const name of path) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
			return undefined;
		value = Reflect.get(value, name);
	}
	return typeof value === 'string' ? value : undefined;
}

const takesN8n: Template = () => undefined;

function templateOf(written: unknown): Template {
	if (typeof written === 'string' && isExpression(written)) return textTemplate(written.slice(1));
	if (!isObject(written)) return () => written;
	const parts = Object.entries(written).map(([name, part]) => [name, templateOf(part)] as const);
	return (json) => {
		const values = parts.map(([name, valueFor]) => [name, valueFor(json)] as const);
		if (values.some(([, value]) => value === undefined)) return undefined;
		return Array.isArray(written) ? values.map(([, value]) => value) : Object.fromEntries(values);
	};
}

function textTemplate(expression: string): Template {
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

/** How a parameter is written, and what follows from that for its value. */
type Source =
	| { readonly kind: 'fixed'; readonly value: unknown }
	| {
			readonly kind: 'template';
			readonly written: unknown;
			valueFor: Template;
			isTrusted: boolean;
	  };

/**
 * Reads the parameters of all items through n8n, which takes half a millisecond to evaluate an
 * expression: far more than everything else that an item needs before it is sent. So what holds no
 * expression is evaluated for the first item alone. And a parameter of text and fields of the input item
 * alone (`Hello {{ $json.name }}`, also within a collection) is put together here as soon as n8n has
 * given the very same for an item; where a field is not text, it is left to n8n.
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
