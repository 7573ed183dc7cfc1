import { readNoConnection } from '../../../nodes/PushCampaign/service/noConnection';
import { noConnectionProblem } from '../../../nodes/PushCampaign/service/problems';

const coded = (code: string, more: object = {}) =>
	Object.assign(new Error(code), { code, ...more });
const causedBy = (cause: unknown) => new Error('wrapped', { cause });

const dnsCodes = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL'];
const certificateCodes = [
	...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
	...['INVALID_PURPOSE', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
];

describe('nothing was sent', () => {
	test.each([
		{ name: 'if the connection is refused', code: 'ECONNREFUSED', reason: 'connection refused' },
		...dnsCodes.map((code) => ({ name: `if DNS says ${code}`, code, reason: 'host not found' })),
		...certificateCodes.map((code) => ({
			name: `if the certificate is not accepted: ${code}`,
			code,
			reason: `its certificate was not accepted (${code})`,
		})),
		{
			name: 'if the address cannot be reached',
			...{ code: 'ETIMEDOUT', more: { syscall: 'connect' } },
			reason: 'the address cannot be reached',
		},
	])('$name', ({ code, reason, more = {} }: { code: string; reason: string; more?: object }) => {
		expect(readNoConnection(coded(code, more))).toMatchObject({ reason });
		expect(readNoConnection(causedBy(causedBy(coded(code, more))))).toMatchObject({ reason });
	});

	test('if no address of the host accepts a connection', () => {
		const attempts = new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')]);
		expect(readNoConnection(causedBy(attempts))).toMatchObject({ reason: 'connection refused' });
	});

	test('if n8n 1 keeps the code of its cause alone', () => {
		expect(readNoConnection({ httpCode: 'ENOTFOUND' })).toMatchObject({ reason: 'host not found' });
	});

	test('says what to mend, if it is not the address', () => {
		const refused = readNoConnection(coded('CERT_HAS_EXPIRED')) ?? { reason: '' };
		expect(refused.fix).toContain('NODE_EXTRA_CA_CERTS');
		expect(noConnectionProblem('push.example', refused)).toMatchObject({
			...{ fix: refused.fix, outcome: 'notSent' },
		});
		const closed = readNoConnection(coded('ECONNREFUSED')) ?? { reason: '' };
		expect(noConnectionProblem('push.example', closed).fix).toMatch(/^If it stays so, check /);
	});

	test('and of DNS, a host that does not exist stays wrong, while no answer passes by itself', () => {
		const problems = dnsCodes.map((code) =>
			noConnectionProblem('push.example', readNoConnection(coded(code)) ?? { reason: '' }),
		);
		const message = 'Could not connect to push.example: host not found';
		const checkIt = "heck 'Base URL' in the Push Campaign API credential.";
		const passes = { fix: `If it stays so, c${checkIt}`, cause: 'temporarily-unavailable' };
		expect(problems).toMatchObject([
			{ message, fix: `C${checkIt}`, cause: 'configuration-invalid' },
			...problems.slice(1).map(() => ({ message, ...passes })),
		]);
	});

	test.each(['SsrfBlockedHostnameError', 'SsrfBlockedIpError'])(
		'if this n8n does not allow requests to the address: %s',
		(name) => {
			const blocked = Object.assign(new Error('blocked'), { name });
			expect(readNoConnection(causedBy(blocked))).toMatchObject({
				reason: 'this n8n does not allow requests to it',
				fix: 'Ask the administrator of this n8n to allow requests to it.',
			});
		},
	);
});

describe('the request may have arrived', () => {
	const circle = causedBy(undefined);
	Object.assign(circle, { cause: circle });

	test.each([
		{ name: 'if the connection was reset', error: coded('ECONNRESET', { syscall: 'read' }) },
		{ name: 'if TLS failed', error: coded('EPROTO', { syscall: 'write' }) },
		{ name: 'if only the words say something else', error: new Error('connect ECONNREFUSED') },
		{ name: 'if an error is its own cause', error: circle },
		{ name: 'if what was thrown is no error', error: 'ECONNREFUSED' },
	])('$name', ({ error }) => {
		expect(readNoConnection(error)).toBeUndefined();
	});
});
