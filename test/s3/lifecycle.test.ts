// Lifecycle rules of a bucket by the AWS SDK: they come back as they were put, as Terraform compares them, and do what they say.
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketLifecycleCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  ListMultipartUploadsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { failureOf, S3Bench } from './harness.ts';
import { send } from './wire.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const put = (Bucket: string, Rules: LifecycleRule[], more: object = {}) =>
  bench.sdk.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules }, ...more }));
const get = (Bucket: string) => bench.sdk.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
const native = async (bucket: string) => (await bench.rest('GET', `/v1/storage/bucket/get/${bucket}`)).body.data;

/** One of each form that a rule may be written in. */
const RULES: LifecycleRule[] = [
  { ID: 'logs & "more"', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 30 } },
  { ID: 'old form', Status: 'Enabled', Prefix: 'tmp/', Expiration: { Days: 1 } },
  { ID: 'paused', Status: 'Disabled', Filter: { Prefix: 'keep/' }, Expiration: { Days: 2 } },
  { ID: 'all', Status: 'Enabled', Filter: {}, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 } },
  {
    ID: 'both',
    Status: 'Enabled',
    Filter: { Prefix: '' },
    Expiration: { Days: 365 },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
  },
];

describe('lifecycle rules', () => {
  test('come back as they were put: ids, order, state, and the form of their prefix', async () => {
    const Bucket = await bench.bucket('as-put');
    const TransitionDefaultMinimumObjectSize = 'varies_by_storage_class';
    const answered = await put(Bucket, RULES, { TransitionDefaultMinimumObjectSize });
    const read = await get(Bucket);
    expect(read.Rules).toEqual(RULES);
    expect([answered, read].map((each) => each.TransitionDefaultMinimumObjectSize)).toEqual([
      TransitionDefaultMinimumObjectSize,
      TransitionDefaultMinimumObjectSize,
    ]);
  });

  test('are the native settings too, of which a disabled one is none', async () => {
    const Bucket = await bench.bucket('native');
    await put(Bucket, RULES);
    expect(await native(Bucket)).toMatchObject({
      expire: [
        { prefix: 'logs/', days: 30 },
        { prefix: 'tmp/', days: 1 },
        { prefix: '', days: 365 },
      ],
      abort_uploads: [
        { prefix: '', days: 3 },
        { prefix: '', days: 7 },
      ],
    });
  });

  test('stay as they were put while a native call keeps what they do, and give way to others', async () => {
    const Bucket = await bench.bucket('kept');
    await put(Bucket, RULES);
    const { expire, abort_uploads } = await native(Bucket);
    const set = (settings: object) => bench.rest('PUT', '/v1/storage/bucket/settings', { bucket: Bucket, ...settings });
    await set({ expire, abort_uploads, notify: null });
    expect((await get(Bucket)).Rules).toEqual(RULES);
    await bench.rest('POST', '/v1/queue/create', { name: 'told' });
    const { accountDigits } = await import('../../src/core/credentials/aws-arns.ts');
    const QueueArn = `arn:aws:sqs:us-east-1:${accountDigits(bench.account.accountId)}:told`;
    const NotificationConfiguration = { QueueConfigurations: [{ QueueArn, Events: ['s3:ObjectCreated:*' as const] }] };
    await bench.sdk.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
    expect((await get(Bucket)).Rules).toEqual(RULES);
    await put(Bucket, RULES.slice(0, 1));
    expect(await native(Bucket)).toMatchObject({ notify: { queue: 'told' } });
    await set({ expire: [{ prefix: 'x/', days: 5 }], abort_uploads: [{ prefix: 'y/', days: 6 }] });
    expect((await get(Bucket)).Rules).toEqual([
      { ID: 'expire-1', Status: 'Enabled', Filter: { Prefix: 'x/' }, Expiration: { Days: 5 } },
      {
        ID: 'abort-1',
        Status: 'Enabled',
        Filter: { Prefix: 'y/' },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 6 },
      },
    ]);
    await bench.sdk.send(new DeleteBucketLifecycleCommand({ Bucket }));
    expect(await native(Bucket)).toMatchObject({ expire: [], abort_uploads: [] });
    expect(await failureOf(get(Bucket))).toMatchObject({ name: 'NoSuchLifecycleConfiguration', status: 404 });
  });

  test('without an id get one of their own, which stays', async () => {
    const Bucket = await bench.bucket('no-ids');
    const rule = { Status: 'Enabled' as const, Filter: { Prefix: '' }, Expiration: { Days: 1 } };
    await put(Bucket, [rule, { ...rule, ID: '' }]);
    const ids = async () => (await get(Bucket)).Rules?.map(({ ID = '' }) => ID) ?? [];
    const first = await ids();
    expect(first.every((id) => id !== '')).toBe(true);
    expect(new Set(first).size).toBe(2);
    expect(await ids()).toEqual(first);
  });

  const good: LifecycleRule = { ID: 'a', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } };
  const refusals: [string, LifecycleRule[], string, number][] = [
    ['the same id twice', [good, { ...good, Filter: { Prefix: 'b' } }], 'InvalidArgument', 400],
    ['an id of 256 characters', [{ ...good, ID: 'x'.repeat(256) }], 'InvalidArgument', 400],
    ['an expiry after 0 days', [{ ...good, Expiration: { Days: 0 } }], 'InvalidArgument', 400],
    [
      'an abort after 0 days',
      [{ ...good, AbortIncompleteMultipartUpload: { DaysAfterInitiation: 0 } }],
      'InvalidArgument',
      400,
    ],
    ['a state of its own', [{ ...good, Status: 'enabled' as 'Enabled' }], 'MalformedXML', 400],
    ['both forms of a prefix', [{ ...good, Prefix: 'b' }], 'MalformedXML', 400],
    ['nothing that it does', [{ ID: 'a', Status: 'Enabled', Filter: {} }], 'InvalidRequest', 400],
    ['more than ten', Array.from({ length: 11 }, (_, i) => ({ ...good, ID: `${i}` })), 'InvalidArgument', 400],
    ['a tag', [{ ...good, Filter: { Tag: { Key: 'k', Value: 'v' } } }], 'NotImplemented', 501],
    ['a date', [{ ...good, Expiration: { Date: new Date(0) } }], 'NotImplemented', 501],
    ['a storage class', [{ ...good, Transitions: [{ Days: 1, StorageClass: 'GLACIER' }] }], 'NotImplemented', 501],
  ];
  test.each(refusals)('with %s are refused, and change nothing', async (_, rules, name, status) => {
    const Bucket = 'refuses';
    await bench.sdk.send(new CreateBucketCommand({ Bucket })).catch(() => undefined);
    await put(Bucket, RULES);
    expect(await failureOf(put(Bucket, rules))).toMatchObject({ name, status });
    expect((await get(Bucket)).Rules).toEqual(RULES);
  });

  test('with an id of 255 characters are taken', async () => {
    const Bucket = await bench.bucket('long-id');
    await put(Bucket, [{ ...good, ID: 'é'.repeat(255) }]);
    expect((await get(Bucket)).Rules?.[0]?.ID).toBe('é'.repeat(255));
  });

  test('need a bucket', async () => {
    expect(await failureOf(put('not-there', [good]))).toMatchObject({ name: 'NoSuchBucket', status: 404 });
  });
});

