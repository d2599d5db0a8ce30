// The certificate authority of a deployment. Its key is derived from the server secret, and its certificate signed deterministically: every process
// on every machine has the same bytes, and nothing is stored. Certificates as RFC 5280 has them.
import { createHash, createPrivateKey, type KeyObject, randomBytes, sign } from 'node:crypto';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { readAddress } from '../../../lib/address.ts';
import {
  bitString,
  explicit,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
  setOf,
  TRUE,
  time,
  utf8String,
} from './der.ts';
import { P256_ORDER, publicPoint, scalarBytes, scalarOf, signDeterministically } from './rfc6979.ts';

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecPublicKey: '1.2.840.10045.2.1',
  prime256v1: '1.2.840.10045.3.1.7',
  organizationName: '2.5.4.10',
  commonName: '2.5.4.3',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
};
const ORGANIZATION = 'Quartermaster';
/** 64 bits more than the scalar, so that none is more likely (FIPS 186-5, A.2.1). */
const SCALAR_SEED_BYTES = 40;
const SERIAL_BYTES = 16;
/** The upper bound of X.520 for a common name. */
const COMMON_NAME_CHARACTERS_MAX = 64;
/** Fixed, as all of the certificate is. */
const CA_VALIDITY: Validity = { from: new Date('2025-01-01T00:00:00Z'), until: new Date('2055-01-01T00:00:00Z') };
/** Bits of KeyUsage with the number of unused ones: keyCertSign and cRLSign; digitalSignature. */
const CA_USAGE = bitString(Buffer.from([0b0000_0110]), 1);
const LEAF_USAGE = bitString(Buffer.from([0b1000_0000]), 7);

interface Validity {
  readonly from: Date;
  readonly until: Date;
}

interface Subject {
  readonly serial: bigint;
  readonly name: Buffer;
  readonly validity: Validity;
  /** SubjectPublicKeyInfo. */
  readonly publicKey: Buffer;
  readonly extensions: readonly Buffer[];
}

export class CertificateAuthority {
  /** PEM, with a line end. */
  readonly pem: string;
  readonly #key: KeyObject;
  readonly #name: Buffer;
  readonly #keyId: Buffer;

  constructor(secrets: Pick<Secrets, 'derive' | 'fingerprint'>) {
    const scalar = (scalarOf(secrets.derive('vault-ca', SCALAR_SEED_BYTES)) % (P256_ORDER - 1n)) + 1n;
    const point = publicPoint(scalar);
    this.#key = privateKeyOf(scalar, point);
    this.#name = nameOf(`${ORGANIZATION} CA ${secrets.fingerprint.slice(0, 16)}`);
    // RFC 5280, section 4.2.1.2, method 1.
    this.#keyId = createHash('sha1').update(point).digest();
    const subject = {
      serial: scalarOf(createHash('sha256').update(point).digest().subarray(0, SERIAL_BYTES)),
      name: this.#name,
      validity: CA_VALIDITY,
      publicKey: publicKeyInfo(point),
      extensions: [
        extension(OID.basicConstraints, sequence(TRUE, integer(0n)), true),
        extension(OID.keyUsage, CA_USAGE, true),
        extension(OID.subjectKeyIdentifier, octetString(this.#keyId)),
      ],
    };
    this.pem = this.#issue(subject, (unsigned) => signDeterministically(scalar, unsigned));
  }

  /**
   * A certificate for a server, in PEM.
   * @param host a name in lower case, or an address without brackets
   * @param publicKey SubjectPublicKeyInfo in DER
   */
  issueLeaf(host: string, publicKey: Buffer, validity: Validity): string {
    const subject = {
      serial: scalarOf(randomBytes(SERIAL_BYTES)),
      name: nameOf(host.length <= COMMON_NAME_CHARACTERS_MAX ? host : null),
      validity,
      publicKey,
      extensions: [
        extension(OID.basicConstraints, sequence(), true),
        extension(OID.keyUsage, LEAF_USAGE, true),
        extension(OID.extKeyUsage, sequence(oid(OID.serverAuth))),
        extension(OID.subjectAltName, sequence(generalName(host))),
        extension(OID.authorityKeyIdentifier, sequence(implicit(0, this.#keyId))),
      ],
    };
    return this.#issue(subject, (unsigned) => sign('sha256', unsigned, this.#key));
  }

  #issue({ serial, name, validity, publicKey, extensions }: Subject, signatureOf: (unsigned: Buffer) => Buffer) {
    const algorithm = sequence(oid(OID.ecdsaWithSha256));
    const version3 = explicit(0, integer(2n));
    const times = sequence(time(validity.from), time(validity.until));
    const unsigned = sequence(
      version3,
      integer(serial),
      algorithm,
      this.#name,
      times,
      name,
      publicKey,
      explicit(3, sequence(...extensions)),
    );
    return pemOf(sequence(unsigned, algorithm, bitString(signatureOf(unsigned))));
  }
}

/** The certificate of the deployment's authority, in PEM: what clients of the proxy trust. */
export function caPem(secrets: Pick<Secrets, 'derive' | 'fingerprint'>): string {
  return new CertificateAuthority(secrets).pem;
}

function privateKeyOf(scalar: bigint, point: Buffer): KeyObject {
  const [d, x, y] = [scalarBytes(scalar), point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  );
  return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', d, x, y } });
}

function publicKeyInfo(point: Buffer): Buffer {
  return sequence(sequence(oid(OID.ecPublicKey), oid(OID.prime256v1)), bitString(point));
}

function nameOf(commonName: string | null): Buffer {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), utf8String(value)));
  const organization = attribute(OID.organizationName, ORGANIZATION);
  return commonName === null ? sequence(organization) : sequence(organization, attribute(OID.commonName, commonName));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  return isCritical ? sequence(oid(id), TRUE, octetString(value)) : sequence(oid(id), octetString(value));
}

/** RFC 5280, section 4.2.1.6: `[2]` is a dNSName, `[7]` an iPAddress. */
function generalName(host: string): Buffer {
  const address = readAddress(host);
  return address === null ? implicit(2, Buffer.from(host, 'ascii')) : implicit(7, Buffer.from(address.toByteArray()));
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
