// Pages of other origins: rules of a bucket by both doors, preflights before any signature, and the headers of real answers.
import {
  DeleteBucketCorsCommand,
  GetBucketAclCommand,
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetBucketTaggingCommand,
  GetBucketWebsiteCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, S3Bench } from './harness.ts';
import { exchange, send } from './wire.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const ORIGIN = 'https://app.example.com';
const RULE = { origins: [ORIGIN], methods: ['PUT', 'GET'], headers: ['*'], expose: ['ETag'], max_age_seconds: 300 };
const ALLOWED = {
  'access-control-allow-origin': ORIGIN,
  'access-control-allow-methods': 'PUT, GET',
  'access-control-expose-headers': 'ETag',
  'access-control-max-age': '300',
};
const setRules = (of: S3Bench, bucket: string, cors: object[]) =>
  of.rest('PUT', '/v1/storage/bucket/settings', { bucket, cors });
const preflight = (path: string, more: Record<string, string> = {}) =>
  exchange(bench.root, 'OPTIONS', path, { origin: ORIGIN, 'access-control-request-method': 'PUT', ...more });
const presign = async (of: S3Bench, bucket: string, method = 'PUT', key = 'k') => {
  const { body } = await of.rest('POST', '/v1/storage/presign', { bucket, key, method });
  const { pathname, search } = new URL(body.data.url);
  return pathname.replace('/s3', '') + search;
};

describe('rules of a bucket', () => {
  const CORSRules = [
    { ID: 'first', AllowedOrigins: ['https://*.a.test', 'x*'], AllowedMethods: ['GET', 'HEAD'], AllowedHeaders: ['*'] },
    { AllowedOrigins: ['*'], AllowedMethods: ['POST'], ExposeHeaders: ['ETag', 'x-amz-meta-a'], MaxAgeSeconds: 0 },
  ];

  test('come back as they were put, by S3 and natively, and go', async () => {
    const Bucket = await bench.bucket('rules');
    const get = () => bench.sdk.send(new GetBucketCorsCommand({ Bucket }));
    expect(await failureOf(get())).toMatchObject({ name: 'NoSuchCORSConfiguration', status: 404 });
    await bench.sdk.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
    expect((await get()).CORSRules).toEqual(CORSRules);
    const { cors, ...rest } = (await bench.rest('GET', `/v1/storage/bucket/get/${Bucket}`)).body.data;
    expect(cors).toEqual([
      {
        origins: ['https://*.a.test', 'x*'],
        methods: ['GET', 'HEAD'],
        headers: ['*'],
        expose: [],
        max_age_seconds: null,
      },
      { origins: ['*'], methods: ['POST'], headers: [], expose: ['ETag', 'x-amz-meta-a'], max_age_seconds: 0 },
    ]);
    // What a native call leaves as it is keeps its id.
    await setRules(bench, Bucket, cors);
    expect((await get()).CORSRules).toEqual(CORSRules);
    expect(rest.expire).toEqual([]);
    await bench.sdk.send(new DeleteBucketCorsCommand({ Bucket }));
    expect(await failureOf(get())).toMatchObject({ name: 'NoSuchCORSConfiguration' });
    expect((await preflight(`/${Bucket}/k`)).status).toBe(403);
  });

  test.each<[string, object, string]>([
    ['a method of its own', { AllowedOrigins: ['*'], AllowedMethods: ['PATCH'] }, 'InvalidRequest'],
    ['two stars', { AllowedOrigins: ['https://*.*.test'], AllowedMethods: ['GET'] }, 'InvalidRequest'],
    ['a path', { AllowedOrigins: ['https://a.test/'], AllowedMethods: ['GET'] }, 'InvalidRequest'],
    [
      'a header of two lines',
      { AllowedOrigins: ['*'], AllowedMethods: ['GET'], ExposeHeaders: ['a\nb'] },
      'InvalidRequest',
    ],
    ['no origin', { AllowedOrigins: [], AllowedMethods: ['GET'] }, 'MalformedXML'],
  ])('with %s are refused', async (_, rule, name) => {
    await bench.bucket('refused').catch(() => undefined);
    const put = bench.sdk.send(
      new PutBucketCorsCommand({ Bucket: 'refused', CORSConfiguration: { CORSRules: [rule as never] } }),
    );
    expect(await failureOf(put)).toMatchObject({ name, status: 400 });
  });

  test('have bounds by both doors', async () => {
    const bucket = await bench.bucket('bounds');
    const long = { ...RULE, origins: Array.from({ length: 20 }, (_, i) => `https://${'a'.repeat(200)}${i}.test`) };
    expect((await setRules(bench, bucket, Array(5).fill(long))).body.error).toMatchObject({ param: 'cors' });
    expect((await setRules(bench, bucket, Array(11).fill(RULE))).status).toBe(400);
    expect((await setRules(bench, bucket, [{ ...RULE, origins: ['https://a.test/'] }])).status).toBe(400);
    const CORSRules = Array.from({ length: 11 }, () => ({ AllowedOrigins: ['*'], AllowedMethods: ['GET'] }));
    const put = bench.sdk.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules } }));
    expect(await failureOf(put)).toMatchObject({ name: 'InvalidRequest' });
  });
});

