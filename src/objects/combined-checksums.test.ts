import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ChecksumName, checksumOf } from '../core/credentials/aws-checksums.ts';
import { combinedChecksums } from './combined-checksums.ts';
import { packPartChecksums } from './part-checksums.ts';

const digestOf = (name: ChecksumName, bytes: Uint8Array) => {
  const checksum = checksumOf(name);
  checksum.update(bytes);
  return checksum.digest();
};

describe('the checksum of an object made of parts', () => {
  const bodies = [randomBytes(5_001), randomBytes(1), randomBytes(70_000), randomBytes(0), randomBytes(513)];
  const partsWith = (name: ChecksumName) =>
    bodies.map((body, i) => ({
      part_number: i + 1,
      bytes: BigInt(body.length),
      checksums: { [name]: digestOf(name, body) },
    }));

  for (const name of ['crc32', 'crc32c', 'crc64nvme'] as const) {
    it(`${name} of all bytes follows from those of the parts`, async () => {
      const whole = digestOf(name, Buffer.concat(bodies));
      const made = await combinedChecksums({ algorithm: name, type: 'FULL_OBJECT' }, partsWith(name), null);
      expect(made).toEqual({ [name]: whole, type: 'FULL_OBJECT' });
    });
  }

  it('a composite one is that of the checksums, with their number', async () => {
    const parts = partsWith('sha256');
    const bytes = Buffer.concat(parts.map(({ checksums }) => Buffer.from(checksums.sha256 as string, 'base64')));
    const made = await combinedChecksums({ algorithm: 'sha256', type: 'COMPOSITE' }, parts, null);
    expect(made.sha256).toBe(`${digestOf('sha256', bytes)}-5`);
  });

  it('takes 32 bytes a part to keep at most', () => {
    const [part] = partsWith('sha256');
    const parts = new Array(10_000).fill(part);
    expect(packPartChecksums('sha256', parts)).toHaveLength(320_001);
  });

  it('another one than was said is refused, and so is a part without one', async () => {
    const asked = { algorithm: 'crc32', type: 'FULL_OBJECT' } as const;
    const wrong = combinedChecksums(asked, partsWith('crc32'), { crc32: 'AAAAAA==' });
    await expect(wrong).rejects.toMatchObject({ detail: 'bad_digest' });
    await expect(combinedChecksums(asked, partsWith('crc32c'), null)).rejects.toMatchObject({ detail: 'part' });
  });
});
