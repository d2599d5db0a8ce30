// The AWS SDK for JavaScript as programs use it: each operation, with its checksums, by path and by host.
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteBucketLifecycleCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketLocationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketNotificationConfigurationCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, S3Bench } from './harness.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const MIB = 2 ** 20;
const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex');

describe('buckets', () => {
  test('are made, listed, looked at and deleted', async () => {
    const { sdk } = bench;
    const made = await sdk.send(new CreateBucketCommand({ Bucket: 'one' }));
    expect(made.Location).toBe('/one');
    expect(await failureOf(sdk.send(new CreateBucketCommand({ Bucket: 'one' })))).toMatchObject({
      ...{ name: 'BucketAlreadyOwnedByYou', status: 409 },
    });
    expect(await failureOf(sdk.send(new CreateBucketCommand({ Bucket: 'Not_A_Name' })))).toMatchObject({
      ...{ name: 'InvalidBucketName', status: 400 },
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
      ...{ name: 'NoSuchLifecycleConfiguration', status: 404 },
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

describe('an object', () => {
  let Bucket: string;
  beforeAll(async () => {
    Bucket = await bench.bucket('objects');
  });

  test('is what was put, with all that was said of it', async () => {
    const { sdk } = bench;
    const Body = randomBytes(100_000);
    const said = {
      ...{ ContentType: 'image/png', CacheControl: 'max-age=60', ContentDisposition: 'inline', ContentLanguage: 'de' },
      ...{ ContentEncoding: 'identity', Expires: new Date('2033-12-01T16:00:00Z'), Metadata: { colour: 'blue' } },
    };
    const put = await sdk.send(new PutObjectCommand({ Bucket, Key: 'a/é .png', Body, ...said, Tagging: 'x=1' }));
    expect(put).toMatchObject({ ETag: `"${md5(Body)}"`, ChecksumCRC32: expect.any(String) });
    const head = await sdk.send(new HeadObjectCommand({ Bucket, Key: 'a/é .png', ChecksumMode: 'ENABLED' }));
    const { Expires: _, ...told } = said;
    expect(head).toMatchObject({ ...told, ContentLength: 100_000, ETag: put.ETag, ChecksumCRC32: put.ChecksumCRC32 });
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: 'a/é .png' }));
    expect(got).toMatchObject({ ...told, TagCount: 1, ContentLength: 100_000, AcceptRanges: 'bytes' });
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? [])).toEqual(Body);
    const native = await bench.rest(
      'GET',
      `/v1/storage/object/head?bucket=objects&key=${encodeURIComponent('a/é .png')}`,
    );
    expect(native.body.data).toMatchObject({ bytes: 100_000, etag: md5(Body), metadata: { colour: 'blue' } });
  });

  test.each(['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const)('keeps its %s', async (ChecksumAlgorithm) => {
    const { sdk } = bench;
    const Key = `sum-${ChecksumAlgorithm}`;
    const name = `Checksum${ChecksumAlgorithm}`;
    const put: Readonly<Record<string, unknown>> = {
      ...(await bench.put(Bucket, Key, 'hello', { ChecksumAlgorithm })),
    };
    const head = await sdk.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    expect(head).toMatchObject({ [name]: put[name], ChecksumType: 'FULL_OBJECT' });
    expect(await bench.text(Bucket, Key)).toBe('hello');
    const { Contents } = await sdk.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
    expect(Contents).toMatchObject([{ ChecksumAlgorithm: [ChecksumAlgorithm] }]);
    const ObjectAttributes = ['ETag' as const, 'Checksum' as const, 'ObjectSize' as const, 'StorageClass' as const];
    expect(await sdk.send(new GetObjectAttributesCommand({ Bucket, Key, ObjectAttributes }))).toMatchObject({
      ...{ ETag: md5('hello'), Checksum: { [name]: put[name] }, ObjectSize: 5, StorageClass: 'STANDARD' },
    });
  });

  test('comes as a stream, in chunks with a trailer, and goes as one', async () => {
    const bytes = randomBytes(3 * MIB + 17);
    const pieces = Array.from({ length: 50 }, (_, i) => bytes.subarray(i * 65_536, (i + 1) * 65_536));
    const Body = Readable.from(pieces, { objectMode: false });
    await bench.sdk.send(new PutObjectCommand({ Bucket, Key: 'stream', Body, ContentLength: bytes.length }));
    const got = await bench.sdk.send(new GetObjectCommand({ Bucket, Key: 'stream' }));
    expect(md5((await got.Body?.transformToByteArray()) ?? '')).toBe(md5(bytes));
    expect(got.ContentEncoding).toBeUndefined();
  });

  test('is empty where nothing was put', async () => {
    await bench.put(Bucket, 'empty');
    const got = await bench.sdk.send(new GetObjectCommand({ Bucket, Key: 'empty' }));
    expect([got.ContentLength, got.ContentType]).toEqual([0, 'application/octet-stream']);
    expect(await got.Body?.transformToString()).toBe('');
  });

  test.each([
    ['bytes=0-3', 'abcd', 'bytes 0-3/10'],
    ['bytes=8-', 'ij', 'bytes 8-9/10'],
    ['bytes=-3', 'hij', 'bytes 7-9/10'],
    ['bytes=5-99', 'fghij', 'bytes 5-9/10'],
  ])('is answered in part for %s', async (Range, text, ContentRange) => {
    await bench.put(Bucket, 'ranged', 'abcdefghij');
    const got = await bench.sdk.send(new GetObjectCommand({ Bucket, Key: 'ranged', Range }));
    expect([got.$metadata.httpStatusCode, got.ContentRange, await got.Body?.transformToString()]).toEqual([
      ...[206, ContentRange, text],
    ]);
    const beyond = new GetObjectCommand({ Bucket, Key: 'ranged', Range: 'bytes=10-' });
    expect(await failureOf(bench.sdk.send(beyond))).toMatchObject({ name: 'InvalidRange', status: 416 });
  });

  test('is answered only where conditions hold', async () => {
    const { sdk } = bench;
    const { ETag } = await bench.put(Bucket, 'conditional', 'x');
    const get = (conditions: object) => sdk.send(new GetObjectCommand({ Bucket, Key: 'conditional', ...conditions }));
    const [past, future] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
    expect((await get({ IfMatch: ETag, IfUnmodifiedSince: past })).ETag).toBe(ETag);
    expect((await get({ IfNoneMatch: '"other"', IfModifiedSince: future })).ETag).toBe(ETag);
    expect(await failureOf(get({ IfNoneMatch: ETag }))).toMatchObject({ status: 304 });
    expect(await failureOf(get({ IfModifiedSince: future }))).toMatchObject({ status: 304 });
    expect(await failureOf(get({ IfMatch: '"other"' }))).toMatchObject({ name: 'PreconditionFailed', status: 412 });
    expect(await failureOf(get({ IfUnmodifiedSince: past }))).toMatchObject({ status: 412 });
    const head = new HeadObjectCommand({ Bucket, Key: 'conditional', IfNoneMatch: ETag });
    expect(await failureOf(sdk.send(head))).toMatchObject({ status: 304 });
  });

  test('is written only where conditions hold', async () => {
    const { ETag } = await bench.put(Bucket, 'guarded', '1', { IfNoneMatch: '*' });
    const refused = { name: 'PreconditionFailed', status: 412 };
    expect(await failureOf(bench.put(Bucket, 'guarded', '2', { IfNoneMatch: '*' }))).toMatchObject(refused);
    expect(await failureOf(bench.put(Bucket, 'guarded', '2', { IfMatch: '"other"' }))).toMatchObject(refused);
    await bench.put(Bucket, 'guarded', '3', { IfMatch: ETag });
    expect(await bench.text(Bucket, 'guarded')).toBe('3');
    expect(await failureOf(bench.put(Bucket, 'guarded', '2', { IfNoneMatch: '"x"' }))).toMatchObject({ status: 501 });
  });

  test('is given under other headers by a query', async () => {
    await bench.put(Bucket, 'overridden', 'x', { ContentType: 'text/html' });
    const asked = { ResponseContentType: 'text/plain', ResponseContentDisposition: 'attachment; filename="x.txt"' };
    const got = await bench.sdk.send(new GetObjectCommand({ Bucket, Key: 'overridden', ...asked }));
    expect(got).toMatchObject({ ContentType: 'text/plain', ContentDisposition: asked.ResponseContentDisposition });
  });

  test('is copied with its metadata, or with other', async () => {
    const { sdk } = bench;
    await bench.put(Bucket, 'from +é', 'copied', { Metadata: { a: '1' }, ContentType: 'text/x', Tagging: 't=1' });
    const CopySource = `${Bucket}/${encodeURIComponent('from +é')}`;
    const copied = await sdk.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource }));
    expect(copied.CopyObjectResult).toMatchObject({ ETag: `"${md5('copied')}"`, ChecksumCRC32: expect.any(String) });
    expect(await sdk.send(new HeadObjectCommand({ Bucket, Key: 'to' }))).toMatchObject({
      ...{ Metadata: { a: '1' }, ContentType: 'text/x' },
    });
    const replacing = { MetadataDirective: 'REPLACE' as const, Metadata: { b: '2' }, ContentType: 'text/y' };
    await sdk.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource: `${Bucket}/to`, ...replacing }));
    expect(await sdk.send(new HeadObjectCommand({ Bucket, Key: 'to' }))).toMatchObject({
      ...{ Metadata: { b: '2' }, ContentType: 'text/y' },
    });
    expect((await sdk.send(new GetObjectTaggingCommand({ Bucket, Key: 'to' }))).TagSet).toEqual([
      { Key: 't', Value: '1' },
    ]);
    const copy = (more: object) =>
      failureOf(sdk.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource, ...more })));
    expect(await copy({ CopySource: `${Bucket}/to` })).toMatchObject({ name: 'InvalidRequest' });
    expect(await copy({ CopySource: `${Bucket}/none` })).toMatchObject({ name: 'NoSuchKey' });
    expect(await copy({ CopySource: 'no-bucket/x' })).toMatchObject({ name: 'NoSuchBucket' });
    expect(await copy({ CopySourceIfMatch: '"x"' })).toMatchObject({ status: 412 });
    expect(await copy({ CopySourceIfNoneMatch: copied.CopyObjectResult?.ETag })).toMatchObject({ status: 412 });
  });

  test('has tags that change without it', async () => {
    const { sdk } = bench;
    await bench.put(Bucket, 'tagged', 'x');
    const TagSet = [
      { Key: 'a b', Value: 'é&<' },
      { Key: 'c', Value: '' },
    ];
    await sdk.send(new PutObjectTaggingCommand({ Bucket, Key: 'tagged', Tagging: { TagSet } }));
    const told = await sdk.send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged' }));
    expect(new Set(told.TagSet)).toEqual(new Set(TagSet));
    await sdk.send(new DeleteObjectTaggingCommand({ Bucket, Key: 'tagged' }));
    expect((await sdk.send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged' }))).TagSet).toEqual([]);
    const none = new PutObjectTaggingCommand({ Bucket, Key: 'none', Tagging: { TagSet } });
    expect(await failureOf(sdk.send(none))).toMatchObject({ name: 'NoSuchKey' });
  });

  test('is deleted, also where there is none', async () => {
    const { sdk } = bench;
    await bench.put(Bucket, 'gone', 'x');
    for (let i = 0; i < 2; i += 1) await sdk.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }));
    expect(await failureOf(bench.text(Bucket, 'gone'))).toMatchObject({ name: 'NoSuchKey', status: 404 });
    const Objects = ['a&b', ' ', '<é>'].map((Key) => ({ Key }));
    for (const { Key } of Objects) await bench.put(Bucket, Key, 'x');
    const { Deleted = [], Errors } = await sdk.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect([Deleted.map(({ Key }) => Key), Errors]).toEqual([['a&b', ' ', '<é>'], undefined]);
    for (const { Key } of Objects)
      expect(await failureOf(bench.text(Bucket, Key))).toMatchObject({ name: 'NoSuchKey' });
  });
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

