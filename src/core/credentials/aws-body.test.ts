// The examples of AWS's documentation (sigv4-streaming, sigv4-streaming-trailers), with its keys, and what may be wrong with a body.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from 'vitest';
import { signingKey } from '../../lib/sigv4.ts';
import { awsBodyProof, type Signing } from './aws-body.ts';
import { type ChecksumName, checksumOf } from './aws-checksums.ts';

const scope = '20130524/us-east-1/s3/aws4_request';
const key = signingKey('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', scope);
const bytes = Buffer.alloc(66_560, 'a');
const NAMES = ['crc32', 'crc32c', 'crc64nvme', 'sha1', 'sha256'] as const;

interface Sent {
  readonly signing: Signing;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

function signing(payload: string, signature: string): Signing {
  return { key, instant: '20130524T000000Z', scope, signature, payload };
}

function chunks(signatures: readonly string[], end: string): Buffer {
  const [one, two, last] = signatures;
  const head = (size: string, signature = '') => Buffer.from(`${size};chunk-signature=${signature}\r\n`);
  const crlf = Buffer.from('\r\n');
  const [first, second] = [bytes.subarray(0, 65_536), bytes.subarray(65_536)];
  return Buffer.concat([
    head('10000', one),
    first,
    crlf,
    head('400', two),
    second,
    crlf,
    head('0', last),
    Buffer.from(end),
  ]);
}

const signed: Sent = {
  signing: signing(
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  ),
  headers: { 'x-amz-decoded-content-length': '66560' },
  body: chunks(
    [
      'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
      '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
      'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    ],
    '\r\n',
  ),
};
const withTrailer: Sent = {
  signing: signing(
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e',
  ),
  headers: { 'x-amz-decoded-content-length': '66560', 'x-amz-trailer': 'x-amz-checksum-crc32c' },
  body: chunks(
    [
      'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
      '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
      '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
    ],
    'x-amz-checksum-crc32c:sOO8/Q==\r\n' +
      'x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n',
  ),
};

function unsigned(name: ChecksumName, end?: string): Sent {
  const checksum = checksumOf(name);
  checksum.update(bytes.subarray(0, 1_000));
  checksum.update(bytes.subarray(1_000));
  const trailer = end ?? `x-amz-checksum-${name}:${checksum.digest()}\r\n\r\n`;
  return {
    signing: signing('STREAMING-UNSIGNED-PAYLOAD-TRAILER', ''),
    headers: { 'x-amz-decoded-content-length': '66560', 'x-amz-trailer': `x-amz-checksum-${name}` },
    body: Buffer.concat([Buffer.from('10400\r\n'), bytes, Buffer.from(`\r\n0\r\n${trailer}`)]),
  };
}

/** In blocks of so many bytes. */
async function* blocks(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

async function read({ signing: by, headers, body }: Sent, size = 1 << 20): Promise<Buffer> {
  const parts: Buffer[] = [];
  const proof = awsBodyProof(by, headers);
  for await (const part of proof?.read(blocks(body, size)) ?? []) parts.push(part);
  return Buffer.concat(parts);
}

const flipped = ({ body, ...rest }: Sent, at: number): Sent => {
  const changed = Buffer.from(body);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return { ...rest, body: changed };
};
const refused = (sent: Sent) => expect(Promise.resolve(sent).then((each) => read(each))).rejects;

describe('a body in chunks', () => {
  test.each([1, 7, 1_000, 65_536, 1 << 20])('is read from blocks of %i bytes', async (size) => {
    for (const sent of [signed, withTrailer, unsigned('crc32')]) {
      expect((await read(sent, size)).equals(bytes)).toBe(true);
    }
  });

  test('says how long it is without them', () => {
    expect(awsBodyProof(signed.signing, signed.headers)?.bytes).toBe(66_560);
  });

  test('with a changed byte is refused by the signature of its chunk', async () => {
    for (const sent of [signed, withTrailer]) {
      for (const at of [200, 66_000]) {
        await refused(flipped(sent, at)).toMatchObject({ code: 'INVALID_API_KEY', detail: 'signature' });
      }
    }
  });

  test('cannot end early: the last chunk is signed too', async () => {
    const short = { ...signed, body: signed.body.subarray(0, signed.body.length - 90) };
    await refused(short).toMatchObject({ detail: 'incomplete_body' });
    const without = Buffer.concat([signed.body.subarray(0, 65_536 + 87), Buffer.from('0\r\n\r\n')]);
    await refused({ ...signed, headers: { 'x-amz-decoded-content-length': '65536' }, body: without }).toMatchObject({
      code: 'INVALID_API_KEY',
    });
  });

  test.each(NAMES)('and a checksum of %s behind it is compared with it', async (name) => {
    expect((await read(unsigned(name))).equals(bytes)).toBe(true);
    await refused(flipped(unsigned(name), 5_000)).toMatchObject({ code: 'INVALID_REQUEST', detail: 'checksum' });
    await refused(unsigned(name, '\r\n')).toMatchObject({ detail: 'trailer' });
  });

  test('has a signed trailer where it says so', async () => {
    const text = withTrailer.body.toString('latin1');
    const changed = Buffer.from(text.replace('sOO8/Q==', 'sOO8/A=='), 'latin1');
    await refused({ ...withTrailer, body: changed }).toMatchObject({ code: 'INVALID_API_KEY' });
    const bare = Buffer.from(text.replace(/x-amz-trailer-signature:.*\r\n/, ''), 'latin1');
    await refused({ ...withTrailer, body: bare }).toMatchObject({ code: 'INVALID_API_KEY' });
  });

  test.each([
    ['shorter than it says', { 'x-amz-decoded-content-length': '66561' }, 'decoded_length'],
    ['longer than it says', { 'x-amz-decoded-content-length': '66559' }, 'decoded_length'],
    ['of a length that is not told', { 'x-amz-decoded-content-length': undefined }, 'decoded_length'],
    ['of a checksum that is not known', { 'x-amz-trailer': 'x-amz-checksum-md4' }, 'trailer'],
  ])('%s is refused', async (_what, headers, detail) => {
    const sent = unsigned('crc32');
    await refused({ ...sent, headers: { ...sent.headers, ...headers } }).toMatchObject({
      code: 'INVALID_REQUEST',
      detail,
    });
  });

  test.each([
    ['no size', 'zzz\r\n', 'chunk'],
    ['a line without end', '1'.repeat(10_000), 'chunk'],
    ['chunks of a byte', '1\r\na\r\n'.repeat(66_560), 'chunk'],
    ['a chunk longer than it says', '2\r\naaaa\r\n', 'chunk'],
    ['too many trailers', `10400\r\n${bytes}\r\n0\r\n${[1, 2, 3, 4, 5].map((i) => `x${i}:y\r\n`).join('')}`, 'trailer'],
  ])('of %s is refused', async (_what, body, detail) => {
    await refused({ ...unsigned('crc32'), body: Buffer.from(body) }).toMatchObject({ detail });
  });
});

describe('a body', () => {
  const whole = (payload: string): Sent => ({ signing: signing(payload, ''), headers: {}, body: bytes });

  test('is the one whose hash was signed', async () => {
    const sent = whole(createHash('sha256').update(bytes).digest('hex'));
    expect((await read(sent, 1_000)).equals(bytes)).toBe(true);
    await refused(flipped(sent, 66_559)).toMatchObject({ code: 'INVALID_REQUEST', detail: 'content_sha256' });
  });

  test('is anything where nothing is said of it', () => {
    expect(awsBodyProof(whole('UNSIGNED-PAYLOAD').signing, {})).toBeNull();
  });

  test.each(['', 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER-TRAILER'])(
    'of which %j is said is refused',
    async (payload) => {
      await refused(whole(payload)).toMatchObject({ code: 'INVALID_REQUEST', detail: 'content_sha256' });
    },
  );
});

test('checksums are those of others', () => {
  const of = (name: ChecksumName) => {
    const checksum = checksumOf(name);
    checksum.update(Buffer.from('123456789'));
    return checksum.digest();
  };
  // The check values of the catalogue of parametrised CRC algorithms, and of FIPS 180.
  const hex = NAMES.map((name) => Buffer.from(of(name), 'base64').toString('hex'));
  expect(hex.slice(0, 3)).toEqual(['cbf43926', 'e3069283', 'ae8b14860a799888']);
  expect(hex[3]).toBe('f7c3bc1d808e04732adf679965ccc34ca7ae3441');
});
