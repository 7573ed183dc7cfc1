import { z } from 'zod/v3';

import { invisibleIn, isWebUrl } from './address';
import { clip, countCharacters } from './text';

/** What a value is refused with; `advice` goes along with the issue. */
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

const fullAddress = 'Enter the full address, such as https://www.example.com/page.';

/** A text in which every character can be seen. */
const visibleText = requiredText.superRefine((text, context) => {
	const invisible = invisibleIn(text);
	if (invisible === undefined) return;
	const message = `holds an invisible character (${invisible})`;
	context.addIssue({
		code: 'custom',
		...refusal(message, 'Type the address instead of pasting it.'),
	});
});

/** An http or https address. */
export const webUrl = (limit: number) =>
	visibleText
		.pipe(atMost(limit, 'Enter a shorter address.'))
		.refine(isWebUrl, quoting('is not a valid http:// or https:// address', fullAddress));

export const httpsUrl = visibleText.refine(
	(text) => isWebUrl(text) && /^https:/i.test(text),
	quoting('is not a valid https:// address', fullAddress),
);