describe('an unfinished upload', () => {
  const begin = async (Bucket: string, Key: string) => {
    const { UploadId } = await bench.sdk.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const upload = { Bucket, Key, UploadId };
    await bench.sdk.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'x'.repeat(100) }));
    return upload;
  };
  const heldBytes = async () => {
    const text = 'SELECT h.bytes FROM storage.held h WHERE h.account_id = $1';
    const { core } = bench.service;
    return (await core.db.query<{ bytes: bigint }>({ name: '', text }, [bench.account.accountId])).rows[0]?.bytes;
  };
  const openUploads = async (Bucket: string) =>
    ((await bench.sdk.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).map(({ Key }) => Key);

  test('does not keep its bucket, and ends with it', async () => {
    const Bucket = await bench.bucket('with-uploads');
    const before = await heldBytes();
    const upload = await begin(Bucket, 'a');
    await begin(Bucket, 'b');
    expect((await heldBytes()) ?? 0n).toBe((before ?? 0n) + 200n);
    await bench.sdk.send(new DeleteBucketCommand({ Bucket }));
    expect(await heldBytes()).toBe(before);
    await bench.bucket(Bucket);
    expect(await openUploads(Bucket)).toEqual([]);
    const late = new UploadPartCommand({ ...upload, PartNumber: 2, Body: 'late' });
    expect(await failureOf(bench.sdk.send(late))).toMatchObject({ name: 'NoSuchUpload', status: 404 });
  });

  test('stays where an object keeps its bucket', async () => {
    const Bucket = await bench.bucket('with-both');
    await begin(Bucket, 'a');
    await bench.put(Bucket, 'k', 'x');
    expect(await failureOf(bench.sdk.send(new DeleteBucketCommand({ Bucket })))).toMatchObject({
      name: 'BucketNotEmpty',
      status: 409,
    });
    expect(await openUploads(Bucket)).toEqual(['a']);
  });

  test('is aborted once it was begun so many days ago as its rule says, and no other is', async () => {
    const Bucket = await bench.bucket('aborts');
    await begin(Bucket, 'tmp/old');
    await begin(Bucket, 'keep/old');
    await bench.service.advance(2 * 86_400);
    await begin(Bucket, 'tmp/new');
    const rule = (ID: string, Prefix: string, DaysAfterInitiation: number) => ({
      ID,
      Status: 'Enabled' as const,
      Filter: { Prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation },
    });
    const paused = { ...rule('paused', 'keep/', 1), Status: 'Disabled' as const };
    const before = (await heldBytes()) ?? 0n;
    await put(Bucket, [paused, rule('none', 'none/', 1), rule('tmp', 'tmp/', 2)]);
    await eventually(async () => (await openUploads(Bucket)).length === 2);
    expect(await openUploads(Bucket)).toEqual(['keep/old', 'tmp/new']);
    expect(await heldBytes()).toBe(before - 100n);
  });
});

