// The subpath names the API, whichever major version the host's zod has at its root.
import { z } from 'zod/v3';

import { isUrl } from './address';
import type { Audience } from './rules';
import { maxCharacters } from './rules';
import { expiryUnits } from './schedule';
import { clip } from './text';

// ---------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------

/** Characters as the limits count them: code points, of which a flag or a family has several. Specification, Limits. */
export function countCharacters(text: string): number {
	return Array.from(text).length;
}

const requiredText = z
	.string({ required_error: 'is missing', invalid_type_error: 'is not text' })
	.refine((text) => text.trim() !== '', 'is empty');

function limitedText(limit: number) {
	return requiredText.superRefine((text, context) => {
		const length = countCharacters(text);
		if (length <= limit) return;
		context.addIssue({
			code: 'custom',
			message: `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`,
		});
	});
}

const isWebUrl = (text: string) => isUrl(text, /^https?:\/\/[^/?#]/i);
const isHttpsUrl = (text: string) => isUrl(text, /^https:\/\/[^/?#]/i);

const webUrlMessage = 'is not a valid http:// or https:// address';
const httpsUrlMessage = 'is not a valid https:// address';
const attributeMessage = 'has a value that is not a text, a number or a boolean';
const inexactAttributeMessage =
	'has a number too large to be exact, its last digits are lost already: give it as text';

/** What an attribute of a subscriber may be compared with. Specification, Audience fields. */
export const attributeValue = z
	.union([z.string(), z.boolean(), z.number().finite(attributeMessage)], {
		errorMap: () => ({ message: attributeMessage }),
	})
	.refine(
		(value) => !Number.isInteger(value) || Number.isSafeInteger(value),
		inexactAttributeMessage,
	);
export type AttributeValue = z.infer<typeof attributeValue>;

// Not a record: zod leaves `__proto__` out of its copy of one.
const attributes = z
	.custom<Record<string, AttributeValue>>(
		(pairs) => typeof pairs === 'object' && pairs !== null && !Array.isArray(pairs),
		'is not a set of pairs',
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

const segmentMessage = 'has an ID that is not a text or a whole number';
const segmentId = z.union(
	[
		z.string().refine((id) => id.trim() !== '', segmentMessage),
		z
			.number()
			.int(segmentMessage)
			.nonnegative(segmentMessage)
			.refine(Number.isSafeInteger, segmentMessage),
	],
	{ errorMap: () => ({ message: segmentMessage }) },
);

const segments = z.array(segmentId).min(1, 'is empty');

/** A number beyond 2^53 has lost digits before it came here. */
const lostDigits =
	'is a number too large to be exact, its last digits are lost already: give it as text';

/** A subscriber's ID, kept as text so that no digit is lost. Specification, Audience fields (`sid`). */
export const subscriberId = z
	.union([z.string(), z.number()], { errorMap: () => ({ message: 'is not made of digits alone' }) })
	.refine((id) => typeof id !== 'string' || id.trim() !== '', 'is empty')
	.refine((id) => typeof id === 'string' || !(id > Number.MAX_SAFE_INTEGER), lostDigits)
	.transform((id) => String(id).trim())
	.refine(
		(id) => id === '' || /^[0-9]+$/.test(id),
		(id) => ({ message: `is not made of digits alone: ${clip(id)}` }),
	);

/** A campaign's ID as it stands in a path. Specification, GET status. */
export const campaignId = z
	.union([z.string(), z.number()], {
		errorMap: () => ({ message: 'is not a text or a whole number' }),
	})
	.refine((id) => typeof id !== 'string' || id.trim() !== '', 'is empty')
	.refine((id) => typeof id === 'string' || !(id > Number.MAX_SAFE_INTEGER), lostDigits)
	.refine(
		(id) => typeof id === 'string' || (Number.isInteger(id) && id >= 0),
		'is not a text or a whole number',
	)
	.transform((id) => String(id).trim())
	// A path can't hold these: dots walk up the path, and half of a surrogate pair has no encoding.
	.refine((id) => !/^\.{1,2}$/.test(id) && !/\p{Surrogate}/u.test(id), 'is not a campaign ID');

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

// ---------------------------------------------------------------------------------------------
// Bodies. Specification, Endpoints and Notification / campaign.
// ---------------------------------------------------------------------------------------------

type Text = typeof requiredText | ReturnType<typeof limitedText>;

const webUrl = (text: Text) => text.refine(isWebUrl, webUrlMessage);
const httpsUrl = requiredText.refine(isHttpsUrl, httpsUrlMessage);

const buttons = (title: Text, url: Text) =>
	z
		.array(z.object({ title, url: webUrl(url) }).strict())
		.min(1, 'is empty')
		.optional();
/** Specification, Limits: those of buttons are stated for all subscribers alone. */
const limitedButtons = buttons(
	limitedText(maxCharacters.buttonTitle),
	limitedText(maxCharacters.buttonUrl),
);

const required = {
	title: limitedText(maxCharacters.title),
	message: limitedText(maxCharacters.message),
	target_url: webUrl(limitedText(maxCharacters.targetUrl)),
};
const name = limitedText(maxCharacters.name).optional();
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
		.object({ ...required, name, icon, image, ...delivery, action_buttons, segment: segments })
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

/** One thing that is wrong with a body: where (`['action_buttons', 0, 'url']`) and what (`is empty`). */
export interface BodyIssue {
	readonly path: ReadonlyArray<string | number>;
	readonly message: string;
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
	return { issues: result.error.issues.map(({ path, message }) => ({ path, message })) };
}
