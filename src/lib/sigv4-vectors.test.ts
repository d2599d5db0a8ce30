// AWS's published test suite of version 4 (aws-sig-v4-test-suite, Apache-2.0): its key, its instant, its service. Not here: vectors of headers
// that come several times or over several lines, which no client of ours sends; of paths with dots, which no route of ours has; and one,
// post-x-www-form-urlencoded-parameters, whose text to sign is not that of its own canonical request.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSignedBy, signedOf, signingKey } from './sigv4.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const INSTANT = '20150830T123600Z';
const nowMs = Date.UTC(2015, 7, 30, 12, 36);

type Vector = [
  name: string,
  method: string,
  url: string,
  names: string,
  signature: string,
  headers?: Record<string, string>,
  body?: string,
];

const vectors: Vector[] = [
  [
    'get-header-value-trim',
    'GET',
    '/',
    'host;my-header1;my-header2;x-amz-date',
    'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    { 'my-header1': 'value1', 'my-header2': '"a   b   c"' },
  ],
  [
    'get-unreserved',
    'GET',
    '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    'host;x-amz-date',
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  ['get-utf8', 'GET', '/ሴ', 'host;x-amz-date', '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
  [
    'get-vanilla-empty-query-key',
    'GET',
    '/?Param1=value1',
    'host;x-amz-date',
    'a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb',
  ],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    'host;x-amz-date',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'get-vanilla-query-order-key',
    'GET',
    '/?Param1=value2&Param1=Value1',
    'host;x-amz-date',
    'eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1',
  ],
  [
    'get-vanilla-query-order-value',
    'GET',
    '/?Param1=value2&Param1=value1',
    'host;x-amz-date',
    '5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694',
  ],
  [
    'get-vanilla-query-unreserved',
    'GET',
    '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    'host;x-amz-date',
    '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
  ],
  [
    'get-vanilla-query',
    'GET',
    '/',
    'host;x-amz-date',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'get-vanilla-utf8-query',
    'GET',
    '/?ሴ=bar',
    'host;x-amz-date',
    '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
  ],
  [
    'get-space',
    'GET',
    '/example space/',
    'host;x-amz-date',
    '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
  ],
  [
    'post-header-key-case',
    'POST',
    '/',
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-header-key-sort',
    'POST',
    '/',
    'host;my-header1;x-amz-date',
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
    { 'my-header1': 'value1' },
  ],
  [
    'post-header-value-case',
    'POST',
    '/',
    'host;my-header1;x-amz-date',
    'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
    { 'my-header1': 'VALUE1' },
  ],
  [
    'post-vanilla-empty-query-value',
    'POST',
    '/?Param1=value1',
    'host;x-amz-date',
    '28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
  ],
  [
    'post-x-www-form-urlencoded',
    'POST',
    '/',
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '13' },
    'Param1=value1',
  ],
];

/** Whether the vector is right as sent with `change`. */
function verdict(
  [, method, url, names, signature, headers = {}, body = '']: Vector,
  change: Record<string, string> = {},
) {
  const credential = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`;
  const all = { host: 'example.amazonaws.com', 'x-amz-date': INSTANT, ...headers, authorization, ...change };
  const bodySha256 = createHash('sha256').update(body).digest('hex');
  const signed = signedOf({ method, url, headers: all }, { services: ['service' as 'sqs'], bodySha256, nowMs });
  return signed === null ? null : [isSignedBy(signed, signingKey(SECRET, signed.scope)), signed.isInTime];
}

test.each(vectors)('%s is right, and wrong from another host', (...vector) => {
  expect(verdict(vector)).toEqual([true, true]);
  expect(verdict(vector, { host: 'example.com' })).toEqual([false, true]);
});