describe('many unfinished uploads of one key', () => {
  /** Begun long ago, without parts. */
  const beginMany = async (bucket: string, count: number) => {
    const text = `INSERT INTO storage.upload (account_id, upload_id, bucket, key, state, content_type, created_at, due_at)
      SELECT $1, 'upl_' || $2 || n, $2, 'key', 'open', 'text/plain', core.clock_now() - interval '10 days', core.clock_now() + interval '7 days'
        FROM generate_series(1, $3::int) n`;
    await bench.service.core.db.query({ name: '', text }, [bench.account.accountId, bucket, count]);
  };
  const openIn = async (bucket: string) => {
    const text = `SELECT count(*)::int AS n FROM storage.upload p WHERE p.account_id = $1 AND p.bucket = $2 AND p.state = 'open'`;
    const { rows } = await bench.service.core.db.query<{ n: number }>({ name: '', text }, [
      ...[bench.account.accountId, bucket],
    ]);
    return rows[0]?.n;
  };
  const rule = (DaysAfterInitiation: number): LifecycleRule => ({
    ID: 'a',
    Status: 'Enabled',
    Filter: { Prefix: 'key' },
    AbortIncompleteMultipartUpload: { DaysAfterInitiation },
  });

  test('are looked through page by page: none is passed over', async () => {
    const Bucket = await bench.bucket('many');
    await beginMany(Bucket, 1_100);
    await put(Bucket, [rule(11), { ...rule(10), ID: 'b' }]);
    await eventually(async () => (await openIn(Bucket)) === 0);
  });

  test('end with their bucket up to 10,000, and keep it beyond that', async () => {
    const Bucket = await bench.bucket('too-many');
    await beginMany(Bucket, 10_001);
    const remove = () => bench.sdk.send(new DeleteBucketCommand({ Bucket }));
    expect(await failureOf(remove())).toMatchObject({ name: 'BucketNotEmpty', status: 409 });
    expect(await openIn(Bucket)).toBe(10_001);
    const UploadId = `upl_${Bucket}1`;
    await bench.sdk.send(new AbortMultipartUploadCommand({ Bucket, Key: 'key', UploadId }));
    await remove();
    expect(await openIn(Bucket)).toBe(0);
  });
});

test('a rule may be sent with spaces between its elements, and with an empty filter', async () => {
  await bench.bucket('spaced');
  const body = `<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Rule>
    <ID>spaced</ID> <Filter> </Filter> <Status>Enabled</Status>
    <Expiration> <Days> 4 </Days> <ExpiredObjectDeleteMarker>false</ExpiredObjectDeleteMarker> </Expiration>
  </Rule>
</LifecycleConfiguration>`;
  expect((await send(bench, { method: 'PUT', path: '/spaced?lifecycle', body })).status).toBe(200);
  const { text } = await send(bench, { path: '/spaced?lifecycle' });
  expect(text).toContain(
    '<Rule><ID>spaced</ID><Filter></Filter><Status>Enabled</Status><Expiration><Days>4</Days></Expiration></Rule>',
  );
});
