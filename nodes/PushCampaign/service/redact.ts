const MASK = '***';
/** Shorter values occur in ordinary words, and hiding those would garble every answer. */
const shortestSecret = 6;

/** All of HTML's names for what a key may hold and HTML or a filter of HTML writes otherwise. */
const entityNames: Readonly<Record<string, string>> = {
	'"': 'quot',
	'&': 'amp',
	"'": 'apos',
	'<': 'lt',
	'>': 'gt',
	'/': 'sol',
	'\\': 'bsol',
	'+': 'plus',
	'=': 'equals',
	' ': 'nbsp',
	'!': 'excl',
	'#': 'num',
	$: 'dollar',
	'%': 'percnt',
	'(': 'lpar',
	')': 'rpar',
	'*': 'ast|midast',
	',': 'comma',
	'.': 'period',
	':': 'colon',
	';': 'semi',
	'?': 'quest',
	'@': 'commat',
	'[': 'lbrack|lsqb',
	']': 'rbrack|rsqb',
	'^': 'Hat',
	_: 'lowbar|UnderBar',
	'`': 'grave|DiacriticalGrave',
	'{': 'lbrace|lcub',
	'|': 'vert|verbar|VerticalLine',
	'}': 'rbrace|rcub',
};

const escapeRegExp = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

const bytesOf = (text: string) => Array.from(new TextEncoder().encode(text));
const hexOf = (byte: number) => byte.toString(16).padStart(2, '0');

/**
 * All the ways in which one character of a secret may be written, the longest first. How often anything
 * may be repeated is bounded, so that no answer takes long to look through.
 */
function spellingsOf(character: string): string {
	const code = character.codePointAt(0) ?? 0;
	const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
	const names = entityNames[character];
	return [
		...(names === undefined ? [] : [`&(?:amp;){0,2}(?:${names});`]),
		`&(?:amp;){0,2}#0{0,5}${code};?`,
		`&(?:amp;){0,2}#x0{0,5}${code.toString(16)};?`,
		units.map((unit) => `\\\\{1,3}u${unit}`).join(''),
		bytesOf(character)
			.map((byte) => `%(?:25){0,2}${hexOf(byte)}`)
			.join(''),
		...(code < 256 ? [`%(?:25){0,2}${hexOf(code)}`, `\\\\{1,3}x${hexOf(code)}`] : []),
		// A backslash in front is how PHP writes a slash, and many a quoting every special character.
		/[\p{L}\p{N}]/u.test(character)
			? escapeRegExp(character)
			: `\\\\{0,3}${escapeRegExp(character)}`,
		...(character === ' ' ? ['\\+'] : []),
	].join('|');
}

/** The spellings of the secret as a whole, none of which holds a sign of an escape. */
function wholeSpellings(secret: string): string[] {
	const bytes = bytesOf(secret);
	const base64 = btoa(String.fromCharCode(...bytes)).replace(/=+$/, '');
	const base64url = base64.replace(/\+/g, '-').replace(/\//g, '_');
	return [secret, secret.replace(/ /g, '+'), base64, base64url, bytes.map(hexOf).join('')];
}

function patternOf(secret: string): string {
	const [, , base64 = '', ...others] = wholeSpellings(secret);
	return [
		Array.from(secret, (character) => `(?:${spellingsOf(character)})`).join(''),
		`${escapeRegExp(base64).replace(/\\\//g, '\\\\{0,3}\\/')}(?:=|%3d){0,2}`,
		...others.map(escapeRegExp),
	].join('|');
}

/** What every spelling holds that is not one of the secret as a whole. */
const escapeSign = /[&%\\]/;

/**
 * Makes a function that hides the given secrets in every text of a JSON value: a service that echoes its
 * headers must not carry them into outputs and saved executions. They are found in upper and lower case,
 * percent-encoded, as HTML entities, escaped for JSON or a string (also in part, and more than once), in
 * base64 and in hex.
 */
export function createRedactor(secrets: readonly string[]): (value: unknown) => unknown {
	const hidden = secrets
		.filter((secret) => secret.length >= shortestSecret)
		// Where one is the beginning of another, the longer one goes first.
		.sort((one, other) => other.length - one.length);
	if (hidden.length === 0) return (value) => value;
	const pattern = new RegExp(hidden.map(patternOf).join('|'), 'gi');
	const spellings = hidden.flatMap(wholeSpellings).map((spelling) => spelling.toLowerCase());
	// Nearly no answer holds any of it, and the pattern alone would take longer than all the rest.
	const mayHold = (text: string) => {
		if (escapeSign.test(text)) return true;
		const lower = text.toLowerCase();
		return spellings.some((spelling) => lower.includes(spelling));
	};
	const redactText = (text: string) => (mayHold(text) ? text.replace(pattern, MASK) : text);
	const redact = (value: unknown): unknown => {
		if (typeof value === 'string') return redactText(value);
		if (Array.isArray(value)) return value.map(redact);
		if (typeof value === 'object' && value !== null) {
			return Object.fromEntries(
				Object.entries(value).map(([name, inner]) => [redactText(name), redact(inner)]),
			);
		}
		return value;
	};
	return redact;
}
