// What clients that are broken or hostile send: bodies that lie, keys with every byte, XML that grows, many ranges. Nothing of it is kept, and each
// is refused in the words of S3.
import { once } from 'node:events';
import { connect } from 'node:net';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signatureHeaders } from '../../src/lib/sigv4.ts';
import { DOMAIN, S3Bench } from './harness.ts';
import { exchange, type S3Request, send, sha256 } from './wire.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
  await bench.bucket('box');
});
afterAll(() => bench.stop());

const outcome = async (request: S3Request, by = bench) => {
  const { status, code } = await send(by, request);
  return [status, code];
};
const put = (key: string, body: string | Buffer, more: Partial<S3Request> = {}) =>
  outcome({ method: 'PUT', path: `/box/${key}`, body, ...more });
const isThere = async (key: string) => (await send(bench, { method: 'HEAD', path: `/box/${key}` })).status === 200;

describe('a body', () => {
  test.each<[string, Partial<S3Request>, string]>([
    ['another hash than was signed', { payload: sha256('other') }, 'XAmzContentSHA256Mismatch'],
    ['another MD5', { headers: { 'content-md5': 'XrY7u+Ae7tCTyyK7j1rNww==' } }, 'BadDigest'],
    ['no MD5', { headers: { 'content-md5': 'nonsense' } }, 'InvalidDigest'],
    ['another checksum', { headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } }, 'BadDigest'],
    ['no checksum', { headers: { 'x-amz-checksum-crc32': 'AA' } }, 'InvalidRequest'],
    [
      'two checksums',
      { headers: { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' } },
      'InvalidRequest',
    ],
    ['an algorithm that is none', { headers: { 'x-amz-sdk-checksum-algorithm': 'MD4' } }, 'InvalidRequest'],
    [
      'a form of chunks that is not served',
      { payload: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' },
      'XAmzContentSHA256Mismatch',
    ],
  ])('with %s is kept nowhere', async (name, more, code) => {
    const key = name.replaceAll(' ', '-');
    expect(await put(key, 'hello', more)).toEqual([400, code]);
    expect(await isThere(key)).toBe(false);
  });

  const chunked = (body: string, bytes: number) => ({
    body,
    payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    headers: {
      'x-amz-decoded-content-length': String(bytes),
      'x-amz-trailer': 'x-amz-checksum-crc32',
      'content-encoding': 'aws-chunked',
    },
  });
  test.each([
    ['is right', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 5, [200, null]],
    [
      'has another checksum behind it',
      '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n',
      5,
      [400, 'BadDigest'],
    ],
    ['has no checksum behind it', '5\r\nhello\r\n0\r\n\r\n', 5, [400, 'InvalidRequest']],
    ['is longer than it says', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 4, [400, 'IncompleteBody']],
    ['is shorter than it says', '5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n', 6, [400, 'IncompleteBody']],
    ['ends in a chunk', '9\r\nhello', 9, [400, 'IncompleteBody']],
    ['has chunks of no size', 'x\r\nhello\r\n0\r\n\r\n', 5, [400, 'InvalidRequest']],
  ])('in chunks that %s', async (name, body, bytes, due) => {
    const key = `chunks-${name.replaceAll(' ', '-')}`;
    expect(await put(key, '', chunked(body, bytes))).toEqual(due);
    expect(await isThere(key)).toBe(due[1] === null);
  });

  test('that stops is kept nowhere, and what stood there stays', async () => {
    await put('stopped', 'before');
    const { host, hostname, port } = new URL(bench.root);
    const headers = signatureHeaders(
      { method: 'PUT', url: '/box/stopped', headers: { host } },
      { ...bench.key, region: 'us-east-1' },
      'UNSIGNED-PAYLOAD',
      Date.now(),
    );
    const lines = Object.entries({ host, 'content-length': '1000000', ...headers }).map((pair) => pair.join(': '));
    const socket = connect(Number(port), hostname);
    socket.write(`PUT /box/stopped HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.end(Buffer.alloc(500_000));
    socket.resume();
    // The service has seen the end, and has answered what came later.
    await once(socket, 'close');
    expect(await put('later', 'x')).toEqual([200, null]);
    expect(await bench.text('box', 'stopped')).toBe('before');
  });

  test('without a length, or with one beyond 5 GiB, is not read', async () => {
    const unknown = { headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' } };
    expect(await put('endless', 'hello', { after: unknown })).toEqual([411, 'MissingContentLength']);
    const huge = { payload: 'UNSIGNED-PAYLOAD', headers: { 'content-length': String(5 * 2 ** 30 + 1) } };
    expect(await put('huge', 'x', huge)).toEqual([400, 'EntityTooLarge']);
  });

  test('has a type that is none, as its client sends it', async () => {
    for (const type of ['', 'x', 'no type at all']) {
      expect(await put('typed', 'x', { headers: { 'content-type': type } })).toEqual([200, null]);
      const { headers } = await send(bench, { path: '/box/typed' });
      expect(headers['content-type']).toBe(type === '' ? 'application/octet-stream' : type);
    }
  });
});

describe('a key', () => {
  test('may have every byte that UTF-8 has', async () => {
    for (let byte = 0; byte < 256; byte += 1) {
      const hex = byte.toString(16).padStart(2, '0');
      const [status] = await put(`byte-%${hex}`, hex);
      expect(status, hex).toBe(byte < 128 ? 200 : 400);
    }
    const { Body } = await bench.sdk.send(new GetObjectCommand({ Bucket: 'box', Key: 'byte-\u0000' }));
    expect(await Body?.transformToString()).toBe('00');
  });

  test('is the same however its client writes it, and no other', async () => {
    await put('x/../y', '1');
    for (const path of ['x/../y', 'x%2F..%2Fy', '%78/%2e%2e/y']) {
      expect((await send(bench, { path: `/box/${path}` })).text, path).toBe('1');
    }
    for (const path of ['y', 'x/..//y', 'X/../y', 'x/../y/', 'x%252F..%252Fy']) {
      expect(await outcome({ path: `/box/${path}` }), path).toEqual([404, 'NoSuchKey']);
    }
  });

  test('has 1,024 bytes at most', async () => {
    expect(await put('k'.repeat(1_024), 'x')).toEqual([200, null]);
    expect(await put('k'.repeat(1_025), 'x')).toEqual([400, 'KeyTooLongError']);
    expect(await put('%C3%A9'.repeat(513), 'x')).toEqual([400, 'KeyTooLongError']);
  });
});

describe('XML', () => {
  const remove = (body: string) => outcome({ method: 'POST', path: '/box?delete', body });
  const keys = (count: number) =>
    `<Delete>${Array.from({ length: count }, (_, i) => `<Object><Key>none-${i}</Key></Object>`).join('')}</Delete>`;

  test.each([
    ['a thousand keys', keys(1_000), [200, null]],
    ['a key more', keys(1_001), [400, 'MalformedXML']],
    ['no keys', '<Delete/>', [400, 'MalformedXML']],
    ['no XML', '{"keys": []}', [400, 'MalformedXML']],
    ['nothing', '', [400, 'MalformedXML']],
    [
      'entities that grow',
      `<!DOCTYPE l [<!ENTITY a "${'x'.repeat(1_000)}"><!ENTITY b "${'&a;'.repeat(100)}">]><Delete><Object><Key>&b;</Key></Object></Delete>`,
      [400, 'MalformedXML'],
    ],
    [
      'a file of ours',
      '<!DOCTYPE l [<!ENTITY a SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&a;</Key></Object></Delete>',
      [400, 'MalformedXML'],
    ],
    ['levels without end', `<Delete>${'<a>'.repeat(100_000)}`, [400, 'MalformedXML']],
    ['names that objects have', '<Delete><__proto__><Key>x</Key></__proto__></Delete>', [400, 'MalformedXML']],
  ])('with %s is answered in its own words', async (_, body, due) => {
    expect(await remove(body)).toEqual(due);
  });

  // Behind the bound stands what is no XML: it is not looked at.
  const crowd = (count: number) => `${'x<b/>'.repeat(count)}<<<`;
  test.each<[string, S3Request]>([
    ['?delete, short', { method: 'POST', path: '/box?delete', body: `<Delete>${crowd(13_000)}` }],
    ['?delete, of megabytes', { method: 'POST', path: '/box?delete', body: `<Delete>${crowd(400_000)}` }],
    [
      'CompleteMultipartUpload',
      { method: 'POST', path: '/box/k?uploadId=x', body: `<CompleteMultipartUpload>${crowd(600_000)}` },
    ],
    ['?tagging', { method: 'PUT', path: '/box/k?tagging', body: `<Tagging>${crowd(6_000)}` }],
    ['CreateBucket', { method: 'PUT', path: '/crowd', body: `<CreateBucketConfiguration>${crowd(3_000)}` }],
    ['?lifecycle', { method: 'PUT', path: '/box?lifecycle', body: `<LifecycleConfiguration>${crowd(12_000)}` }],
    [
      '?notification',
      { method: 'PUT', path: '/box?notification', body: `<NotificationConfiguration>${crowd(12_000)}` },
    ],
  ])('of too many parts is refused before they are made: %s', async (_, request) => {
    const { status, code, text } = await send(bench, request);
    expect([status, code]).toEqual([400, 'MalformedXML']);
    expect(text).toMatch(/may have \d+ elements, attributes and texts/);
  });

  test('has room for all that an operation can need', async () => {
    const key = (i: number) => `${'&amp;'.repeat(200)}${'k'.repeat(820)}${i}`;
    const objects = Array.from({ length: 1_000 }, (_, i) => `  <Object>\n    <Key>${key(i)}</Key>\n  </Object>\n`);
    expect(await remove(`<Delete>\n${objects.join('')}</Delete>`)).toEqual([200, null]);
    const checksum = `<ChecksumSHA256>${'A'.repeat(43)}=</ChecksumSHA256>`;
    const parts = Array.from({ length: 10_000 }, (_, i) => {
      const etag = `<ETag>&quot;${'a'.repeat(32)}&quot;</ETag>`;
      return `\t<Part>\n\t\t<PartNumber>${i + 1}</PartNumber>\n\t\t${etag}\n\t\t${checksum}\n\t</Part>\n`;
    });
    const body = `<CompleteMultipartUpload>\n${parts.join('')}</CompleteMultipartUpload>`;
    expect(await outcome({ method: 'POST', path: '/box/k?uploadId=none', body })).toEqual([404, 'NoSuchUpload']);
  });

  test('that is too long is not read', async () => {
    expect(await remove(' '.repeat(7 * 2 ** 20))).toEqual([400, 'EntityTooLarge']);
    expect(await remove(' '.repeat(2 * 2 ** 20 + 1))).toEqual([400, 'MalformedXML']);
    const long = `<Tagging>${' '.repeat(100_000)}</Tagging>`;
    expect(await outcome({ method: 'PUT', path: '/box/k?tagging', body: long })).toEqual([400, 'MalformedXML']);
  });
});

describe('a read', () => {
  test('of many ranges, or of none that is one, is of the whole', async () => {
    await put('ranges', 'abcdefghij');
    const many = Array.from({ length: 500 }, (_, i) => `${i % 10}-${i % 10}`).join(',');
    for (const range of [`bytes=${many}`, 'bytes=x', 'bytes=5-1', 'lines=1-2', 'bytes=-']) {
      const { status, text } = await send(bench, { path: '/box/ranges', headers: { range } });
      expect([status, text], range.slice(0, 20)).toEqual([200, 'abcdefghij']);
    }
    expect(await outcome({ path: '/box/ranges', headers: { range: 'bytes=99999999999999-' } })).toEqual([
      416,
      'InvalidRange',
    ]);
    expect(await outcome({ path: '/box/ranges', headers: { range: 'bytes=-0' } })).toEqual([416, 'InvalidRange']);
  });

  test('that fails names its bucket and key, whatever the address it came to', async () => {
    const resource = async (root: string, path: string, headers = {}) => {
      const { text } = await send({ root, key: bench.key }, { path, headers });
      return /<Resource>(.*)<\/Resource>/.exec(text)?.[1];
    };
    expect(await resource(bench.root, '/box/a%20b?x=1')).toBe('/box/a%20b');
    expect(await resource(bench.url, '/s3/box/a%20b?x=1')).toBe('/box/a%20b');
    expect(await resource(bench.url, '/a%20b?x=1', { host: `box.${DOMAIN}` })).toBe('/box/a%20b');
    expect(await resource(bench.url, '/s3?acl')).toBe('/');
  });

  test('that fails tells HEAD by its status alone', async () => {
    const reply = await send(bench, { method: 'HEAD', path: '/box/none' });
    expect([reply.status, reply.text, reply.headers['x-amz-request-id']]).toEqual([
      404,
      '',
      expect.stringMatching(/^req_/),
    ]);
  });
});

describe('what is not signed by version 4', () => {
  const unsigned = (method: string, path: string, headers: Record<string, string> = {}, body = '') =>
    exchange(bench.root, method, path, { 'content-length': String(body.length), ...headers }, body);

  test.each<[string, string, Record<string, string>]>([
    ['a presigned address of boto3 as it comes', '/box/k?AWSAccessKeyId=a&Signature=b&Expires=1', {}],
    ['a header of version 2', '/box/k', { authorization: 'AWS a:b' }],
  ])('%s is told what to set', async (_, path, headers) => {
    const { status, code, text } = await unsigned('GET', path, headers);
    expect([status, code]).toEqual([400, 'InvalidRequest']);
    expect(text).toContain("signature_version='s3v4'");
  });

  test('is not let in', async () => {
    const of = async (reply: ReturnType<typeof unsigned>) => [(await reply).status, (await reply).code];
    expect(await of(unsigned('POST', '/box?delete'))).toEqual([403, 'AccessDenied']);
    expect(await of(unsigned('GET', '/box/k'))).toEqual([403, 'AccessDenied']);
  });
});

test('a list of keys to delete is read, however many bytes it has', async () => {
  const Bucket = await bench.bucket('delete-sizes');
  await bench.put(Bucket, 'k', 'x');
  for (const bytes of [3_000, 5_000, 20_000, 32_000]) {
    const body = `<Delete>${'<Object><Key>k</Key></Object>'.repeat(Math.ceil(bytes / 29))}</Delete>`;
    const reply = await send(bench, { method: 'POST', path: `/${Bucket}?delete`, body });
    expect([bytes, reply.status]).toEqual([bytes, bytes > 29_000 ? 400 : 200]);
  }
});
