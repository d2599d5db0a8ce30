// Body checksums of AWS clients: base64, big-endian (docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html). Node lacks
// only two of the CRCs; AWS's own package brings ten others and costs 50 ms at each start.
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type ChecksumName = 'crc32' | 'crc32c' | 'crc64nvme' | 'sha1' | 'sha256';

/** Of a digest. */
export const CHECKSUM_BYTES: Readonly<Record<ChecksumName, number>> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
};

export interface Checksum {
  update(bytes: Uint8Array): void;
  /** Base64, once. */
  digest(): string;
}

const crc32c = crcTable(0x82f63b78n);
const crc64nvme = crcTable(0x9a6c9329ac4bc9b5n);

const checksums: Readonly<Record<ChecksumName, () => Checksum>> = {
  crc32: () => new Crc32(),
  crc32c: () => new ReflectedCrc(crc32c, 4),
  crc64nvme: () => new ReflectedCrc(crc64nvme, 8),
  sha1: () => hashChecksum('sha1'),
  sha256: () => hashChecksum('sha256'),
};

export function isChecksumName(name: string): name is ChecksumName {
  return Object.hasOwn(checksums, name);
}

export function checksumOf(name: ChecksumName): Checksum {
  return checksums[name]();
}

class Crc32 implements Checksum {
  #value = 0;

  update(bytes: Uint8Array): void {
    this.#value = crc32(bytes, this.#value);
  }

  digest(): string {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(this.#value);
    return bytes.toString('base64');
  }
}

/** For each byte what it adds: the upper 32 bits, then the lower ones. */
type CrcTable = readonly [upper: Int32Array, lower: Int32Array];

/** `polynomial`: reflected, as the lowest bit goes first. */
function crcTable(polynomial: bigint): CrcTable {
  const values = Array.from({ length: 256 }, (_, byte) => {
    let value = BigInt(byte);
    for (let bit = 0; bit < 8; bit += 1) value = value & 1n ? (value >> 1n) ^ polynomial : value >> 1n;
    return value;
  });
  return [
    Int32Array.from(values, (value) => Number(value >> 32n)),
    Int32Array.from(values, (value) => Number(value & 0xffff_ffffn)),
  ];
}

/** A CRC of 32 or 64 bits, all ones at first and inverted at its end. */
class ReflectedCrc implements Checksum {
  readonly #table: CrcTable;
  readonly #bytes: 4 | 8;
  #upper: number;
  #lower = -1;

  constructor(table: CrcTable, bytes: 4 | 8) {
    this.#table = table;
    this.#bytes = bytes;
    this.#upper = bytes === 8 ? -1 : 0;
  }

  update(bytes: Uint8Array): void {
    const [uppers, lowers] = this.#table;
    let [upper, lower] = [this.#upper, this.#lower];
    for (const byte of bytes) {
      const at = (lower ^ byte) & 0xff;
      lower = ((lower >>> 8) | (upper << 24)) ^ (lowers[at] as number);
      upper = (upper >>> 8) ^ (uppers[at] as number);
    }
    this.#upper = upper;
    this.#lower = lower;
  }

  digest(): string {
    const bytes = Buffer.alloc(8);
    bytes.writeInt32BE(~this.#upper);
    bytes.writeInt32BE(~this.#lower, 4);
    return bytes.subarray(8 - this.#bytes).toString('base64');
  }
}

function hashChecksum(algorithm: string): Checksum {
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('base64') };
}
