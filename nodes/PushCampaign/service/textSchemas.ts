import { z } from 'zod/v3';

import { isUrl } from './address';
import { clip, countCharacters } from './text';

/** What a value is refused with; `advice` is handed on with the issue. */
export const refusal = (message: string, advice: string) => ({ message, params: { advice } });

/** What is wrong, in these words whatever it is. */
export const saying = (message: string) => ({ errorMap: () => ({ message }) });

/** A text that is there. */
export const requiredText = z
	.string({ required_error: 'is missing', invalid_type_error: 'is not text' })
	.refine((text) => text.trim() !== '', 'is empty');

/** One of at most so many characters; `params` may hold an advice for a longer one. */
export function limitedText(limit: number, params: { advice?: string } = {}) {
	return requiredText.superRefine((text, context) => {
		const length = countCharacters(text);
		if (length <= limit) return;
		context.addIssue({
			code: 'custom',
			message: `is ${length} characters long, ${length - limit} more than the ${limit} that the service accepts`,
			params,
		});
	});
}

/** Of a text that the option Shorten Long Texts cuts. */
export const shortenAdvice = {
	advice: 'Shorten it, or turn on Shorten Long Texts in the options.',
};

/** Of an address that the option UTM Parameters may have made longer. */
export const shorterUrlAdvice = {
	advice: 'Give a shorter address. UTM Parameters count towards its length, where there are any.',
};

const isWebUrl = (text: string) => isUrl(text, /^https?:\/\/[^/?#]/i);
const isHttpsUrl = (text: string) => isUrl(text, /^https:\/\/[^/?#]/i);

const notAddress = (text: string, kind: string) =>
	refusal(
		`is not a valid ${kind} address: "${clip(text)}"`,
		'Give a whole address, such as https://www.example.com/page.',
	);

export type Text = typeof requiredText | ReturnType<typeof limitedText>;

/** An http or https address. */
export const webUrl = (text: Text) =>
	text.refine(isWebUrl, (given) => notAddress(given, 'http:// or https://'));
/** An https address. */
export const httpsUrl = requiredText.refine(isHttpsUrl, (given) => notAddress(given, 'https://'));
