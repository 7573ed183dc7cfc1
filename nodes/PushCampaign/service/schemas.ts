// The subpath names the API, whichever major version the host's zod has at its root.
import { z } from 'zod/v3';

import type { Audience } from './rules';
import { audienceRules, maxCharacters } from './rules';
import { clip, quote } from './text';
import {
	nonBlankText,
	httpsUrl,
	limitedText,
	issueWithValue,
	issueWith,
	withMessage,
	webUrl,
} from './textSchemas';
import { wholeNumber } from './wholeNumber';

/**
 * The first thing that is wrong with a value: where (`['action_buttons', 0, 'url']`), what (`is empty`), and
 * what to do, if known: sentences.
 */
export function firstIssue({ issues: [issue] }: z.ZodError) {
	if (issue === undefined) return { path: [], message: 'is not valid' };
	const { path, message } = issue;
	const advice: unknown = issue.code === 'custom' ? issue.params?.['advice'] : undefined;
	return { path, message, advice: typeof advice === 'string' ? advice : undefined };
}

/** A number beyond 2^53 has lost digits before it came here. */
const lostDigits = (value: unknown) =>
	issueWith(
		`is too large for a number, its last digits are lost already: ${quote(value)}`,
		'Enter it as text.',
	);

const attributeMessage = 'is not a text, a number or a boolean';

/** What an attribute of a subscriber may be compared with. Specification, Audience fields. */
export const attributeValue = z
	.union([nonBlankText, z.boolean(), z.number()], withMessage(attributeMessage))
	.refine(
		(value) => typeof value !== 'number' || Number.isFinite(value),
		(value) => ({ message: `${attributeMessage}: ${quote(value)}` }),
	)
	.refine(
		(value) => typeof value !== 'number' || Math.abs(value) <= Number.MAX_SAFE_INTEGER,
		lostDigits,
	);
export type AttributeValue = z.infer<typeof attributeValue>;

/** Names, without blanks around them, and values; an issue of one value has its name as path. */
export const attributes = z
	.unknown()
	.transform((given, context): Record<string, AttributeValue> => {
		const refuse = (message: string, path: string[] = []) => {
			context.addIssue({ code: 'custom', message, path });
			return z.NEVER;
		};
		if (typeof given !== 'object' || given === null || Array.isArray(given)) {
			return refuse(`is not a set of names and values: ${quote(given)}`);
		}
		const entries = new Map<string, AttributeValue>();
		for (const [entered, value] of Object.entries(given)) {
			const name = entered.trim();
			if (name === '') return refuse('has an attribute without a name');
			if (entries.has(name)) return refuse(`has the name "${clip(name)}" twice`);
			const result = attributeValue.safeParse(value);
			if (!result.success) return refuse(firstIssue(result.error).message, [name]);
			entries.set(name, result.data);
		}
		// Not a zod record: that leaves out `__proto__`.
		return entries.size === 0 ? refuse('is empty') : Object.fromEntries(entries);
	});

/** A text or a whole number. */
const anyId = (message: string) =>
	z
		.union([z.string(), z.number()], withMessage(message))
		.refine(
			(id) => typeof id === 'string' || (Number.isInteger(id) && id >= 0),
			(id) => ({ message: `${message}: ${quote(id)}` }),
		)
		.refine((id) => typeof id === 'string' || id <= Number.MAX_SAFE_INTEGER, lostDigits);

/**
 * IDs as texts or numbers. A blank, a bracket or a quote in one means that more than one was meant, or JSON.
 * @param refuse says what is wrong with a text that is not one ID
 */
