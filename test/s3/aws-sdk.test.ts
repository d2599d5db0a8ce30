// The AWS SDK for JavaScript as programs use it: buckets, their settings, and lists.
import { createHash } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteBucketLifecycleCommand,
  DeleteObjectCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLocationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketVersioningCommand,
  HeadBucketCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, S3Bench } from './harness.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex');

describe('buckets', () => {
  test('are made, listed, looked at and deleted', async () => {
    const { sdk } = bench;
    const made = await sdk.send(new CreateBucketCommand({ Bucket: 'one' }));
    expect(made.Location).toBe('/one');
    expect(await failureOf(sdk.send(new CreateBucketCommand({ Bucket: 'Not_A_Name' })))).toMatchObject({
      name: 'InvalidBucketName',
      status: 400,
    });
    const { Buckets = [], Owner } = await sdk.send(new ListBucketsCommand({}));
    expect(Buckets.map(({ Name }) => Name)).toContain('one');
    expect(Buckets[0]?.CreationDate).toBeInstanceOf(Date);
    expect(Owner?.ID).toBe(bench.account.accountId);
    expect((await sdk.send(new HeadBucketCommand({ Bucket: 'one' }))).BucketRegion).toBe('us-east-1');
    expect((await sdk.send(new GetBucketLocationCommand({ Bucket: 'one' }))).LocationConstraint).toBeOneOf([
      undefined,
      '',
    ]);
    expect((await sdk.send(new GetBucketVersioningCommand({ Bucket: 'one' }))).Status).toBeUndefined();
    await bench.put('one', 'k', 'x');
    expect(await failureOf(sdk.send(new DeleteBucketCommand({ Bucket: 'one' })))).toMatchObject({
      name: 'BucketNotEmpty',
    });
    // Made again, it is as it was.
    expect((await sdk.send(new CreateBucketCommand({ Bucket: 'one' }))).Location).toBe('/one');
    expect(await bench.text('one', 'k')).toBe('x');
    await sdk.send(new DeleteObjectCommand({ Bucket: 'one', Key: 'k' }));
    await sdk.send(new DeleteBucketCommand({ Bucket: 'one' }));
    expect(await failureOf(sdk.send(new HeadBucketCommand({ Bucket: 'one' })))).toMatchObject({ status: 404 });
    expect(await failureOf(sdk.send(new ListObjectsV2Command({ Bucket: 'one' })))).toMatchObject({
      name: 'NoSuchBucket',
    });
    expect(await failureOf(sdk.send(new DeleteBucketCommand({ Bucket: 'one' })))).toMatchObject({
      name: 'NoSuchBucket',
    });
  });

  test('of another region say so, and are not made again', async () => {
    const { sdk } = bench;
    const named = { Bucket: 'in-europe', CreateBucketConfiguration: { LocationConstraint: 'eu-west-1' as const } };
    await sdk.send(new CreateBucketCommand(named));
    expect((await sdk.send(new GetBucketLocationCommand({ Bucket: 'in-europe' }))).LocationConstraint).toBe(
      'eu-west-1',
    );
    expect((await sdk.send(new HeadBucketCommand({ Bucket: 'in-europe' }))).BucketRegion).toBe('eu-west-1');
    for (const again of [named, { Bucket: 'in-europe' }]) {
      expect(await failureOf(sdk.send(new CreateBucketCommand(again)))).toMatchObject({
        name: 'BucketAlreadyOwnedByYou',
        status: 409,
      });
    }
    await bench.bucket('at-home');
    const moved = new CreateBucketCommand({ ...named, Bucket: 'at-home' });
    expect(await failureOf(sdk.send(moved))).toMatchObject({ name: 'BucketAlreadyOwnedByYou' });
  });

  test.each(['foo.-bar', 'foo-.bar', 'foo..bar'])('are not made by the name %s', async (Bucket) => {
    expect(await failureOf(bench.sdk.send(new CreateBucketCommand({ Bucket })))).toMatchObject({
      name: 'InvalidBucketName',
      status: 400,
    });
  });

  test('are listed page by page', async () => {
    const other = await bench.withAccount();
    for (const name of ['page-a', 'page-b', 'page-c', 'other']) await other.bucket(name);
    const asked = { Prefix: 'page-', MaxBuckets: 2 };
    const first = await other.sdk.send(new ListBucketsCommand(asked));
    const ContinuationToken = first.ContinuationToken ?? '';
    const rest = await other.sdk.send(new ListBucketsCommand({ ...asked, ContinuationToken }));
    const names = [first, rest].map(({ Buckets = [] }) => Buckets.map(({ Name }) => Name));
    expect([names, rest.ContinuationToken]).toEqual([[['page-a', 'page-b'], ['page-c']], undefined]);
    other.sdk.destroy();
  });

  test('belong to their account alone', async () => {
    const other = await bench.withAccount();
    await bench.bucket('shared-name');
    await other.bucket('shared-name');
    await bench.put('shared-name', 'k', 'ours');
    expect(await failureOf(other.text('shared-name', 'k'))).toMatchObject({ name: 'NoSuchKey', status: 404 });
    expect((await other.sdk.send(new ListBucketsCommand({}))).Buckets).toHaveLength(1);
    other.sdk.destroy();
  });

  test('have the settings of the native API', async () => {
    const { sdk, rest } = bench;
    const Bucket = await bench.bucket('settings');
    expect(await failureOf(sdk.send(new GetBucketLifecycleConfigurationCommand({ Bucket })))).toMatchObject({
      name: 'NoSuchLifecycleConfiguration',
      status: 404,
    });
    const Rules = [{ Status: 'Enabled' as const, Filter: { Prefix: 'tmp/' }, Expiration: { Days: 7 } }];
    await sdk.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }));
    await rest('POST', '/v1/queue/create', { name: 'changes' });
    const { QueueArn } = await queueArnOf('changes');
    const QueueConfigurations = [{ QueueArn, Events: ['s3:ObjectCreated:*' as const] }];
    await sdk.send(
      new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: { QueueConfigurations } }),
    );
    const { body } = await rest('GET', '/v1/storage/bucket/get/settings');
    expect(body.data).toMatchObject({
      expire: [{ prefix: 'tmp/', days: 7 }],
      notify: { queue: 'changes', events: ['created'] },
    });
    const told = await sdk.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
    expect(told.QueueConfigurations).toMatchObject([{ QueueArn, Events: ['s3:ObjectCreated:*'] }]);
    expect((await sdk.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules).toMatchObject(Rules);
    await sdk.send(new DeleteBucketLifecycleCommand({ Bucket }));
    expect((await rest('GET', '/v1/storage/bucket/get/settings')).body.data).toMatchObject({
      expire: [],
      notify: { queue: 'changes' },
    });
    await sdk.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration: {} }));
    expect((await rest('GET', '/v1/storage/bucket/get/settings')).body.data.notify).toBeNull();
  });

  async function queueArnOf(name: string) {
    const { accountDigits } = await import('../../src/core/credentials/aws-arns.ts');
    return { QueueArn: `arn:aws:sqs:us-east-1:${accountDigits(bench.account.accountId)}:${name}` };
  }
});