describe('an upload in parts', () => {
  let Bucket: string;
  beforeAll(async () => {
    Bucket = await bench.bucket('uploads');
  });

  const begin = async (Key: string, more: object = {}) => {
    const { UploadId = '' } = await bench.sdk.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }));
    return { Bucket, Key, UploadId };
  };

  test('makes one object of them', async () => {
    const { sdk } = bench;
    const upload = await begin('big', { ContentType: 'video/mp4', Metadata: { a: '1' } });
    const parts = [randomBytes(5 * MIB), randomBytes(5 * MIB + 3), randomBytes(11)];
    const Parts = [];
    for (const [i, Body] of parts.entries()) {
      const { ETag } = await sdk.send(new UploadPartCommand({ ...upload, PartNumber: i * 2 + 1, Body }));
      Parts.push({ PartNumber: i * 2 + 1, ETag });
    }
    const listed = await sdk.send(new ListPartsCommand({ ...upload, MaxParts: 2 }));
    expect(listed).toMatchObject({
      IsTruncated: true,
      NextPartNumberMarker: '3',
      Parts: [{ PartNumber: 1, Size: 5 * MIB }, { PartNumber: 3 }],
    });
    const rest = await sdk.send(new ListPartsCommand({ ...upload, PartNumberMarker: '3' }));
    expect(rest.Parts).toMatchObject([{ PartNumber: 5, ETag: `"${md5(parts[2] as Buffer)}"` }]);
    const open = await sdk.send(new ListMultipartUploadsCommand({ Bucket }));
    expect(open.Uploads).toMatchObject([{ Key: 'big', UploadId: upload.UploadId }]);
    const complete = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    const etag = `"${md5(Buffer.concat(parts.map((each) => createHash('md5').update(each).digest())))}-3"`;
    expect(await sdk.send(complete)).toMatchObject({
      ETag: etag,
      Bucket,
      Key: 'big',
      Location: expect.stringContaining('big'),
    });
    // Told again, as a client does that has lost the answer.
    expect(await sdk.send(complete)).toMatchObject({ ETag: etag });
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: 'big' }));
    expect(got).toMatchObject({ ETag: etag, ContentType: 'video/mp4', Metadata: { a: '1' } });
    expect(md5((await got.Body?.transformToByteArray()) ?? '')).toBe(md5(Buffer.concat(parts)));
    const across = await sdk.send(
      new GetObjectCommand({ Bucket, Key: 'big', Range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}` }),
    );
    expect(Buffer.from((await across.Body?.transformToByteArray()) ?? [])).toEqual(
      Buffer.concat(parts).subarray(5 * MIB - 2, 5 * MIB + 2),
    );
    expect((await sdk.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  test.each([
    ['CRC32', 'COMPOSITE'],
    ['SHA256', 'COMPOSITE'],
    ['CRC32C', 'FULL_OBJECT'],
    ['CRC64NVME', 'FULL_OBJECT'],
  ] as const)('has a %s that is %s', async (ChecksumAlgorithm, ChecksumType) => {
    const { sdk } = bench;
    const name = `Checksum${ChecksumAlgorithm}`;
    const upload = await begin(`sum-${ChecksumAlgorithm}`, { ChecksumAlgorithm, ChecksumType });
    const bodies = [Buffer.alloc(5 * MIB, 'x'), Buffer.from('tail')];
    const Parts = [];
    for (const [i, Body] of bodies.entries()) {
      const part: Readonly<Record<string, unknown>> = {
        ...(await sdk.send(new UploadPartCommand({ ...upload, PartNumber: i + 1, Body, ChecksumAlgorithm }))),
      };
      Parts.push({ PartNumber: i + 1, ETag: String(part.ETag), [name]: part[name] });
    }
    const done: Readonly<Record<string, unknown>> = {
      ...(await sdk.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))),
    };
    expect(done).toMatchObject({ ChecksumType, [name]: expect.any(String) });
    const whole: Readonly<Record<string, unknown>> = {
      ...(await bench.put(Bucket, 'whole', Buffer.concat(bodies), { ChecksumAlgorithm })),
    };
    if (ChecksumType === 'FULL_OBJECT') expect(done[name]).toBe(whole[name]);
    else expect(done[name]).toMatch(/-2$/);
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: upload.Key, ChecksumMode: 'ENABLED' }));
    expect({ ...got }).toMatchObject({ [name]: done[name], ChecksumType });
    expect((await got.Body?.transformToByteArray())?.length).toBe(5 * MIB + 4);
  });

  test('takes parts of other objects', async () => {
    const { sdk } = bench;
    const source = randomBytes(6 * MIB);
    await bench.put(Bucket, 'source', source);
    const upload = await begin('assembled');
    const copy = (PartNumber: number, more: object) =>
      sdk.send(new UploadPartCopyCommand({ ...upload, PartNumber, CopySource: `${Bucket}/source`, ...more }));
    const first = await copy(1, {});
    const second = await copy(2, { CopySourceRange: 'bytes=10-19' });
    expect(second.CopyPartResult?.ETag).toBe(`"${md5(source.subarray(10, 20))}"`);
    expect(await failureOf(copy(3, { CopySourceRange: `bytes=0-${6 * MIB}` }))).toMatchObject({ name: 'InvalidRange' });
    expect(await failureOf(copy(3, { CopySourceRange: 'bytes=x' }))).toMatchObject({ name: 'InvalidArgument' });
    expect(await failureOf(copy(3, { CopySourceIfMatch: '"x"' }))).toMatchObject({ status: 412 });
    const Parts = [first, second].map(({ CopyPartResult }, i) => ({ PartNumber: i + 1, ETag: CopyPartResult?.ETag }));
    await sdk.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: 'assembled' }));
    expect(md5((await got.Body?.transformToByteArray()) ?? '')).toBe(
      md5(Buffer.concat([source, source.subarray(10, 20)])),
    );
  });

  test('is refused for parts that are not those that were sent', async () => {
    const { sdk } = bench;
    const upload = await begin('refused');
    const part = async (PartNumber: number, Body: string) => {
      const { ETag } = await sdk.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
      return { PartNumber, ETag };
    };
    const [one, two] = [await part(1, 'small'), await part(2, 'b')];
    const complete = (Parts: object[]) =>
      failureOf(sdk.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } })));
    expect(await complete([one, two])).toMatchObject({ name: 'EntityTooSmall', status: 400 });
    expect(await complete([two, one])).toMatchObject({ name: 'InvalidPartOrder' });
    expect(await complete([{ ...one, ETag: '"x"' }])).toMatchObject({ name: 'InvalidPart' });
    expect(await complete([{ PartNumber: 9, ETag: one.ETag }])).toMatchObject({ name: 'InvalidPart' });
    await sdk.send(new AbortMultipartUploadCommand(upload));
    expect(await complete([one])).toMatchObject({ name: 'NoSuchUpload', status: 404 });
    expect(await failureOf(part(3, 'late'))).toMatchObject({ name: 'NoSuchUpload' });
    expect(await failureOf(sdk.send(new AbortMultipartUploadCommand(upload)))).toMatchObject({ name: 'NoSuchUpload' });
    expect(await failureOf(sdk.send(new ListPartsCommand(upload)))).toMatchObject({ name: 'NoSuchUpload' });
  });

  test('stands in a list page by page, and by folder', async () => {
    const { sdk } = bench;
    const Other = await bench.bucket('unfinished');
    const keys = ['a', 'a', 'b/1', 'b/2', 'c'];
    for (const Key of keys) await sdk.send(new CreateMultipartUploadCommand({ Bucket: Other, Key }));
    const seen: (string | undefined)[] = [];
    let markers: object | null = {};
    while (markers !== null) {
      const page: ListMultipartUploadsCommandOutput = await sdk.send(
        new ListMultipartUploadsCommand({ Bucket: Other, MaxUploads: 2, ...markers }),
      );
      seen.push(...(page.Uploads ?? []).map(({ Key }) => Key));
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      markers = page.IsTruncated ? { KeyMarker, UploadIdMarker } : null;
    }
    expect(seen).toEqual(keys);
    const folders = await sdk.send(new ListMultipartUploadsCommand({ Bucket: Other, Delimiter: '/', MaxUploads: 3 }));
    expect([folders.Uploads?.map(({ Key }) => Key), folders.CommonPrefixes]).toEqual([['a', 'a'], [{ Prefix: 'b/' }]]);
    expect([folders.IsTruncated, folders.NextKeyMarker]).toEqual([true, 'b/']);
    const last = await sdk.send(new ListMultipartUploadsCommand({ Bucket: Other, Delimiter: '/', KeyMarker: 'b/' }));
    expect([last.Uploads?.map(({ Key }) => Key), last.CommonPrefixes]).toEqual([['c'], undefined]);
    const prefixed = await sdk.send(new ListMultipartUploadsCommand({ Bucket: Other, Prefix: 'b/' }));
    expect(prefixed.Uploads?.map(({ Key }) => Key)).toEqual(['b/1', 'b/2']);
  });
});
