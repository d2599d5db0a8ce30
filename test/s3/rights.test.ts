// Who may do what by S3: signatures, scopes, accounts and credit; and what happens when many write at once.
import { randomBytes } from 'node:crypto';
import { CopyObjectCommand, CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonRequest, signedHeaders } from '../support/sqs.ts';
import { failureOf, S3Bench } from './harness.ts';
import { exchange, type S3Request, send } from './wire.ts';

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
      expires_seconds: 600,
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
    expect(await get(search.replace('Expires=600&', 'Expires=900&'))).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await get(`${search}&response-content-type=text/html`)).toEqual([403, 'SignatureDoesNotMatch']);
    expect(await get(search, { 'x-amz-meta-more': '1' })).toEqual([403, 'SignatureDoesNotMatch']);
    const short = await bench.rest('POST', '/v1/storage/presign', {
      bucket: 'box',
      key: 'k',
      method: 'GET',
      expires_seconds: 1,
    });
    await expect.poll(() => get(new URL(short.body.data.url).search)).toEqual([403, 'AccessDenied']);
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
