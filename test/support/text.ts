import fc from 'fast-check';

/** Texts of any code points but halves of surrogate pairs. */
export const anyCodePoints = (constraints: fc.StringConstraints = {}) =>
	fc.string({ unit: 'binary', ...constraints });

/** Addresses of web pages. */
export const anyWebUrl = () => fc.webUrl({ withQueryParameters: true, withFragments: true });
