// The subpath names the API, whichever major version the host's zod has at its root.
import { z } from 'zod/v3';

import type { Audience } from './rules';
import { maxCharacters } from './rules';
import { expiryUnits } from './schedule';
import { clip } from './text';
import type { Text } from './textSchemas';
import {
	httpsUrl,
	limitedText,
	refusal,
	requiredText,
	shortenAdvice,
	shorterUrlAdvice,
	webUrl,
} from './textSchemas';

/** One thing that is wrong with a value: where (`['action_buttons', 0, 'url']`) and what (`is empty`). */
export interface BodyIssue {
	readonly path: ReadonlyArray<string | number>;
	readonly message: string;
	/** What helps, where that can be told: sentences. */
	readonly advice?: string | undefined;
}

function toIssue(issue: z.ZodIssue): BodyIssue {
	const { path, message } = issue;
	const advice: unknown = issue.code === 'custom' ? issue.params?.['advice'] : undefined;
	return { path, message, advice: typeof advice === 'string' ? advice : undefined };
}

/** The first thing that is wrong with a value. */
export function firstIssue({ issues: [issue] }: z.ZodError): BodyIssue {
	return issue === undefined ? { path: [], message: 'is not valid' } : toIssue(issue);
}

/** A number beyond 2^53 has lost digits before it came here. */
const lostDigits =
	'is a number too large to be exact, its last digits are lost already: give it as text';
const isExact = (value: unknown) => !Number.isInteger(value) || Number.isSafeInteger(value);

const attributeMessage = 'is not a text, a number or a boolean';

/** What an attribute of a subscriber may be compared with. Specification, Audience fields. */
export const attributeValue = z
	.union([z.string(), z.boolean(), z.number().finite(attributeMessage)], {
		errorMap: () => ({ message: attributeMessage }),
	})
	.refine(isExact, lostDigits);
export type AttributeValue = z.infer<typeof attributeValue>;

/** Names and values; an issue of one value has its name as path. */
export const attributes = z
	// Not a record: zod leaves `__proto__` out of its copy of one.
	.custom<Record<string, AttributeValue>>(
		(pairs) => typeof pairs === 'object' && pairs !== null && !Array.isArray(pairs),
		'is not a set of names and values',
	)
	.refine((pairs) => Object.keys(pairs).length > 0, 'is empty')
	.refine(
		(pairs) => Object.keys(pairs).every((name) => name.trim() !== ''),
		'has an attribute without a name',
	)
	.superRefine((pairs, context) => {
		for (const [name, value] of Object.entries(pairs)) {
			const [issue] = attributeValue.safeParse(value).error?.issues ?? [];
			if (issue !== undefined) context.addIssue({ ...issue, path: [name] });
		}
	});

const idMessage = 'holds an ID that is neither text nor a whole number';
const idInList = z
	.union([z.string(), z.number().int(idMessage).nonnegative(idMessage)], {
		errorMap: () => ({ message: idMessage }),
	})
	.refine((id) => typeof id === 'number' || id.trim() !== '', idMessage)
	.refine(isExact, 'holds an ID that lost digits as a number: give it as text');

