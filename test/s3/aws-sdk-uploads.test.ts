// The AWS SDK for JavaScript as programs use it: uploads in parts.
import { createHash, randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
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
      Location: `${bench.url}/s3/uploads/big`,
    });
    // Told again, as a client does that has lost the answer.
    expect(await sdk.send(complete)).toMatchObject({ ETag: etag });
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: 'big' }));
    expect(got).toMatchObject({ ETag: etag, ContentType: 'video/mp4', Metadata: { a: '1' } });
    expect(md5((await got.Body?.transformToByteArray()) ?? '')).toBe(md5(Buffer.concat(parts)));
    for (const [i, part] of parts.entries()) {
      const one = await sdk.send(new GetObjectCommand({ Bucket, Key: 'big', PartNumber: i + 1 }));
      expect(one).toMatchObject({ PartsCount: 3, ContentLength: part.length, $metadata: { httpStatusCode: 206 } });
      expect(md5((await one.Body?.transformToByteArray()) ?? '')).toBe(md5(part));
    }
    const ofPart = await sdk.send(new HeadObjectCommand({ Bucket, Key: 'big', PartNumber: 3 }));
    expect([ofPart.ContentLength, ofPart.PartsCount]).toEqual([11, 3]);
    const beyond = new GetObjectCommand({ Bucket, Key: 'big', PartNumber: 4 });
    expect(await failureOf(sdk.send(beyond))).toMatchObject({ name: 'InvalidPart', status: 400 });
    const both = new GetObjectCommand({ Bucket, Key: 'big', PartNumber: 1, Range: 'bytes=0-3' });
    expect(await failureOf(sdk.send(both))).toMatchObject({ name: 'InvalidRequest', status: 400 });
    const across = await sdk.send(
      new GetObjectCommand({ Bucket, Key: 'big', Range: `bytes=${5 * MIB - 2}-${5 * MIB + 1}` }),
    );
    expect(Buffer.from((await across.Body?.transformToByteArray()) ?? [])).toEqual(
      Buffer.concat(parts).subarray(5 * MIB - 2, 5 * MIB + 2),
    );
    expect((await sdk.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  test('is told by an address that leads to the object, whatever its key and the address it came to', async () => {
    const upload = await begin('a b/é?#%.txt');
    const sdk = bench.client({ endpoint: bench.root });
    const { ETag } = await sdk.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body: 'x' }));
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    const { Location } = await sdk.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }));
    expect(Location).toBe(`${bench.url}/s3/uploads/a%20b/%C3%A9%3F%23%25.txt`);
    const reply = await send({ root: bench.url, key: bench.key }, { path: new URL(String(Location)).pathname });
    expect([reply.status, reply.text]).toEqual([200, 'x']);
    sdk.destroy();
  });

  test.each([
    ['CRC32', 'COMPOSITE'],
    ['SHA256', 'COMPOSITE'],
    ['SHA1', 'COMPOSITE'],
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
    const again = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    expect(await sdk.send(again)).toMatchObject({ ChecksumType, [name]: done[name] });
    const whole: Readonly<Record<string, unknown>> = {
      ...(await bench.put(Bucket, 'whole', Buffer.concat(bodies), { ChecksumAlgorithm })),
    };
    if (ChecksumType === 'FULL_OBJECT') expect(done[name]).toBe(whole[name]);
    else expect(done[name]).toMatch(/-2$/);
    const got = await sdk.send(new GetObjectCommand({ Bucket, Key: upload.Key, ChecksumMode: 'ENABLED' }));
    expect({ ...got }).toMatchObject({ [name]: done[name], ChecksumType });
    expect((await got.Body?.transformToByteArray())?.length).toBe(5 * MIB + 4);
    // Each part has its own, which the SDK compares with the bytes.
    const sums = Parts.map((part) => (part as Readonly<Record<string, unknown>>)[name]);
    for (const [i, body] of bodies.entries()) {
      const asked = { Bucket, Key: upload.Key, PartNumber: i + 1 };
      const one = await sdk.send(new GetObjectCommand({ ...asked, ChecksumMode: 'ENABLED' }));
      expect({ ...one }).toMatchObject({ ChecksumType, [name]: sums[i], PartsCount: 2 });
      expect(md5((await one.Body?.transformToByteArray()) ?? '')).toBe(md5(body));
      const ofPart = await sdk.send(new HeadObjectCommand({ ...asked, ChecksumMode: 'ENABLED' }));
      expect({ ...ofPart }).toMatchObject({ ChecksumType, [name]: sums[i], ContentLength: body.length });
      const unasked: Readonly<Record<string, unknown>> = { ...(await sdk.send(new HeadObjectCommand(asked))) };
      expect([unasked.ChecksumType, unasked[name]]).toEqual([undefined, undefined]);
    }
    const partsOf = async (Key: string, page: object = {}) => {
      const asked = { Bucket, Key, ObjectAttributes: ['ObjectParts' as const], ...page };
      const { ObjectParts } = await sdk.send(new GetObjectAttributesCommand(asked));
      return ObjectParts?.Parts;
    };
    const listed = sums.map((sum, i) => ({ PartNumber: i + 1, Size: bodies[i]?.length, [name]: sum }));
    expect(await partsOf(upload.Key)).toEqual(listed);
    expect(await partsOf(upload.Key, { MaxParts: 1, PartNumberMarker: '1' })).toEqual(listed.slice(1));
    // A copy has those of its source, unless another algorithm was asked for.
    const CopySource = `${Bucket}/${upload.Key}`;
    await sdk.send(new CopyObjectCommand({ Bucket, Key: 'same', CopySource }));
    expect(await partsOf('same')).toEqual(listed);
    const other = ChecksumAlgorithm === 'SHA1' ? 'CRC32' : 'SHA1';
    await sdk.send(new CopyObjectCommand({ Bucket, Key: 'other', CopySource, ChecksumAlgorithm: other }));
    expect(await partsOf('other')).toEqual(listed.map(({ PartNumber, Size }) => ({ PartNumber, Size })));
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