describe('a preflight', () => {
  test('is answered by the rules, before anything signed is looked at', async () => {
    const bucket = await bench.bucket('asked');
    await setRules(bench, bucket, [RULE]);
    const reply = await preflight(`/${bucket}/a/b`, { 'access-control-request-headers': 'content-type,X-Amz-Date' });
    expect(reply).toMatchObject({ status: 200, text: '' });
    expect(reply.headers).toMatchObject({ ...ALLOWED, 'access-control-allow-headers': 'content-type, x-amz-date' });
    const wrong = await preflight(`/${bucket}/a`, { origin: 'https://evil.test' });
    expect(wrong).toMatchObject({ status: 403, code: 'AccessForbidden' });
    expect(wrong.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await preflight(`/${bucket}/a`, { 'access-control-request-method': 'DELETE' })).status).toBe(403);
    const without = await exchange(bench.root, 'OPTIONS', `/${bucket}/a`, { origin: ORIGIN });
    expect(without).toMatchObject({ status: 400, code: 'BadRequest' });
    expect((await exchange(bench.root, 'OPTIONS', `/${bucket}/a`, {})).code).toBe('BadRequest');
  });

  test('of a bucket that is not there is answered as of one without rules', async () => {
    const bucket = await bench.bucket('no-rules');
    const strip = (text: string) => text.replace(/<(RequestId|Resource)>[^<]*/g, '');
    const [none, unknown] = [await preflight(`/${bucket}/a`), await preflight('/not-there/a')];
    expect([unknown.status, strip(unknown.text)]).toEqual([none.status, strip(none.text)]);
  });

  test('that names a key is answered by the bucket of that account alone', async () => {
    const other = await bench.withAccount();
    const bucket = await bench.bucket('same-name');
    await other.bucket(bucket);
    await setRules(other, bucket, [RULE]);
    expect((await preflight(await presign(bench, bucket))).status).toBe(403);
    expect((await preflight(await presign(other, bucket))).status).toBe(200);
    // Nobody is named: one of the two allows it.
    expect((await preflight(`/${bucket}/k`)).status).toBe(200);
    expect(
      (
        await preflight(
          `/${bucket}/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=key_x&X-Amz-Signature=${'0'.repeat(64)}`,
        )
      ).status,
    ).toBe(403);
  });

  test('finds its rule among those of many accounts', async () => {
    const accounts = Array.from({ length: 45 }, (_, i) => `acct_${i}`);
    const text = `INSERT INTO storage.cors_bucket (bucket, account_id, origins, rules)
      SELECT 'crowded', a, ARRAY['https://%'], '[{"origins":["https://*"],"methods":["HEAD"],"headers":[],"expose":[],"max_age_seconds":null}]'::jsonb
        FROM unnest($1::text[]) a`;
    const { textArray } = await import('../../src/db/arrays.ts');
    await bench.service.core.db.query({ name: '', text }, [textArray(accounts)]);
    const bucket = await bench.bucket('crowded');
    expect((await preflight(`/${bucket}/k`)).status).toBe(403);
    await setRules(bench, bucket, [RULE]);
    expect((await preflight(`/${bucket}/k`)).status).toBe(200);
  });

  test('is refused once the bucket is deleted', async () => {
    const bucket = await bench.bucket('goes');
    await setRules(bench, bucket, [RULE]);
    expect((await preflight(`/${bucket}/k`)).status).toBe(200);
    await bench.rest('DELETE', `/v1/storage/bucket/delete/${bucket}`);
    expect((await preflight(`/${bucket}/k`)).status).toBe(403);
  });
});

