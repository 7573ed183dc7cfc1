import fc from 'fast-check';

const codePoint = fc
	.oneof(
		fc.integer({ min: 0x20, max: 0x7e }),
		fc.integer({ min: 0, max: 0xd7_ff }),
		fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }),
	)
	.map((code) => String.fromCodePoint(code));

/** Texts of any code points but halves of surrogate pairs. fast-check's own unit `binary` takes a second to create. */
export const anyCodePoints = (constraints: Omit<fc.StringConstraints, 'unit'> = {}) =>
	fc.string({ unit: codePoint, ...constraints });

/** Addresses of web pages. */
export const anyWebUrl = () => fc.webUrl({ withQueryParameters: true, withFragments: true });
