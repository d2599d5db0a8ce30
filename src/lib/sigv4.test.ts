// The examples of AWS's documentation (sig-v4-header-based-auth, sigv4-query-string-auth, sigv4-streaming), with its keys.
import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isSignedBy, type SignedHead, signatureHeaders, signedOf, signingKey } from './sigv4.ts';

const ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const nowMs = Date.UTC(2013, 4, 24, 0, 5);
const host = 'examplebucket.s3.amazonaws.com';

function head(
  method: string,
  url: string,
  names: string,
  signature: string,
  headers: Record<string, string>,
): SignedHead {
  const credential = `${ACCESS_KEY_ID}/20130524/us-east-1/s3/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential},SignedHeaders=${names},Signature=${signature}`;
  return { method, url, headers: { host, 'x-amz-date': '20130524T000000Z', ...headers, authorization } };
}

const get = head(
  'GET',
  '/test.txt',
  'host;range;x-amz-content-sha256;x-amz-date',
  'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  { range: 'bytes=0-9', 'x-amz-content-sha256': EMPTY },
);
const put = head(
  'PUT',
  '/test%24file.text',
  'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
  '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
  },
);
const lifecycle = head(
  'GET',
  '/?lifecycle',
  'host;x-amz-content-sha256;x-amz-date',
  'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  { 'x-amz-content-sha256': EMPTY },
);
const list = head(
  'GET',
  '/?max-keys=2&prefix=J',
  'host;x-amz-content-sha256;x-amz-date',
  '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  { 'x-amz-content-sha256': EMPTY },
);
const streaming = head(
  'PUT',
  '/examplebucket/chunkObject.txt',
  'content-encoding;content-length;host;x-amz-content-sha256;x-amz-date;x-amz-decoded-content-length;x-amz-storage-class',
  '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9',
  {
    host: 's3.amazonaws.com',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '66560',
    'content-length': '66824',
  },
);
const presigned: SignedHead = {
  method: 'GET',
  url:
    '/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
    '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
    '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  headers: { host },
};

const options = { services: ['s3'], nowMs } as const;
const verify = (request: SignedHead, at = options as Parameters<typeof signedOf>[1], secret = SECRET) => {
  const signed = signedOf(request, at);
  return signed === null ? null : [isSignedBy(signed, signingKey(secret, signed.scope)), signed.isInTime];
};

describe('a signature of version 4', () => {
  test.each([
    ['GET of a part', get, EMPTY],
    ['PUT of an object', put, '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072'],
    ['GET of a sub-resource', lifecycle, EMPTY],
    ['GET of a list', list, EMPTY],
    ['PUT in signed chunks', streaming, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'],
    ['a presigned GET', presigned, 'UNSIGNED-PAYLOAD'],
  ])('is right: %s', (_, request, payload) => {
    expect(verify(request)).toEqual([true, true]);
    expect(signedOf(request, options)).toMatchObject({ accessKeyId: ACCESS_KEY_ID, payload });
  });

  test.each([get, put, presigned])('is wrong for anything else than was signed', (request) => {
    expect(verify(request, options, `${SECRET}x`)).toEqual([false, true]);
    expect(verify({ ...request, method: 'DELETE' })).toEqual([false, true]);
    expect(verify({ ...request, url: request.url.replace('/test', '/text') })).toEqual([false, true]);
    expect(verify({ ...request, headers: { ...request.headers, host: 'elsewhere' } })).toEqual([false, true]);
  });

  test('covers every header of AWS', () => {
    expect(verify({ ...get, headers: { ...get.headers, 'x-amz-acl': 'public-read' } })).toEqual([false, true]);
  });

  test.each([
    ['UTF-8', 'Hëllo 世界', Buffer.from('Hëllo 世界').toString('latin1')],
    ['Latin-1', 'Hëllo', 'Hëllo'],
  ])('covers headers that are sent as %s', (_, value, received) => {
    const signing = { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET, region: 'us-east-1' };
    const headers = { host, 'x-amz-meta-name': value };
    const request = { method: 'PUT', url: '/k', headers };
    const added = signatureHeaders(request, signing, EMPTY, nowMs);
    expect(verify({ ...request, headers: { ...headers, ...added, 'x-amz-meta-name': received } })).toEqual([
      true,
      true,
    ]);
  });

  test('is for the services that are asked for', () => {
    expect(verify(get, { ...options, services: ['sqs'] })).toEqual([false, true]);
  });

  test('ends: after 15 minutes, or when its own life is over', () => {
    const at = (ms: number) => ({ ...options, nowMs: Date.UTC(2013, 4, 24) + ms });
    expect(verify(get, at(15 * 60_000))).toEqual([true, true]);
    expect(verify(get, at(15 * 60_000 + 1))).toEqual([true, false]);
    expect(verify(get, at(-15 * 60_000 - 1))).toEqual([true, false]);
    expect(verify(presigned, at(86_400_000))).toEqual([true, true]);
    expect(verify(presigned, at(86_400_001))).toEqual([true, false]);
  });

  test('is none in a request without one, or with half of one', () => {
    expect(verify({ method: 'GET', url: '/x', headers: {} })).toBeNull();
    expect(verify({ ...get, headers: { ...get.headers, authorization: 'AWS4-HMAC-SHA256 Credential=x' } })).toBeNull();
    expect(verify({ ...get, headers: { ...get.headers, 'x-amz-date': 'today' } })).toEqual([false, false]);
  });
});

test('a request of ours gets the signature of the documentation', () => {
  const headers = { host, range: 'bytes=0-9' };
  const key = { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET, region: 'us-east-1' };
  const signed = signatureHeaders({ method: 'GET', url: '/test.txt', headers }, key, EMPTY, Date.UTC(2013, 4, 24));
  expect(signed).toMatchObject({ 'x-amz-content-sha256': EMPTY, 'x-amz-date': '20130524T000000Z' });
  expect(signed.authorization?.replaceAll(' ', '')).toBe(get.headers.authorization?.replaceAll(' ', ''));
});

/** By hand, as the documentation of AWS orders parameters: by name, and only then by value. */
test.each([
  ['x-amz-meta-file=z&x-amz-meta-file-name=a'],
  ['x-amz-meta-p1=b&x-amz-meta-p10=a'],
  ['x-amz-meta-a=1&x-amz-meta-a=2&x-amz-meta-a-b=0&x-amz-meta-a.b=0'],
])('parameters are signed in the order of their names: %s', (parameters) => {
  const scope = '20130524/us-east-1/s3/aws4_request';
  const query = `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${ACCESS_KEY_ID}%2F${scope.replaceAll('/', '%2F')}&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&${parameters}`;
  const canonical = `PUT\n/k\n${query}\nhost:${host}\n\nhost\nUNSIGNED-PAYLOAD`;
  const text = `AWS4-HMAC-SHA256\n20130524T000000Z\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  const signature = createHmac('sha256', signingKey(SECRET, scope)).update(text).digest('hex');
  const url = `/k?${query.split('&').reverse().join('&')}&X-Amz-Signature=${signature}`;
  expect(verify({ method: 'PUT', url, headers: { host } })).toEqual([true, true]);
});