describe('a list', () => {
  const keys = ['a', 'b/1', 'b/2', 'b/c/3', 'd', 'é', 'z z'];
  let Bucket: string;
  beforeAll(async () => {
    Bucket = await bench.bucket('listed');
    for (const key of keys) await bench.put(Bucket, key, key);
  });

  test('goes on from page to page, in both versions, in the order of bytes', async () => {
    const { sdk } = bench;
    const due = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const seen: string[] = [];
    let token: string | undefined;
    do {
      const page = await sdk.send(
        new ListObjectsV2Command({ Bucket, MaxKeys: 2, ...(token ? { ContinuationToken: token } : {}) }),
      );
      seen.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
      token = page.NextContinuationToken;
      expect(page.KeyCount).toBe(page.Contents?.length);
    } while (token !== undefined);
    expect(seen).toEqual(due);
    const first = await sdk.send(new ListObjectsCommand({ Bucket, MaxKeys: 3 }));
    const rest = await sdk.send(new ListObjectsCommand({ Bucket, Marker: first.Contents?.at(-1)?.Key ?? '' }));
    expect([first.IsTruncated, rest.IsTruncated]).toEqual([true, false]);
    expect([...(first.Contents ?? []), ...(rest.Contents ?? [])].map(({ Key }) => Key)).toEqual(due);
    const object = rest.Contents?.at(-1);
    expect(object).toMatchObject({
      ETag: `"${md5('é')}"`,
      Size: 2,
      StorageClass: 'STANDARD',
      LastModified: expect.any(Date),
    });
  });

  test('has folders', async () => {
    const { sdk } = bench;
    const page = await sdk.send(new ListObjectsV2Command({ Bucket, Delimiter: '/' }));
    expect(page.CommonPrefixes).toEqual([{ Prefix: 'b/' }]);
    expect(page.Contents?.map(({ Key }) => Key)).toEqual(['a', 'd', 'z z', 'é']);
    const below = await sdk.send(new ListObjectsCommand({ Bucket, Delimiter: '/', Prefix: 'b/', MaxKeys: 2 }));
    expect([below.Contents?.map(({ Key }) => Key), below.NextMarker]).toEqual([['b/1', 'b/2'], 'b/2']);
    const next = await sdk.send(new ListObjectsCommand({ Bucket, Delimiter: '/', Prefix: 'b/', Marker: 'b/2' }));
    expect([next.Contents, next.CommonPrefixes]).toEqual([undefined, [{ Prefix: 'b/c/' }]]);
    const after = await sdk.send(new ListObjectsCommand({ Bucket, Delimiter: '/', Marker: 'b/' }));
    expect([after.Contents?.[0]?.Key, after.CommonPrefixes]).toEqual(['d', undefined]);
  });

  test('begins where it is told to, and holds as many as it is told to', async () => {
    const { sdk } = bench;
    const after = await sdk.send(new ListObjectsV2Command({ Bucket, StartAfter: 'b/2', EncodingType: 'url' }));
    expect(after.Contents?.map(({ Key }) => Key)).toEqual(['b/c/3', 'd', 'z%20z', '%C3%A9']);
    const none = await sdk.send(new ListObjectsV2Command({ Bucket, MaxKeys: 0 }));
    expect([none.Contents, none.IsTruncated, none.MaxKeys]).toEqual([undefined, false, 0]);
  });
});
