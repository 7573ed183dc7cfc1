import fc from 'fast-check';

/**
 * Texts of any code points but halves of surrogate pairs: what `unit: 'binary'` gives, without the second that
 * fast-check takes to list them all.
 * @param constraints how many code points
 */
export const anyCodePoints = (constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> =>
	fc
		.array(
			fc.oneof(
				fc.integer({ min: 0, max: 0xd7ff }),
				fc.integer({ min: 0xe000, max: 0x10ffff }),
				fc.integer({ min: 0, max: 0x7f }),
			),
			constraints,
		)
		.map((codes) => String.fromCodePoint(...codes));

const urlCharacters = fc.oneof(
	fc.constantFrom(..."azAZ09-._~!$&'()*+,;=:@"),
	anyCodePoints({ minLength: 1, maxLength: 1 }).map(encodeURIComponent),
);
const urlPart = fc.array(urlCharacters).map((characters) => characters.join(''));

/** Addresses of web pages: what `fc.webUrl()` gives, without the second that fast-check takes to list characters. */
export const anyWebUrl = (): fc.Arbitrary<string> =>
	fc
		.tuple(
			fc.constantFrom('http', 'https'),
			fc.webAuthority(),
			fc.array(urlPart.map((segment) => `/${segment}`)),
			fc.option(
				urlPart.map((query) => `?${query}`),
				{ nil: '' },
			),
			fc.option(
				urlPart.map((fragment) => `#${fragment}`),
				{ nil: '' },
			),
		)
		.map(([scheme, authority, path, query, fragment]) =>
			[`${scheme}://${authority}`, ...path, query, fragment].join(''),
		);
