// What lists are asked for, and what they answer.
import { describe, expect, test } from 'vitest';
import { isEncodedIn, listAsked, listFields, pageOf } from './listing.ts';
import { nameOf } from './wire/failures.ts';
import { addressOf } from './wire/operation.ts';

const failure = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return nameOf(error as never)[0];
  }
};

describe('a list', () => {
  const query = (text: string) => addressOf(`/s3/b?${text}`).query;
  const object = { key: 'a b', bytes: 3, etag: 'e', updatedMs: 0, checksums: { crc32: 'x', type: 'FULL_OBJECT' } };
  const page = { objects: [object], prefixes: ['c d/'], next: 'c d/' };
  const owner = { ID: 'acc' };

  test('of version 1 goes on behind a marker', () => {
    const asked = query('prefix=&delimiter=/&marker=a&max-keys=2&encoding-type=url');
    expect(listAsked(asked, false)).toEqual({ prefix: '', delimiter: '/', after: 'a', max: 2, isEncoded: true });
    expect(listFields('b', asked, page, owner)).toEqual({
      Name: 'b',
      Prefix: '',
      Marker: 'a',
      NextMarker: 'c%20d/',
      MaxKeys: 2,
      Delimiter: '/',
      EncodingType: 'url',
      IsTruncated: true,
      Contents: [
        {
          Key: 'a%20b',
          LastModified: '1970-01-01T00:00:00.000Z',
          ETag: '"e"',
          ChecksumAlgorithm: ['CRC32'],
          ChecksumType: 'FULL_OBJECT',
          Size: 3,
          StorageClass: 'STANDARD',
          Owner: owner,
        },
      ],
      CommonPrefixes: [{ Prefix: 'c%20d/' }],
    });
    expect(listFields('b', query('max-keys=1'), { ...page, prefixes: [] }, owner)).not.toHaveProperty('NextMarker');
  });

  test('of version 2 goes on behind a token', () => {
    const first = listFields('b', query('list-type=2&start-after=A'), page, owner);
    expect(first).toMatchObject({ KeyCount: 2, StartAfter: 'A', Contents: [{ Key: 'a b' }], IsTruncated: true });
    expect(first.Contents).not.toHaveProperty('0.Owner');
    const token = first.NextContinuationToken as string;
    expect(listAsked(query(`list-type=2&continuation-token=${token}&start-after=A`), true).after).toBe('c d/');
    expect(failure(() => listAsked(query('list-type=2&continuation-token=%25'), true))).toBe('InvalidArgument');
    expect(listAsked(query('list-type=2&continuation-token='), true).after).toBe('');
  });

  test.each([
    ['', 1_000],
    ['max-keys=', 1_000],
    ['max-keys=0', 0],
    ['max-keys=5000', 1_000],
    ['max-keys=-1', 'InvalidArgument'],
    ['max-keys=x', 'InvalidArgument'],
  ])('with %s has %o entries at most', (text, due) => {
    expect(failure(() => pageOf(query(text), 'max-keys'))).toBe(due);
  });

  test('knows one encoding', () => {
    expect(failure(() => isEncodedIn(query('encoding-type=base64')))).toBe('InvalidArgument');
  });
});
