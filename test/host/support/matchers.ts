// Jest types its matchers as `any`; here they are what they stand for: something unknown.

/** Matches every text. */
export const anyText: unknown = expect.any(String);

/** Matches a text with `part` in it. */
export const textWith = (part: string): unknown => expect.stringContaining(part);

/** Matches a text by a pattern. */
export const textLike = (pattern: RegExp): unknown => expect.stringMatching(pattern);

/** Matches an object that has these fields, among others. */
export const objectWith = (fields: Record<string, unknown>): unknown =>
	expect.objectContaining(fields);
