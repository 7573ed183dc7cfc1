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

const urlText = fc
	.array(
		fc.oneof(fc.constantFrom(...`azAZ09-._~!$&'()*+,;=:@/`), codePoint.map(encodeURIComponent)),
	)
	.map((parts) => parts.join(''));

/** Addresses of web pages. fast-check's own `webUrl` takes two seconds to create. */
export const anyWebUrl = () =>
	fc
		.tuple(
			fc.constantFrom('http://a.example', 'https://shop.example:8443'),
			fc.oneof(
				fc.constant(''),
				urlText.map((path) => `/${path}`),
			),
			fc.oneof(
				fc.constant(''),
				urlText.map((query) => `?${query}`),
			),
			fc.oneof(
				fc.constant(''),
				urlText.map((fragment) => `#${fragment}`),
			),
		)
		.map((parts) => parts.join(''));
