import { generateKeyPairSync, sign } from 'node:crypto';

// Just enough of X.509 (RFC 5280) to write a certificate that nobody has signed but itself.

const tlv = (tag: number, ...parts: Buffer[]): Buffer => {
	const value = Buffer.concat(parts);
	const { length } = value;
	const size =
		length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length];
	return Buffer.concat([Buffer.from([tag, ...size]), value]);
};
const sequence = (...parts: Buffer[]) => tlv(0x30, ...parts);
const integer = (value: number) => tlv(0x02, Buffer.from([value]));
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'));
const utcTime = (year: number) => tlv(0x17, Buffer.from(`${year % 100}0101000000Z`));

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const commonName = (name: string) =>
	sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))));

const pem = (label: string, der: Buffer) =>
	`-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${label}-----\n`;

/**
 * Makes a self-signed certificate with its key, both PEM.
 * @param years the first and the last year of its validity, between 2000 and 2049
 */
export function selfSigned(name: string, [from, until] = [2020, 2049]) {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
	const content = sequence(
		tlv(0xa0, integer(2)),
		integer(1),
		ecdsaWithSha256,
		commonName(name),
		sequence(utcTime(from ?? 2020), utcTime(until ?? 2049)),
		commonName(name),
		publicKey.export({ type: 'spki', format: 'der' }),
	);
	const signature = sign('sha256', content, privateKey);
	const certificate = sequence(content, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature));
	return {
		cert: pem('CERTIFICATE', certificate),
		key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
	};
}
