// The AWS SDK for JavaScript as programs use it: objects, with the checksums that it sends and compares.
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  DeleteObjectTaggingCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { failureOf, S3Bench } from './harness.ts';
import { send } from './wire.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const MIB = 2 ** 20;
const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex');

describe('an object', () => {
  let Bucket: string;
  beforeAll(async () => {
    Bucket = await bench.bucket('objects');
  });

  test('is what was put, with all that was said of it', async () => {
    const { sdk } = bench;
    const Body = randomBytes(100_000);
    const said = {
      ContentType: 'image/png',
      CacheControl: 'max-age=60',
      ContentDisposition: 'inline',
      ContentLanguage: 'de',
      ContentEncoding: 'identity',
      Expires: new Date('2033-12-01T16:00:00Z'),
      Metadata: { colour: 'blue' },
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
      ETag: md5('hello'),
      Checksum: { [name]: put[name] },
      ObjectSize: 5,
      StorageClass: 'STANDARD',
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
    // Clients would compare the checksum with the body, and there is none.
    const { headers } = await send(bench, {
      path: '/objects/conditional',
      headers: { 'if-none-match': String(ETag), 'x-amz-checksum-mode': 'ENABLED' },
    });
    expect([headers.etag, headers['x-amz-checksum-crc32']]).toEqual([ETag, undefined]);
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
    expect(await failureOf(bench.put(Bucket, 'none', '2', { IfMatch: ETag }))).toMatchObject({
      name: 'NoSuchKey',
      status: 404,
    });
    const { ETag: third } = await bench.put(Bucket, 'guarded', '3', { IfNoneMatch: '"x"' });
    expect(await failureOf(bench.put(Bucket, 'guarded', '4', { IfNoneMatch: third }))).toMatchObject(refused);
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
      Metadata: { a: '1' },
      ContentType: 'text/x',
    });
    const replacing = { MetadataDirective: 'REPLACE' as const, Metadata: { b: '2' }, ContentType: 'text/y' };
    await sdk.send(new CopyObjectCommand({ Bucket, Key: 'to', CopySource: `${Bucket}/to`, ...replacing }));
    expect(await sdk.send(new HeadObjectCommand({ Bucket, Key: 'to' }))).toMatchObject({
      Metadata: { b: '2' },
      ContentType: 'text/y',
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

  test('is copied with the checksum that is asked for', async () => {
    const { sdk } = bench;
    const Body = 'worked out';
    await bench.put(Bucket, 'summed', Body, { ChecksumAlgorithm: 'CRC32' });
    const CopySource = `${Bucket}/summed`;
    const sha256 = createHash('sha256').update(Body).digest('base64');
    const copy = (Key: string, more: object = {}) =>
      sdk.send(new CopyObjectCommand({ Bucket, Key, CopySource, ChecksumAlgorithm: 'SHA256', ...more }));
    const sums = async (Key: string) => {
      const head = await sdk.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
      return [head.ChecksumSHA256, head.ChecksumCRC32, head.ChecksumType];
    };
    const { CopyObjectResult: copied } = await copy('summed-copy');
    expect([copied?.ChecksumSHA256, copied?.ChecksumCRC32, copied?.ChecksumType]).toEqual([
      ...[sha256, undefined, 'FULL_OBJECT'],
    ]);
    expect(await sums('summed-copy')).toEqual([sha256, undefined, 'FULL_OBJECT']);
    await copy('summed-kept', { ChecksumAlgorithm: undefined });
    expect(await sums('summed-kept')).toEqual([undefined, expect.any(String), 'FULL_OBJECT']);
    await copy('summed-new', { MetadataDirective: 'REPLACE', Metadata: { a: '1' } });
    expect(await sums('summed-new')).toEqual([sha256, undefined, 'FULL_OBJECT']);
    // To itself too: the checksum is what changes.
    await copy('summed');
    expect(await sums('summed')).toEqual([sha256, undefined, 'FULL_OBJECT']);
    expect(await bench.text(Bucket, 'summed')).toBe(Body);
    expect(await failureOf(copy('summed-other', { CopySourceIfMatch: '"x"' }))).toMatchObject({ status: 412 });
    await bench.put(Bucket, 'summed-empty');
    await copy('summed-empty', { CopySource: `${Bucket}/summed-empty` });
    const none = createHash('sha256').digest('base64');
    expect(await sums('summed-empty')).toEqual([none, undefined, 'FULL_OBJECT']);
  });

  test('answers HEAD of a range as GET does', async () => {
    const { sdk } = bench;
    await bench.put(Bucket, 'ranged', '0123456789');
    const head = (Range: string) => sdk.send(new HeadObjectCommand({ Bucket, Key: 'ranged', Range }));
    const part = await head('bytes=2-4');
    expect([part.$metadata.httpStatusCode, part.ContentRange, part.ContentLength]).toEqual([206, 'bytes 2-4/10', 3]);
    const last = await head('bytes=-1');
    expect([last.$metadata.httpStatusCode, last.ContentRange, last.ContentLength]).toEqual([206, 'bytes 9-9/10', 1]);
    expect((await failureOf(head('bytes=10-'))).status).toBe(416);
    const whole = await sdk.send(new HeadObjectCommand({ Bucket, Key: 'ranged' }));
    expect([whole.$metadata.httpStatusCode, whole.ContentRange, whole.ContentLength]).toEqual([200, undefined, 10]);
  });

  test('gives metadata back in the bytes that it came in, to its copies too', async () => {
    const utf8 = Buffer.from('é世').toString('latin1');
    // Signed as text, and sent in the bytes of the one and the other. With a body that is a text Node would write the head in UTF-8.
    const body = Buffer.from('x');
    const text = { 'x-amz-meta-latin1': 'caf\u00e9', 'x-amz-meta-utf8': 'é世' };
    const headers = { ...text, 'x-amz-meta-utf8': utf8 };
    const put = { method: 'PUT', path: '/objects/bytes', body, headers: text, after: { headers } };
    expect(await send(bench, put)).toMatchObject({ status: 200 });
    const source = { 'x-amz-copy-source': '/objects/bytes' };
    expect((await send(bench, { method: 'PUT', path: '/objects/bytes-copy', headers: source })).status).toBe(200);
    for (const path of ['/objects/bytes', '/objects/bytes-copy']) {
      expect((await send(bench, { method: 'HEAD', path })).headers).toMatchObject(headers);
    }
    const named = { bucket: Bucket, key: 'bytes' };
    const told = await bench.rest('GET', `/v1/storage/object/head?${new URLSearchParams(named)}`);
    expect(told.body.data.metadata).toEqual({ latin1: 'café', utf8: 'é世' });
    const metadata = { latin1: 'thé' };
    await bench.rest('POST', '/v1/storage/object/copy', { ...named, to_key: 'bytes-native', metadata });
    const native = await send(bench, { method: 'HEAD', path: '/objects/bytes-native' });
    expect(native.headers['x-amz-meta-latin1']).toBe(Buffer.from('thé').toString('latin1'));
  });

  test('may be sent as aws-chunked without being in chunks', async () => {
    const headers = { 'content-encoding': 'aws-chunked, gzip' };
    for (const payload of [undefined, 'UNSIGNED-PAYLOAD']) {
      const sent = { method: 'PUT', path: '/objects/plain', body: 'plain', headers, ...(payload ? { payload } : {}) };
      expect(await send(bench, sent)).toMatchObject({ status: 200 });
      const { text, headers: told } = await send(bench, { path: '/objects/plain' });
      expect([text, told['content-encoding']]).toEqual(['plain', 'gzip']);
    }
    const framed = { ...headers, 'x-amz-decoded-content-length': '5' };
    const body = '5;chunk-signature=0\r\nplain\r\n0\r\n\r\n';
    const reply = await send(bench, { method: 'PUT', path: '/objects/framed', body, headers: framed });
    expect([reply.status, reply.code]).toEqual([400, 'IncompleteBody']);
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

  describe('is deleted on conditions:', () => {
    const put = async (Key: string) => {
      const { ETag } = await bench.put(Bucket, Key, 'five!');
      const { LastModified } = await bench.sdk.send(new HeadObjectCommand({ Bucket, Key }));
      return { ETag, LastModified };
    };
    const past = new Date(0);
    const isThere = (Key: string) =>
      bench.text(Bucket, Key).then(
        () => true,
        (error) => error.name !== 'NoSuchKey',
      );

    test.each([
      ['another tag', { IfMatch: '"other"' }],
      ['another size', { IfMatchSize: 4 }],
      ['another time', { IfMatchLastModifiedTime: past }],
    ])('%s keeps it', async (name, condition) => {
      const { ETag, LastModified } = await put(name);
      const right = { IfMatch: ETag, IfMatchSize: 5, IfMatchLastModifiedTime: LastModified };
      const remove = (conditions: object) =>
        bench.sdk.send(new DeleteObjectCommand({ Bucket, Key: name, ...conditions }));
      const refused = { name: 'PreconditionFailed', status: 412 };
      expect(await failureOf(remove(condition))).toMatchObject(refused);
      expect(await failureOf(remove({ ...right, ...condition }))).toMatchObject(refused);
      expect(await isThere(name)).toBe(true);
      await remove(right);
      expect(await isThere(name)).toBe(false);
    });

    test('where there is none, only a tag is refused', async () => {
      const remove = (conditions: object) =>
        bench.sdk.send(new DeleteObjectCommand({ Bucket, Key: 'never', ...conditions }));
      for (const IfMatch of ['"x"', '*']) {
        expect(await failureOf(remove({ IfMatch }))).toMatchObject({ name: 'NoSuchKey', status: 404 });
      }
      await remove({ IfMatchSize: 5, IfMatchLastModifiedTime: past });
    });

    test.each([
      ['x-amz-if-match-size', '5 bytes', 'InvalidArgument'],
      ['x-amz-if-match-size', '', 'InvalidArgument'],
      ['x-amz-if-match-last-modified-time', 'soon', 'InvalidArgument'],
      ['if-none-match', '*', 'NotImplemented'],
      ['if-unmodified-since', past.toUTCString(), 'NotImplemented'],
    ])('%s: %s is %s, and keeps it', async (header, value, code) => {
      await put('unread');
      const reply = await send(bench, { method: 'DELETE', path: '/objects/unread', headers: { [header]: value } });
      expect(reply.code).toBe(code);
      expect(await isThere('unread')).toBe(true);
    });

    test('each of many keys by its own', async () => {
      const { ETag, LastModified } = await put('many-right');
      for (const key of ['many-tag', 'many-size', 'many-time', 'many-twice', 'many-free']) await put(key);
      const Objects = [
        { Key: 'many-right', ETag, Size: 5, LastModifiedTime: LastModified },
        { Key: 'many-tag', ETag: '"other"' },
        { Key: 'many-size', ETag, Size: 6 },
        { Key: 'many-time', LastModifiedTime: past },
        { Key: 'many-twice', ETag: '"other"' },
        { Key: 'many-twice', ETag: '*' },
        { Key: 'many-none', ETag },
        { Key: 'many-none', Size: 1 },
        { Key: 'many-free' },
      ];
      const send = (Quiet: boolean) => bench.sdk.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet } }));
      const { Deleted = [], Errors = [] } = await send(false);
      expect(Deleted.map(({ Key }) => Key)).toEqual(['many-right', 'many-twice', 'many-none', 'many-free']);
      expect(Errors.map(({ Key, Code }) => [Key, Code])).toEqual([
        ['many-tag', 'PreconditionFailed'],
        ['many-size', 'PreconditionFailed'],
        ['many-time', 'PreconditionFailed'],
        ['many-twice', 'PreconditionFailed'],
        ['many-none', 'NoSuchKey'],
      ]);
      const left = await Promise.all(['many-right', 'many-tag', 'many-size', 'many-time', 'many-twice'].map(isThere));
      expect(left).toEqual([false, true, true, true, false]);
      const quiet = await send(true);
      expect([quiet.Deleted, quiet.Errors?.length]).toEqual([undefined, 7]);
    });
  });
});
