// Checksums of objects made of parts: of the parts' checksums (COMPOSITE), or of all bytes, computed from the parts' checksums (FULL_OBJECT),
// which CRCs allow (docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html; zlib's crc32_combine).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ChecksumName, checksumOf } from '../core/credentials/aws-checksums.ts';
import { invalidField } from '../problems/problem.ts';
import type { Checksums } from './object.ts';

export interface UploadChecksum {
  readonly algorithm: ChecksumName;
  readonly type: 'FULL_OBJECT' | 'COMPOSITE';
}

interface Part {
  readonly part_number: number;
  readonly bytes: bigint;
  readonly checksums: Checksums | null;
}

/** For each bit what it becomes. */
type Matrix = readonly bigint[];

const crcs: Readonly<Partial<Record<ChecksumName, { readonly bits: number; readonly polynomial: bigint }>>> = {
  crc32: { bits: 32, polynomial: 0xedb88320n },
  crc32c: { bits: 32, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n },
};
const PARTS_PER_TURN = 64;

/** Throws VALIDATION_FAILED for a part without one, or where the whole is not what was said. */
export async function combinedChecksums(
  { algorithm, type }: UploadChecksum,
  parts: readonly Part[],
  said: Checksums | null,
): Promise<Checksums> {
  const digests = parts.map(({ part_number, checksums }) => {
    const digest = checksums?.[algorithm];
    if (digest === undefined)
      throw invalidField('parts', 'part', `Part ${part_number} was uploaded without ${algorithm}.`);
    return Buffer.from(digest, 'base64');
  });
  const whole = type === 'COMPOSITE' ? composite(algorithm, digests) : await wholeCrc(algorithm, parts, digests);
  const expected = said?.[algorithm];
  if (expected !== undefined && expected !== whole) {
    throw invalidField(algorithm, 'bad_digest', `The parts together do not have this ${algorithm}.`);
  }
  return { [algorithm]: whole, type };
}

function composite(algorithm: ChecksumName, digests: readonly Buffer[]): string {
  const checksum = checksumOf(algorithm);
  for (const digest of digests) checksum.update(digest);
  return `${checksum.digest()}-${digests.length}`;
}

async function wholeCrc(algorithm: ChecksumName, parts: readonly Part[], digests: readonly Buffer[]): Promise<string> {
  const crc = crcs[algorithm];
  if (crc === undefined) throw new TypeError(`${algorithm} of all bytes does not follow from those of parts`);
  const shifts = new Map<bigint, Matrix>();
  let sum = 0n;
  for (const [i, digest] of digests.entries()) {
    const bytes = parts[i]?.bytes as bigint;
    const shift = shifts.get(bytes) ?? shiftOf(crc, bytes);
    if (shifts.size < PARTS_PER_TURN) shifts.set(bytes, shift);
    sum = multiplyMatrix(shift, sum) ^ BigInt(`0x${digest.toString('hex')}`);
    if (i % PARTS_PER_TURN === PARTS_PER_TURN - 1) await nextTurn();
  }
  return Buffer.from(sum.toString(16).padStart(crc.bits / 4, '0'), 'hex').toString('base64');
}

/** What so many bytes behind it do to a CRC. */
function shiftOf({ bits, polynomial }: { readonly bits: number; readonly polynomial: bigint }, bytes: bigint): Matrix {
  const identity = Array.from({ length: bits }, (_, i) => 1n << BigInt(i));
  // One bit: the lowest one goes out and brings the polynomial in.
  let power: Matrix = [polynomial, ...identity.slice(0, -1)];
  let shift: Matrix = identity;
  for (let left = bytes * 8n; left > 0n; left >>= 1n) {
    if (left & 1n) shift = product(power, shift);
    power = product(power, power);
  }
  return shift;
}

const product = (a: Matrix, b: Matrix): Matrix => b.map((column) => multiplyMatrix(a, column));

function multiplyMatrix(matrix: Matrix, vector: bigint): bigint {
  let sum = 0n;
  for (let left = vector, i = 0; left > 0n; left >>= 1n, i += 1) if (left & 1n) sum ^= matrix[i] as bigint;
  return sum;
}