const listOfIds = (refuse: (id: string) => ReturnType<typeof issueWith>) =>
	z.array(
		anyId('holds an ID that is neither text nor a whole number').refine(
			(id) => /^\s*[^\s()[\]{}"'`“”„‘’«»]+\s*$/.test(String(id)),
			(id) => refuse(String(id)),
		),
		withMessage('is neither text, nor a number, nor an array'),
	);

export const idList = listOfIds((id) =>
	issueWith(
		`holds "${clip(id)}", which is not one ID`,
		'Separate IDs by commas, semicolons or line breaks, or use an expression that returns an array.',
	),
);

/** Specification, Audience fields (`segment`). An issue of one ID has its index as path. */
export const segments = listOfIds((id) =>
	issueWith(
		`holds "${clip(id)}", which is not a segment ID`,
		"Enter the ID from your push service's dashboard, not the name; separate several with commas.",
	),
).refine(
	(ids) => ids.length > 0,
	issueWith('is empty', "Enter at least one segment ID from your push service's dashboard."),
);

/** A subscriber's ID, kept as text so that no digit is lost. Specification, Audience fields (`sid`). */
export const subscriberId = anyId('is not a number')
	.transform((id) => String(id).trim())
	.refine(
		(id) => /^[0-9]+$/.test(id),
		issueWithValue('is not a number', 'Enter the ID of one subscriber: digits only, such as 5001.'),
	);

/** A campaign's ID as it stands in a path. Specification, GET status. */
export const campaignId = anyId('is neither text nor a whole number')
	.transform((id) => String(id).trim())
	.refine(
		(id) => !/[,;\r\n]|^\d+\s+\d/.test(id),
		issueWithValue('holds more than one ID', 'Use one item for each campaign.'),
	)
	// A path can't hold these: dots walk up the path, and half of a surrogate pair has no encoding.
	.refine(
		(id) => !/^\.{0,2}$/.test(id) && !/\p{Surrogate}/u.test(id),
		(id) => ({
			message: `is not a campaign ID: ${quote(id)}`,
		}),
	);

const duration = z.object(
	{
		amount: wholeNumber(1),
		unit: z.enum(['m', 'h', 'd'], withMessage('is not minutes, hours or days')),
	},
	withMessage('is not an amount and a unit'),
);

/** A number and a unit letter, for example `7d`. Specification, Notification / campaign, `expire_push`. */
export const expiry = z.unknown().transform((given, context): string => {
	const { data, error } = duration.safeParse(given);
	if (data !== undefined) return `${data.amount}${data.unit}`;
	// Without a path: one name stands for both parts.
	context.addIssue({ code: 'custom', message: firstIssue(error).message });
	return z.NEVER;
});

/** The limits of a button's texts, in code points. */
export const buttonLimits = (audience: Audience) =>
	audienceRules[audience].limitsButtons
		? { title: maxCharacters.buttonTitle, url: maxCharacters.buttonUrl }
		: { title: Infinity, url: Infinity };

function buttonsFor(audience: Audience) {
	const limits = buttonLimits(audience);
	return z
		.array(z.object({ title: limitedText(limits.title), url: webUrl(limits.url) }))
		.optional();
}
const name = limitedText(maxCharacters.name).optional();
const image = httpsUrl.optional();

/** What every body may hold, in the service's own names. Specification, Notification / campaign. */
const common = z.object({
	title: limitedText(maxCharacters.title),
	message: limitedText(maxCharacters.message),
	target_url: webUrl(maxCharacters.targetUrl),
	icon: httpsUrl.optional(),
	expire_push: z.string().optional(),
	auto_hide: z.number().optional(),
	send_at: z.string().optional(),
});

/**
 * The body of each kind of send; what a body holds beside that is left out. Whether `send_at` is far enough
 * ahead is another question: see `checkLead`. Specification, Endpoints.
 */
export const bodies = {
	all: common.extend({ name, image, action_buttons: buttonsFor('all') }),
	attributes: common.extend({
		name,
		attribute: attributes,
		action_buttons: buttonsFor('attributes'),
	}),
	segments: common.extend({
		name,
		image,
		segment: segments,
		action_buttons: buttonsFor('segments'),
	}),
	subscriber: common.extend({ sid: z.string(), action_buttons: buttonsFor('subscriber') }),
} satisfies Record<Audience, z.AnyZodObject>;

type Bodies = { [Each in Audience]: z.infer<(typeof bodies)[Each]> };

/** The JSON body of a send, in the service's own names. */
export type CampaignBody = Bodies['all'] &
	Partial<Bodies['attributes'] & Bodies['segments'] & Bodies['subscriber']>;

/** What a body may hold, apart from whom it is for. */
export type BodyField = keyof Bodies['all'];
