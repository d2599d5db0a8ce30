// What clients that are broken or hostile send: bodies that lie, signatures that are not right, keys with every byte, XML that grows. Nothing of it
// is kept, and each is refused in the words of S3.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signatureHeaders } from '../../src/lib/sigv4.ts';
import { jsonRequest, signedHeaders } from '../support/sqs.ts';
import { failureOf, S3Bench } from './harness.ts';
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
    socket.write(Buffer.alloc(500_000));
    await sleep(200);
    socket.destroy();
    await sleep(200);
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

describe('a signature', () => {
  const read: S3Request = { path: '/box/k?list=1' };
  test.each<[string, number, string | null, Partial<S3Request>]>([
    ['that is right', 404, 'NoSuchKey', {}],
    ['of another path', 403, 'SignatureDoesNotMatch', { after: { path: '/box/j?list=1' } }],
    ['of another query', 403, 'SignatureDoesNotMatch', { after: { path: '/box/k?list=2' } }],
    ['of another host', 403, 'SignatureDoesNotMatch', { after: { headers: { host: 'elsewhere' } } }],
    ['without a header of AWS', 403, 'SignatureDoesNotMatch', { after: { headers: { 'x-amz-acl': 'private' } } }],
    ['of an hour ago', 403, 'RequestTimeTooSkewed', { nowMs: Date.now() - 3_600_000 }],
    ['of an hour ahead', 403, 'RequestTimeTooSkewed', { nowMs: Date.now() + 3_600_000 }],
    ['of no key', 403, 'InvalidAccessKeyId', { accessKeyId: 'key_nobody' }],
    ['of version 2', 400, 'InvalidRequest', { after: { headers: { authorization: 'AWS AKIA:c2lnbmF0dXJl' } } }],
    ['by a bearer key', 400, 'InvalidRequest', { after: { headers: { authorization: 'Bearer x' } } }],
  ])('%s is answered %s', async (_, status, code, more) => {
    expect(await outcome({ ...read, ...more })).toEqual([status, code]);
  });

  test('for another service, or none, lets nobody in', async () => {
    const { path = '', ...request } = { ...jsonRequest('ListQueues', {}), path: '/' };
    const headers = signedHeaders(bench.root, { ...request, path }, bench.key);
    expect(await exchange(bench.root, 'POST', path, headers, request.body)).toMatchObject({
      code: 'SignatureDoesNotMatch',
    });
    expect(await exchange(bench.root, 'GET', '/', {})).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await exchange(bench.root, 'GET', '/box/k?Signature=x&AWSAccessKeyId=y&Expires=1', {})).toMatchObject({
      status: 400,
    });
  });

  test('in an address ends when it says, and is for nothing else', async () => {
    const { body } = await bench.rest('POST', '/v1/storage/presign', {
      bucket: 'box',
      key: 'k',
      method: 'GET',
      expires_seconds: 1,
    });
    const { pathname, search, origin } = new URL(body.data.url);
    const get = async (query: string, headers = {}) => {
      const { status, code } = await exchange(origin, 'GET', pathname + query, {
        host: new URL(origin).host,
        ...headers,
      });
      return [status, code];
    };
    expect(await get(search)).toEqual([404, 'NoSuchKey']);
    expect(await get(search.replace('Expires=1&', 'Expires=9&'))).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await get(`${search}&response-content-type=text/html`)).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await get(search, { 'x-amz-meta-more': '1' })).toEqual([403, 'SignatureDoesNotMatch']);
    await sleep(2_100);
    expect(await get(search)).toEqual([403, 'AccessDenied']);
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

  test('that is too long is not read', async () => {
    expect(await remove(' '.repeat(7 * 2 ** 20))).toEqual([400, 'EntityTooLarge']);
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

  test('that fails tells HEAD by its status alone', async () => {
    const reply = await send(bench, { method: 'HEAD', path: '/box/none' });
    expect([reply.status, reply.text, reply.headers['x-amz-request-id']]).toEqual([
      404,
      '',
      expect.stringMatching(/^req_/),
    ]);
  });
});

describe('rights', () => {
  test('are those of the key', async () => {
    const reader = await bench.withScopes(['storage:read']);
    await put('readable', 'x');
    expect(await outcome({ path: '/box/readable' }, reader)).toEqual([200, null]);
    for (const request of [
      { method: 'PUT', path: '/box/k', body: 'x' },
      { method: 'PUT', path: '/new-box' },
      { method: 'DELETE', path: '/box/readable' },
      { method: 'POST', path: '/box?delete', body: '<Delete/>' },
      { method: 'POST', path: '/box/k?uploads' },
      { method: 'PUT', path: '/box/readable?tagging', body: '<Tagging/>' },
      { method: 'PUT', path: '/box?lifecycle', body: '<x/>' },
    ]) {
      expect(await outcome(request, reader), request.path).toEqual([403, 'AccessDenied']);
    }
    const other = await bench.withScopes(['queue']);
    expect(await outcome({ path: '/' }, other)).toEqual([403, 'AccessDenied']);
  });

  test("end at the account: its uploads and sources are nobody else's", async () => {
    const other = await bench.withAccount();
    await other.bucket('box');
    await other.bucket('theirs');
    await other.put('theirs', 'secret', 'x');
    const { UploadId } = await other.sdk.send(new CreateMultipartUploadCommand({ Bucket: 'box', Key: 'k' }));
    const part = new UploadPartCommand({ Bucket: 'box', Key: 'k', UploadId, PartNumber: 1, Body: 'x' });
    expect(await failureOf(bench.sdk.send(part))).toMatchObject({ name: 'NoSuchUpload' });
    const copy = new CopyObjectCommand({ Bucket: 'box', Key: 'stolen', CopySource: 'theirs/secret' });
    expect(await failureOf(bench.sdk.send(copy))).toMatchObject({ name: 'NoSuchBucket' });
    expect(await outcome({ path: '/theirs/secret' })).toEqual([404, 'NoSuchBucket']);
    other.sdk.destroy();
  });

  test('are for the account that the client expects', async () => {
    await put('expected', 'x');
    const read = (owner: string) =>
      outcome({ path: '/box/expected', headers: { 'x-amz-expected-bucket-owner': owner } });
    expect(await read(bench.account.accountId)).toEqual([200, null]);
    expect(await read('123456789012')).toEqual([403, 'AccessDenied']);
  });

  test('to read and write need credit, those to delete do not', async () => {
    const poor = await bench.withAccount(0.000_005);
    await poor.bucket('box');
    expect((await send(poor, { method: 'PUT', path: '/box/k', body: 'x' })).status).toBe(200);
    const refused = await send(poor, { method: 'PUT', path: '/box/j', body: randomBytes(1_000) });
    expect([refused.status, refused.code]).toEqual([402, 'InsufficientCredit']);
    expect(refused.text).toContain('<ErrorCode>INSUFFICIENT_CREDIT</ErrorCode>');
    expect(await outcome({ path: '/box/k' }, poor)).toEqual([402, 'InsufficientCredit']);
    expect(await outcome({ method: 'DELETE', path: '/box/k' }, poor)).toEqual([204, null]);
    poor.sdk.destroy();
  });

  test('are asked for before a long body is read', async () => {
    const reader = await bench.withScopes(['storage:read']);
    const huge = { payload: 'UNSIGNED-PAYLOAD', headers: { 'content-length': String(2 ** 30) } };
    expect(await outcome({ method: 'PUT', path: '/box/k', body: 'x', ...huge }, reader)).toEqual([403, 'AccessDenied']);
    expect(await put('k', 'x', { ...huge, path: '/no-box/k' })).toEqual([404, 'NoSuchBucket']);
  });
});

describe('at once', () => {
  test('of many writes of what is not there, one is the first', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => put('first', `${i}`, { headers: { 'if-none-match': '*' } })),
    );
    expect(outcomes.filter(([status]) => status === 200)).toHaveLength(1);
    expect(outcomes.filter(([, code]) => code === 'PreconditionFailed')).toHaveLength(19);
  });

  test('readers get one body or the other, whole', async () => {
    const bodies = ['a', 'b'].map((letter) => letter.repeat(200_000));
    await put('flipping', bodies[0] as string);
    const writing = (async () => {
      for (let i = 0; i < 20; i += 1) await put('flipping', bodies[i % 2] as string);
    })();
    for (let i = 0; i < 40; i += 1) expect(bodies).toContain((await send(bench, { path: '/box/flipping' })).text);
    await writing;
  });
});
