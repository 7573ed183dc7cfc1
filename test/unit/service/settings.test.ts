import { parseSettings } from '../../../nodes/PushCampaign/service/settings';
import { refusal } from './support';

const credential = {
	baseUrl: 'https://push.example/',
	apiKey: ' the-key\n',
	authToken: 'the-token',
	headerNames: 'standard',
};
const custom = { headerNames: 'custom', apiKeyHeader: 'X-Key', authTokenHeader: 'X-Token' };
const settingsOf = (change: object) => parseSettings({ ...credential, ...change });

describe('the address', () => {
	test.each([
		{ baseUrl: ' https://Push.example///\n', then: 'https://push.example' },
		{ baseUrl: 'https://push.example:8443/api/', then: 'https://push.example:8443/api' },
		{ baseUrl: '\u200Bhttps://push.example/\u200E', then: 'https://push.example' },
		{ baseUrl: 'https://intranet/push', then: 'https://intranet/push' },
		{ baseUrl: 'http://localhost:8080', then: 'http://localhost:8080' },
		{ baseUrl: 'http://127.0.10.200', then: 'http://127.0.10.200' },
		{ baseUrl: 'http://[::1]:8080', then: 'http://[::1]:8080' },
	])('$baseUrl is $then', ({ baseUrl, then }) => {
		expect(settingsOf({ baseUrl }).baseUrl).toBe(then);
	});

	test.each([
		{ baseUrl: ' ', then: 'is missing' },
		{ baseUrl: 'ftp://push.example', then: 'is not a valid https:// address' },
		{ baseUrl: 'https://push,example', then: 'is not a valid https:// address' },
		{ baseUrl: 'https://me:secret@push.example', then: 'holds a user name or password' },
		{ baseUrl: 'https://push.example/?a', then: 'holds more than an address' },
		{ baseUrl: 'https://push.example/#a', then: 'holds more than an address' },
		{ baseUrl: 'https://push.example/v1', then: 'ends in /v1' },
		{ baseUrl: 'https://push.example/api/V1//', then: 'ends in /v1' },
		{ baseUrl: 'http://push.example', then: 'starts with http://' },
		{ baseUrl: 'http://127.0.0.1.example', then: 'starts with http://' },
		{ baseUrl: 'http://notlocalhost', then: 'starts with http://' },
	])('$baseUrl $then', ({ baseUrl, then }) => {
		const { message, fix: advice } = refusal(() => settingsOf({ baseUrl }));
		expect(message).toMatch(`'Base URL' of the credential ${then}`);
		expect(advice).toMatch(/^Enter .+\.$/);
		expect(message + advice).not.toContain('secret');
	});

	test.each(['https://push.example/api/v10', 'https://push.example/v1/api'])(
		'%s may have v1 in another place',
		(baseUrl) => {
			expect(settingsOf({ baseUrl }).baseUrl).toBe(baseUrl);
		},
	);

	test.each([true, ' TRUE\u200B'])('may be http if that is on: %j', (allowHttp) => {
		const { baseUrl } = settingsOf({ baseUrl: 'http://push.example', allowHttp });
		expect(baseUrl).toBe('http://push.example');
	});

	test.each(['false', 1])('may not be http if it is %j', (allowHttp) => {
		const read = () => settingsOf({ baseUrl: 'http://push.example', allowHttp });
		expect(refusal(read).message).toContain('starts with http://');
	});
});

describe('the headers', () => {
	// Specification, Authentication.
	test.each([
		{ change: {}, key: 'serviceKey', token: 'serviceAuthToken' },
		{ change: { headerNames: undefined }, key: 'serviceKey', token: 'serviceAuthToken' },
		{ change: { headerNames: ' webpushr\u200B' }, key: 'webpushrKey', token: 'webpushrAuthToken' },
		{
			change: { ...custom, apiKeyHeader: '\u200EX-Key\u00AD', authTokenHeader: ' X-Token\uFEFF' },
			...{ key: 'X-Key', token: 'X-Token' },
		},
	])('of $change are $key and $token', ({ change, key, token }) => {
		expect(settingsOf(change).headers).toEqual({ [key]: 'the-key', [token]: 'the-token' });
	});

	test.each([
		{ given: 0, sent: '0' },
		{ given: '\u00ADa key\u3164', sent: 'a key' },
	])('carry $sent if a key or a token is $given', ({ given, sent }) => {
		const { apiKey, headers } = settingsOf({ apiKey: given, authToken: given });
		expect([apiKey, ...Object.values(headers)]).toEqual([sent, sent, sent]);
	});

	test.each([
		{ change: { apiKey: '\u200B' }, then: "'API Key' of the credential is missing" },
		{ change: { apiKey: 'kéy→' }, then: "'API Key' of the credential holds a character" },
		{ change: { headerNames: 'x' }, then: "'Header Names' of the credential is not one of its" },
		{ change: { headerNames: '' }, then: "'Header Names' of the credential is missing" },
		{
			change: { ...custom, apiKeyHeader: ' ' },
			then: "'API Key Header' of the credential is missing",
		},
		{
			change: { ...custom, authTokenHeader: '\u200B' },
			then: "'Auth Token Header' of the credential is missing",
		},
		{
			change: { ...custom, apiKeyHeader: 'X Key' },
			then: "'API Key Header' of the credential is not",
		},
	])('of $change are refused', ({ change, then }) => {
		const { message, fix: advice } = refusal(() => settingsOf(change));
		expect(message).toMatch(then);
		const isOfNames = message.includes('Header');
		expect(advice).toMatch(isOfNames ? /header\.$|^Choose one\. / : /value that/);
	});
});

test.each([undefined, 'text'])('%j is no credential', (given) => {
	expect(refusal(() => parseSettings(given)).message).toMatch(/^'Base URL' .* is missing$/);
});
