// Deterministic ECDSA on P-256 with SHA-256 (RFC 6979): the same key and message give the same signature in every process. Node's own signatures
// are random. The arithmetic here is not of constant time; it signs one message of our own, once in a process.
import { createECDH, createHash, createHmac } from 'node:crypto';
import { integer, sequence } from './der.ts';

/** The order of the group (FIPS 186-5, SP 800-186 section 3.2.1.3). */
export const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const SCALAR_BYTES = 32;

export function scalarOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

export function scalarBytes(scalar: bigint): Buffer {
  return Buffer.from(scalar.toString(16).padStart(2 * SCALAR_BYTES, '0'), 'hex');
}

/** The public point of a private scalar, uncompressed: 0x04, x, y. */
export function publicPoint(scalar: bigint): Buffer {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalarBytes(scalar));
  return curve.getPublicKey();
}

/** ECDSA-Sig-Value in DER (RFC 3279, section 2.2.3). @param privateScalar from 1 to the order less one */
export function signDeterministically(privateScalar: bigint, message: Uint8Array): Buffer {
  const digest = scalarOf(createHash('sha256').update(message).digest()) % P256_ORDER;
  for (const nonce of noncesOf(privateScalar, digest)) {
    const r = scalarOf(publicPoint(nonce).subarray(1, 1 + SCALAR_BYTES)) % P256_ORDER;
    const s = (inverse(nonce) * (digest + r * privateScalar)) % P256_ORDER;
    if (r !== 0n && s !== 0n) return sequence(integer(r), integer(s));
  }
  throw new Error('the nonces of a signature have no end');
}

/** RFC 6979, section 3.2. The first one does but for one key in 2^32. */
function* noncesOf(privateScalar: bigint, digest: bigint): Generator<bigint> {
  let mac = Buffer.alloc(SCALAR_BYTES, 1);
  let key = Buffer.alloc(SCALAR_BYTES, 0);
  const hmac = (...parts: readonly Uint8Array[]): Buffer<ArrayBuffer> => {
    const making = createHmac('sha256', key);
    for (const part of parts) making.update(part);
    return Buffer.from(making.digest());
  };
  const seed = Buffer.concat([scalarBytes(privateScalar), scalarBytes(digest)]);
  for (const round of [0, 1]) {
    key = hmac(mac, Buffer.from([round]), seed);
    mac = hmac(mac);
  }
  while (true) {
    mac = hmac(mac);
    const nonce = scalarOf(mac);
    if (nonce > 0n && nonce < P256_ORDER) yield nonce;
    key = hmac(mac, Buffer.from([0]));
    mac = hmac(mac);
  }
}

/** Modulo the order, which is prime: by Fermat's little theorem. */
function inverse(scalar: bigint): bigint {
  let [result, square] = [1n, scalar];
  for (let exponent = P256_ORDER - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * square) % P256_ORDER;
    square = (square * square) % P256_ORDER;
  }
  return result;
}
