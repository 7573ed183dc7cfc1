import { z } from 'zod/v3';

import { isWebUrl } from './address';
import { clip, countCharacters } from './text';

/** What a value is refused with; `advice` is handed on with the issue. */
export const refusal = (message: string, advice: string) => ({ message, params: { advice } });

/** The same, with the value in quotes. */
export const quoting = (what: string, advice: string) => (value: string) =>
	refusal(`${what}: "${clip(value)}"`, advice);

/** What is wrong, in these words whatever it is. */
export const saying = (message: string) => ({ errorMap: () => ({ message }) });

/** A text that is there. */
export const requiredText = z
	.string({ required_error: 'is missing', invalid_type_error: 'is not text' })
	.refine((text) => text.trim() !== '', 'is empty');

/** One of at most so many characters; `advice` is for a longer one. */
const atMost = (limit: number, advice: string) =>
	requiredText.superRefine((text, context) => {
		const length = countCharacters(text);
		if (length <= limit) return;
		const message = `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`;
		context.addIssue({ code: 'custom', ...refusal(message, advice) });
	});

/** A text that the option Shorten Long Texts cuts. */
export const limitedText = (limit: number) =>
	atMost(limit, 'Shorten it, or turn on Shorten Long Texts in the options.');

const wholeAddress = 'Give a whole address, such as https://www.example.com/page.';

/** An http or https address, which the option UTM Parameters may have made longer. */
export const webUrl = (limit: number) =>
	atMost(
		limit,
		'Give a shorter address. UTM Parameters count towards its length, where there are any.',
	).refine(isWebUrl, quoting('is not a valid http:// or https:// address', wholeAddress));

export const httpsUrl = requiredText.refine(
	(text) => isWebUrl(text) && /^https:/i.test(text),
	quoting('is not a valid https:// address', wholeAddress),
);
