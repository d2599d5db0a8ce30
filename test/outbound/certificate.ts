// A self-signed X.509 certificate for tests, written as DER by hand: Node makes keys and signatures but no certificates.
import { generateKeyPairSync, sign } from 'node:crypto';

/** A key and a certificate (PEM) that is valid now and for the given names and IPv4 addresses. */
export function selfSigned(names: readonly string[], addresses: readonly string[] = []): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(OID_ECDSA_SHA256);
  const subject = sequence(set(sequence(OID_COMMON_NAME, der(0x0c, Buffer.from('test receiver')))));
  const now = Date.now();
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    subject,
    sequence(utcTime(now - 86_400_000), utcTime(now + 86_400_000)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternativeNames(names, addresses))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

const OID_ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const OID_COMMON_NAME = Buffer.from('0603550403', 'hex');
const OID_ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');

function alternativeNames(names: readonly string[], addresses: readonly string[]): Buffer {
  const entries = [
    ...names.map((name) => der(0x82, Buffer.from(name))),
    ...addresses.map((address) => der(0x87, Buffer.from(address.split('.').map(Number)))),
  ];
  return sequence(OID_ALTERNATIVE_NAME, der(0x04, sequence(...entries)));
}

function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function set(...parts: readonly Buffer[]): Buffer {
  return der(0x31, ...parts);
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

/** In as few bytes as it takes: others read nothing else. */
function lengthOf(bytes: number): number[] {
  if (bytes < 0x80) return [bytes];
  return bytes < 0x100 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 0xff];
}
