import type { IExecuteFunctions } from 'n8n-workflow';

import { InvalidInput } from '../service/invalidInput';

/** The parameters of one item, as the user's expressions gave them: of any type. */
export interface ItemParameters {
	/**
	 * The parameter's value; `null` where it is missing.
	 * @throws InvalidInput when its expression can't be worked out
	 */
	get(name: string, displayName: string): unknown;
	/** IANA name of the workflow's timezone. */
	readonly timezone: string;
}

/** Reads parameters of one item through n8n. */
export function itemParameters(
	context: Pick<IExecuteFunctions, 'getNodeParameter'>,
	itemIndex: number,
	timezone: string,
): ItemParameters {
	return {
		timezone,
		get(name, displayName) {
			try {
				const value: unknown = context.getNodeParameter(name, itemIndex, null);
				return value ?? null;
			} catch (error) {
				throw unreadable(displayName, error);
			}
		},
	};
}

function unreadable(displayName: string, error: unknown): InvalidInput {
	const reason = error instanceof Error ? error.message : String(error);
	return new InvalidInput(
		displayName,
		`${displayName} can't be worked out: ${reason}`,
		`Correct the expression in ${displayName}.`,
	);
}
