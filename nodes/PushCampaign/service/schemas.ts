// The subpath names the API, whichever major version the host's zod has at its root.
import { z } from 'zod/v3';

import type { Audience } from './rules';
import { audienceRules, audiences, maxCharacters } from './rules';
import { expiryUnits } from './schedule';
import { isUrl } from './url';

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
const httpsUrl = requiredText.refine(isHttpsUrl, httpsUrlMessage);

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

// The names are looked at before zod copies them: it leaves `__proto__` out of its copy.
const attributes = z
	.custom<object>((pairs) => typeof pairs === 'object' && pairs !== null, 'is not a set of pairs')
	.refine((pairs) => Object.keys(pairs).length > 0, 'is empty')
	.refine(
		(pairs) => Object.keys(pairs).every((name) => name.trim() !== ''),
		'has an attribute without a name',
	)
	.pipe(z.record(z.string(), attributeValue));

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
	.refine((id) => id === '' || /^[0-9]+$/.test(id), 'is not made of digits alone');

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
export const expiry = z.object({
	amount: z
		.number({ invalid_type_error: 'is not a whole number from 1' })
		.int('is not a whole number from 1')
		.min(1, 'is not a whole number from 1')
		.max(Number.MAX_SAFE_INTEGER, 'is not a whole number from 1'),
	unit: z.enum(expiryUnits, { errorMap: () => ({ message: 'is not minutes, hours or days' }) }),
});

// ---------------------------------------------------------------------------------------------
// Bodies. Specification, Endpoints and Notification / campaign.
// ---------------------------------------------------------------------------------------------

function actionButtons(audience: Audience) {
	const isLimited = audienceRules[audience].limitsActionButtons;
	const title = isLimited ? limitedText(maxCharacters.buttonTitle) : requiredText;
	const url = isLimited ? limitedText(maxCharacters.buttonUrl) : requiredText;
	return z
		.array(z.object({ title, url: url.refine(isWebUrl, webUrlMessage) }).strict())
		.min(1, 'is empty');
}

const audienceFields = {
	attribute: attributes,
	segment: segments,
	sid: z.string().regex(/^[0-9]+$/),
};

/** Which field names the audience, and therefore stands in the body of that operation alone. */
export const audienceField = {
	all: undefined,
	attributes: 'attribute',
	segments: 'segment',
	subscriber: 'sid',
} as const satisfies Record<Audience, keyof typeof audienceFields | undefined>;

function bodyFields(audience: Audience) {
	return {
		title: limitedText(maxCharacters.title),
		message: limitedText(maxCharacters.message),
		target_url: limitedText(maxCharacters.targetUrl).refine(isWebUrl, webUrlMessage),
		name: limitedText(maxCharacters.name).optional(),
		icon: httpsUrl.optional(),
		image: httpsUrl.optional(),
		expire_push: z
			.string()
			.regex(/^[1-9][0-9]*[mhd]$/)
			.optional(),
		auto_hide: z.union([z.literal(0), z.literal(1)]).optional(),
		send_at: z.string().optional(),
		action_buttons: actionButtons(audience).optional(),
	};
}

type ContentFields = z.infer<z.ZodObject<ReturnType<typeof bodyFields>>>;
type AudienceFields = z.infer<z.ZodObject<typeof audienceFields>>;

/** The JSON body of a send, in the service's own names. */
export type CampaignBody = ContentFields & Partial<AudienceFields>;

function bodySchema(audience: Audience): z.ZodTypeAny {
	const required = ['title', 'message', 'target_url'];
	const known = new Set<string>([...required, ...audienceRules[audience].accepts]);
	const fields = Object.entries(bodyFields(audience)).filter(([name]) => known.has(name));
	const schema = z.object(Object.fromEntries(fields)).strict();
	const field = audienceField[audience];
	return field === undefined ? schema : schema.extend({ [field]: audienceFields[field] });
}

const bodySchemas = Object.fromEntries(
	audiences.map((audience) => [audience, bodySchema(audience)]),
);

/** One thing that is wrong with a body: where (`['action_buttons', 0, 'url']`) and what (`is empty`). */
export interface BodyIssue {
	readonly path: ReadonlyArray<string | number>;
	readonly message: string;
}

/**
 * What the service would refuse in a body, by its rules for this audience; empty when it is fine.
 * Whether `send_at` is far enough ahead is another question: see `checkLead`.
 */
export function findBodyIssues(audience: Audience, body: unknown): BodyIssue[] {
	const result = bodySchemas[audience]?.safeParse(body);
	if (result === undefined || result.success) return [];
	return result.error.issues.map(({ path, message }) => ({ path, message }));
}

/** Whether a body holds to the service's rules for this audience. */
export function isCampaignBody(audience: Audience, body: unknown): body is CampaignBody {
	return findBodyIssues(audience, body).length === 0;
}
