import { z } from 'zod/v3';

import { encodeJoiners, invisibleIn, isWebUrl } from './address';
import { clip, countCharacters, quote } from './text';

/** What a value is refused with; `advice` goes along with the issue. */
export const issueWith = (message: string, advice: string) => ({ message, params: { advice } });

/** The same, with the value in quotes. */
export const issueWithValue = (what: string, advice: string) => (value: string) =>
	issueWith(`${what}: "${clip(value)}"`, advice);

/** Words about a value, with the value behind them, if there is one. */
const withValue = (message: string, value: unknown) =>
	value === undefined || value === null ? message : `${message}: ${quote(value)}`;

/** What is wrong, in these words whatever it is, with the value. */
export const withMessage = (message: string) => ({
	errorMap: (_issue: z.ZodIssueOptionalMessage, { data }: { data: unknown }) => ({
		message: withValue(message, data),
	}),
});

const isNonBlank = (text: string) => text.trim() !== '';

/** A text, if it is one, that is not blank. */
export const nonBlankText = z.string().refine(isNonBlank, 'is empty');

/** A text that is there. */
export const requiredText = z
	.string({
		errorMap: (_issue, { data }) => ({
			message: data === undefined ? 'is missing' : withValue('is not text', data),
		}),
	})
	.refine(isNonBlank, 'is empty');

/** One of at most this many characters; `advice` is for a longer one. */
const atMost = (limit: number, advice: string) =>
	requiredText.superRefine((text, context) => {
		const length = countCharacters(text);
		if (length <= limit) return;
		const message = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
		context.addIssue({ code: 'custom', ...issueWith(message, advice) });
	});

/** A text that the option Shorten Long Texts cuts. */
export const limitedText = (limit: number) =>
	atMost(limit, 'Shorten it, or turn on Shorten Long Texts in the options.');

const fullAddress = 'Enter the full address, such as https://www.example.com/page.';

/** An address in which every character can be seen. Words and emoji need what joins their characters: it is encoded. */
const visibleAddress = requiredText.transform(encodeJoiners).superRefine((text, context) => {
	const invisible = invisibleIn(text);
	if (invisible === undefined) return;
	const message = `holds an invisible character (${invisible})`;
	context.addIssue({
		code: 'custom',
		...issueWith(message, 'Type the address instead of pasting it.'),
	});
});

/** An http or https address. */
export const webUrl = (limit: number) =>
	visibleAddress
		.pipe(atMost(limit, 'Enter a shorter address.'))
		.refine(isWebUrl, issueWithValue('is not a valid http:// or https:// address', fullAddress));

export const httpsUrl = visibleAddress.refine(
	(text) => isWebUrl(text) && /^https:/i.test(text),
	issueWithValue('is not a valid https:// address', fullAddress),
);
