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

/** Addresses of web pages. */
export const anyWebUrl = () => fc.webUrl({ withQueryParameters: true, withFragments: true });