describe('an answer', () => {
  test('has the headers, and so has a failure, whoever fails it', async () => {
    const bucket = await bench.bucket('answers');
    await setRules(bench, bucket, [RULE]);
    await bench.put(bucket, 'k', 'text');
    const from = (path: string, more: object = {}) => send(bench, { path, headers: { origin: ORIGIN }, ...more });
    expect((await from(`/${bucket}/k`)).headers).toMatchObject({ ...ALLOWED, etag: expect.any(String) });
    expect(await from(`/${bucket}/none`)).toMatchObject({ status: 404, headers: ALLOWED });
    expect(await from(`/${bucket}/k`, { payload: 'wrong', after: { path: `/${bucket}/other` } })).toMatchObject({
      status: 403,
      headers: ALLOWED,
    });
    const unsigned = await exchange(bench.root, 'GET', `/${bucket}/k`, { origin: ORIGIN });
    expect(unsigned).toMatchObject({ status: 403, headers: ALLOWED });
    const other = await send(bench, { path: `/${bucket}/k`, headers: { origin: 'https://evil.test' } });
    expect(other.status).toBe(200);
    expect(other.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await send(bench, { path: `/${bucket}/k` })).headers.vary).toBe('Origin');
  });

  test('of an account without a rule has none, though another one allows it', async () => {
    const other = await bench.withAccount();
    const bucket = await bench.bucket('not-mine');
    await other.bucket(bucket);
    await setRules(other, bucket, [{ ...RULE, origins: ['*'] }]);
    await bench.put(bucket, 'k', 'secret');
    const reply = await send(bench, { path: `/${bucket}/k`, headers: { origin: ORIGIN } });
    expect(reply.text).toBe('secret');
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    const signed = await exchange(bench.root, 'GET', await presign(bench, bucket, 'GET'), {
      host: new URL(bench.url).host,
      origin: ORIGIN,
    });
    expect(signed.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('what tools ask of any bucket', () => {
  test('is answered', async () => {
    const Bucket = await bench.bucket('asked-of');
    await bench.put(Bucket, 'a', 'x', { ServerSideEncryption: 'AES256', StorageClass: 'STANDARD_IA' });
    await bench.put(Bucket, 'b', 'y');
    const { accountId: ID } = bench.account;
    const acl = {
      Owner: { ID },
      Grants: [{ Grantee: { ID, Type: 'CanonicalUser' as const }, Permission: 'FULL_CONTROL' as const }],
    };
    expect(await bench.sdk.send(new GetBucketAclCommand({ Bucket }))).toMatchObject(acl);
    expect(await bench.sdk.send(new GetObjectAclCommand({ Bucket, Key: 'a' }))).toMatchObject(acl);
    await bench.sdk.send(new PutBucketAclCommand({ Bucket, ACL: 'private' }));
    await bench.sdk.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: acl }));
    const shared = {
      ...acl,
      Grants: [...acl.Grants, { ...acl.Grants[0], Grantee: { ID: 'x', Type: 'CanonicalUser' } }],
    };
    const sharing = bench.sdk.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy: shared } as never));
    expect(await failureOf(sharing)).toMatchObject({ name: 'AccessControlListNotSupported' });
    expect(await failureOf(bench.sdk.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read' })))).toMatchObject({
      name: 'AccessControlListNotSupported',
    });
    const status = await bench.sdk.send(new GetBucketPolicyStatusCommand({ Bucket }));
    expect(status.PolicyStatus).toEqual({ IsPublic: false });
    const first = await bench.sdk.send(new ListObjectVersionsCommand({ Bucket, MaxKeys: 1 }));
    expect(first).toMatchObject({ IsTruncated: true, NextKeyMarker: 'a', NextVersionIdMarker: 'null' });
    expect(first.Versions).toMatchObject([{ Key: 'a', VersionId: 'null', IsLatest: true, StorageClass: 'STANDARD' }]);
    const rest = new ListObjectVersionsCommand({ Bucket, KeyMarker: 'a', VersionIdMarker: 'null' });
    expect((await bench.sdk.send(rest)).Versions?.map(({ Key }) => Key)).toEqual(['b']);
    const read = await bench.sdk.send(new GetObjectCommand({ Bucket, Key: 'a', VersionId: 'null' }));
    expect(read.ServerSideEncryption).toBeUndefined();
  });

  test.each<[string, (Bucket: string) => Promise<unknown>]>([
    ['NoSuchBucketPolicy', (Bucket) => bench.sdk.send(new GetBucketPolicyCommand({ Bucket }))],
    [
      'ServerSideEncryptionConfigurationNotFoundError',
      (Bucket) => bench.sdk.send(new GetBucketEncryptionCommand({ Bucket })),
    ],
    ['NoSuchTagSet', (Bucket) => bench.sdk.send(new GetBucketTaggingCommand({ Bucket }))],
    ['NoSuchWebsiteConfiguration', (Bucket) => bench.sdk.send(new GetBucketWebsiteCommand({ Bucket }))],
  ])('%s where there is none', async (name, ask) => {
    await bench.bucket('none-of').catch(() => undefined);
    expect(await failureOf(ask('none-of'))).toMatchObject({ name, status: 404 });
    expect(await failureOf(ask('not-there'))).toMatchObject({ name: 'NoSuchBucket', status: 404 });
  });
});