/** What stands between IDs or around them, and never in one: more than one ID was meant, or JSON. */
const separatorInside = /[\s()[\]{}"'`“”„‘’«»]+/;

/** IDs as texts or numbers. */
export const idList = z
	.array(idInList, { invalid_type_error: 'is neither text, nor a number, nor an array' })
	.superRefine((ids, context) => {
		const wrong = ids.map(String).find((id) => separatorInside.test(id.trim()));
		if (wrong === undefined) return;
		const parts = wrong.split(separatorInside).filter((part) => part !== '');
		const isClear = parts.length > 0 && parts.every((part) => /^[\w-]+$/.test(part));
		context.addIssue({
			code: 'custom',
			...refusal(
				`holds "${clip(wrong)}", which is not one ID`,
				isClear
					? `Separate IDs by commas and leave out all else: ${clip(parts.join(', '))}.`
					: 'Separate IDs by commas, semicolons or line breaks, or give an array by an expression.',
			),
		});
	});

/** Specification, Audience fields (`segment`). */
export const segments = idList.refine(
	(ids) => ids.length > 0,
	refusal('is empty', 'Give at least one segment ID, from the dashboard of your push service.'),
);

/** A subscriber's ID, kept as text so that no digit is lost. Specification, Audience fields (`sid`). */
export const subscriberId = z
	.union([z.string(), z.number()], { errorMap: () => ({ message: 'is not a number' }) })
	.refine(isExact, lostDigits)
	.transform((id) => String(id).trim())
	.refine(
		(id) => /^[0-9]+$/.test(id),
		(id) =>
			refusal(
				`is not a number: "${clip(id)}"`,
				'Give the ID of one subscriber: digits alone, such as 5001.',
			),
	);

const campaignIdMessage = 'is neither text nor a whole number';

/** A campaign's ID as it stands in a path. Specification, GET status. */
export const campaignId = z
	.union([z.string(), z.number().int(campaignIdMessage).nonnegative(campaignIdMessage)], {
		errorMap: () => ({ message: campaignIdMessage }),
	})
	.refine(isExact, lostDigits)
	.transform((id) => String(id).trim())
	.refine(
		(id) => !/[,;\r\n]|^\d+\s+\d/.test(id),
		(id) =>
			refusal(
				`holds more than one ID: "${clip(id)}"`,
				'Give one ID per item: an item for each campaign.',
			),
	)
	// A path can't hold these: dots walk up the path, and half of a surrogate pair has no encoding.
	.refine((id) => !/^\.{0,2}$/.test(id) && !/\p{Surrogate}/u.test(id), 'is not a campaign ID');

/** Specification, Notification / campaign, `expire_push`. */
export const expiry = z.object(
	{
		amount: z
			.unknown()
			.refine(
				(amount): amount is number => Number.isSafeInteger(amount) && Number(amount) >= 1,
				'is not a whole number from 1',
			),
		unit: z.enum(expiryUnits, { errorMap: () => ({ message: 'is not minutes, hours or days' }) }),
	},
	{ invalid_type_error: 'is not an amount and a unit' },
);

// Bodies. Specification, Endpoints and Notification / campaign.

const buttons = (title: Text, url: Text) =>
	z
		.array(z.object({ title, url: webUrl(url) }).strict())
		.min(1, 'is empty')
		.optional();
/** Specification, Limits: those of buttons are stated for all subscribers alone. */
const limitedButtons = buttons(
	limitedText(maxCharacters.buttonTitle, shortenAdvice),
	limitedText(maxCharacters.buttonUrl, shorterUrlAdvice),
);

const required = {
	title: limitedText(maxCharacters.title, shortenAdvice),
	message: limitedText(maxCharacters.message, shortenAdvice),
	target_url: webUrl(limitedText(maxCharacters.targetUrl, shorterUrlAdvice)),
};
const name = limitedText(maxCharacters.name, shortenAdvice).optional();
const icon = httpsUrl.optional();
const image = httpsUrl.optional();
const expire_push = z
	.string()
	.regex(/^[1-9][0-9]*[mhd]$/)
	.optional();
const auto_hide = z.union([z.literal(0), z.literal(1)]).optional();
const send_at = z.string().optional();
const action_buttons = buttons(requiredText, requiredText);
const delivery = { expire_push, auto_hide, send_at };
const optional = { name, icon, image, ...delivery, action_buttons };
const sid = z.string().regex(/^[0-9]+$/);

/** The body of each kind of send, in the service's own names. */
const bodySchemas = {
	all: z
		.object({ ...required, name, icon, image, ...delivery, action_buttons: limitedButtons })
		.strict(),
	attributes: z
		.object({ ...required, name, icon, ...delivery, action_buttons, attribute: attributes })
		.strict(),
	segments: z
		.object({
			...required,
			name,
			icon,
			image,
			...delivery,
			action_buttons,
			segment: segments,
		})
		.strict(),
	subscriber: z.object({ ...required, icon, ...delivery, action_buttons, sid }).strict(),
} satisfies Record<Audience, z.AnyZodObject>;

type Bodies = { [Each in Audience]: z.infer<(typeof bodySchemas)[Each]> };

/** The JSON body of a send, in the service's own names. */
export type CampaignBody = Bodies['all'] &
	Partial<
		Pick<Bodies['attributes'], 'attribute'> &
			Pick<Bodies['segments'], 'segment'> &
			Pick<Bodies['subscriber'], 'sid'>
	>;

/** What a body may hold beside what it must. */
export type OptionalField = keyof typeof optional;

const isOptionalField = (field: string): field is OptionalField => field in optional;

/** The optional fields that the service accepts for an audience. */
export function acceptedFields(audience: Audience): OptionalField[] {
	return Object.keys(bodySchemas[audience].shape).filter(isOptionalField);
}

/** Whether the texts of action buttons have a limit for an audience. */
export function limitsActionButtons(audience: Audience): boolean {
	return bodySchemas[audience].shape.action_buttons === limitedButtons;
}

/** A body as the service takes it, or what it would refuse in it. */
export type CheckedBody =
	| { readonly body: CampaignBody; readonly issues?: undefined }
	| { readonly body?: undefined; readonly issues: readonly BodyIssue[] };

/**
 * Checks a body by the service's rules for this audience. Whether `send_at` is far enough ahead is another
 * question: see `checkLead`.
 */
export function checkBody(audience: Audience, body: unknown): CheckedBody {
	const result = bodySchemas[audience].safeParse(body);
	if (result.success) return { body: result.data };
	return { issues: result.error.issues.map(toIssue) };
}
