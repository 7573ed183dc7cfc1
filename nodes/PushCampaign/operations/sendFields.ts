import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';

import type { InvalidInput } from '../service/invalidInput';
import type { Audience } from '../service/rules';
import type { BodyIssue } from '../service/schemas';
import type { Field, Reading } from './bodyFields';
import { byName, fieldsFor } from './bodyFields';
import { sendOptions } from './options';
import type { ItemParameters } from './parameters';
import { invalid, toFields } from './parameters';
import type { Timing } from './timing';
import { readTiming, sendAtTimezone } from './timing';
import { readUtm, utmParameters } from './utm';

const collection = { displayName: 'Additional Fields', name: 'additionalFields' } as const;

/** Whom an agent reaches that uses a send as its tool; one subscriber needs no warning. */
const reach: Partial<Record<Audience, string>> = {
	all: 'every subscriber',
	attributes: 'every subscriber with these attributes',
	segments: 'every subscriber of these segments',
};

function toolNotice(audience: Audience, { show }: IDisplayOptions): INodeProperties[] {
	const reached = reach[audience];
	if (reached === undefined) return [];
	return [
		{
			displayName: `The agent can send this to ${reached} without asking you. Add a step for approval, such as a human review, or choose Send to Subscriber.`,
			name: 'toolNotice',
			type: 'notice',
			default: '',
			displayOptions: { show: { ...show, '@tool': [true] } },
		},
	];
}

/** The part of the panel that all sends share, with the fields that the service accepts for this audience. */
export function campaignProperties(
	audience: Audience,
	displayOptions: IDisplayOptions,
	audienceProperties: INodeProperties[] = [],
): INodeProperties[] {
	const panel = (standsAlone: boolean) =>
		fieldsFor(audience)
			.filter(([, field]) => (field.standsAlone ?? false) === standsAlone)
			.map(([, { property }]) => property);
	return [
		...toolNotice(audience, displayOptions),
		...audienceProperties,
		...panel(true).map((property) => ({ ...property, displayOptions })),
		{
			...collection,
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			displayOptions,
			// The service does not know the two others: what they say goes into other fields.
			options: [...panel(false), sendAtTimezone, utmParameters]
				// Not by localeCompare: its first use costs more than loading the rest of the package.
				.sort((one, other) => (one.displayName < other.displayName ? -1 : 1)),
		},
		sendOptions(displayOptions),
	];
}

/** The fields of a body that do not name the audience, and the schedule as a moment. */
export interface CampaignFields extends Timing {
	readonly body: Record<string, unknown>;
	/** Makes the error for what the service would refuse in the body, in the panel's words. */
	readonly refuse: (issue: BodyIssue) => InvalidInput;
}

/**
 * Reads the fields that all sends share. A value that is left over from another operation is not read, and
 * one that was not added to Additional Fields is left out.
 * @param shortens whether texts that are too long are cut instead of being refused later
 * @throws InvalidInput naming the parameter
 */
export function readCampaignFields(
	item: ItemParameters,
	audience: Audience,
	shortens: boolean,
): CampaignFields {
	const added = toFields(item.get(collection), collection.displayName);
	const timing = readTiming(added, item.timezone);
	const utm = readUtm(added[utmParameters.name]);
	const reading: Reading = { ...timing, audience, utm, shortens };
	const givenFor = ({ property, standsAlone }: Field) =>
		standsAlone ? item.get(property) : added[property.name];
	const body: Record<string, unknown> = {};
	for (const [name, field] of fieldsFor(audience)) {
		if (!field.standsAlone && !(field.property.name in added)) continue;
		const value = field.read(givenFor(field), reading);
		if (value !== undefined) body[name] = value;
	}
	return {
		...timing,
		body,
		refuse({ path: [name, ...path], message, advice }) {
			const field = byName.get(String(name));
			const { displayName } = field?.property ?? collection;
			return invalid(field?.nameOf?.(givenFor(field), path) ?? displayName, message, advice);
		},
	};
}
