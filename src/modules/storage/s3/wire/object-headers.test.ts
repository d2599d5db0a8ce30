// What headers say of an object: kept, given back, refused.
import { describe, expect, test } from 'vitest';
import { sentChecksums, uploadChecksum, wholeChecksum } from './checksums.ts';
import { copyRangeOf, copySourceOf } from './copy-source.ts';
import { nameOf } from './failures.ts';
import { answeredHeaders, headersOf, refuseUnserved, tagsOfHeader, writtenObject } from './object-headers.ts';
import { addressOf } from './operation.ts';

const failure = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return nameOf(error as never)[0];
  }
};
const address = (query = '') => addressOf(`/s3/b/k?${query}`);

describe('headers of an object', () => {
  test('are kept and given back', () => {
    const sent = {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'max-age=60',
      'content-disposition': 'attachment; filename="a.txt"',
      'content-encoding': 'deflate, aws-chunked, gzip',
      'content-language': 'de',
      expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
      'x-amz-meta-color': 'blue',
      'x-amz-meta-empty': '',
      'x-amz-tagging': 'a=1&b=%26+x',
    };
    const written = writtenObject(sent);
    expect(written).toEqual({
      contentType: 'text/plain; charset=utf-8',
      headers: {
        cache_control: 'max-age=60',
        content_disposition: 'attachment; filename="a.txt"',
        content_encoding: 'deflate, gzip',
        content_language: 'de',
        expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
      },
      metadata: { color: 'blue', empty: '' },
      tags: { a: '1', b: '& x' },
    });
    const { 'x-amz-tagging': _, ...due } = sent;
    expect(answeredHeaders({ ...written, content_type: written.contentType }, address())).toEqual({
      ...due,
      'content-encoding': 'deflate, gzip',
    });
  });

  test('are none but a type where none are sent', () => {
    const due = { contentType: 'application/octet-stream', headers: {}, metadata: {}, tags: {} };
    expect(writtenObject({ 'content-encoding': 'aws-chunked' })).toEqual(due);
  });

  test('are text, and are given back in the bytes that they came in', () => {
    const utf8 = (text: string) => Buffer.from(text).toString('latin1');
    const sent = {
      'x-amz-meta-a': utf8('Hëllo 世界'),
      'x-amz-meta-b': 'H\u00ebllo',
      'content-disposition': 'attachment; filename="\u00e9.txt"',
    };
    const written = writtenObject(sent);
    expect(written.metadata).toEqual({ a: 'Hëllo 世界', b: 'Hëllo' });
    expect(written.headers).toEqual({
      content_disposition: 'attachment; filename="é.txt"',
      latin1: ['x-amz-meta-b', 'content-disposition'],
    });
    const metadata = { ...written.metadata, c: 'a\nb', d: 'é' };
    expect(answeredHeaders({ content_type: 'x', headers: written.headers, metadata }, address())).toEqual({
      'content-type': 'x',
      ...sent,
      'x-amz-meta-c': '=?UTF-8?B?YQpi?=',
      'x-amz-meta-d': utf8('é'),
    });
  });

  test('of a signed query are UTF-8', () => {
    const query = new URLSearchParams({ 'X-Amz-Signature': 'x', 'x-amz-meta-a': 'é世', 'x-amz-meta-b': 'Ã©' });
    const { metadata, headers } = writtenObject(headersOf({}, address(query.toString())));
    expect([metadata, headers]).toEqual([{ a: 'é世', b: 'Ã©' }, {}]);
  });

  test('with 2 KiB of metadata are taken, with more are not', () => {
    expect(failure(() => writtenObject({ 'x-amz-meta-a': 'x'.repeat(2_047) }))).toMatchObject({
      contentType: 'application/octet-stream',
    });
    expect(failure(() => writtenObject({ 'x-amz-meta-a': 'x'.repeat(2_048) }))).toBe('MetadataTooLarge');
  });

  test('are replaced by what the query of a read says', () => {
    const object = { content_type: 'text/html', headers: { cache_control: 'no-store' }, metadata: {} };
    const query = address(
      'response-content-type=text/plain&response-cache-control=max-age=1&response-content-disposition=attachment;%20filename=%22%C3%A9.txt%22',
    );
    expect(answeredHeaders(object, query)).toEqual({
      'content-type': 'text/plain',
      'cache-control': 'max-age=1',
      'content-disposition': 'attachment; filename="\u00c3\u00a9.txt"',
    });
    expect(failure(() => answeredHeaders(object, address('response-expires=a%0d%0aset-cookie:x')))).toBe(
      'InvalidArgument',
    );
  });

  test('in a signed query count as if they were sent, but for checksums', () => {
    const signed = address(
      'X-Amz-Signature=0&x-amz-meta-a=1&X-Amz-Acl=private&x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32',
    );
    const headers = headersOf({ host: 'h' }, signed);
    expect(headers).toMatchObject({ host: 'h', 'x-amz-meta-a': '1', 'x-amz-acl': 'private' });
    expect(sentChecksums(headers)).toEqual({ md5: null, algorithm: null, value: null });
    expect(headersOf({ host: 'h' }, address('x-amz-meta-a=1'))).toEqual({ host: 'h' });
  });

  test.each([
    [{ 'x-amz-acl': 'private' }, undefined],
    [{ 'x-amz-storage-class': 'STANDARD', 'x-amz-meta-x': '1' }, undefined],
    [{ 'x-amz-bucket-object-lock-enabled': 'false' }, undefined],
    [{ 'x-amz-acl': 'public-read' }, 'AccessControlListNotSupported'],
    [{ 'x-amz-grant-read': 'id=1' }, 'NotImplemented'],
    [{ 'x-amz-storage-class': 'GLACIER' }, undefined],
    [{ 'x-amz-server-side-encryption': 'AES256' }, undefined],
    [{ 'x-amz-server-side-encryption': 'aws:kms' }, 'NotImplemented'],
    [{ 'x-amz-storage-class': 'COLD' }, 'InvalidStorageClass'],
    [{ 'x-amz-server-side-encryption': 'aws:kms' }, 'NotImplemented'],
    [{ 'x-amz-server-side-encryption-customer-key': 'x' }, 'NotImplemented'],
    [{ 'x-amz-copy-source-server-side-encryption-customer-key': 'x' }, 'NotImplemented'],
    [{ 'x-amz-object-lock-mode': 'COMPLIANCE' }, 'NotImplemented'],
    [{ 'x-amz-website-redirect-location': '/x' }, 'NotImplemented'],
  ])('%o are %s', (headers, name) => {
    expect(failure(() => refuseUnserved(headers as never))).toBe(name);
  });

  test('name tags, ten at most', () => {
    expect(tagsOfHeader('')).toEqual({});
    expect(failure(() => tagsOfHeader('a=1&a=2'))).toBe('InvalidTag');
    expect(failure(() => tagsOfHeader(Array.from({ length: 11 }, (_, i) => `k${i}=`).join('&')))).toBe('InvalidTag');
  });
});

describe('checksums of a request', () => {
  test.each([
    [{}, { md5: null, algorithm: null, value: null }],
    [
      { 'content-md5': '1B2M2Y8AsgTpgAmY7PhCfg==' },
      { md5: 'd41d8cd98f00b204e9800998ecf8427e', algorithm: null, value: null },
    ],
    [{ 'x-amz-checksum-crc32': 'AAAAAA==' }, { md5: null, algorithm: 'crc32', value: 'AAAAAA==' }],
    [
      { 'x-amz-trailer': 'x-amz-checksum-sha256', 'x-amz-sdk-checksum-algorithm': 'SHA256' },
      { md5: null, algorithm: 'sha256', value: null },
    ],
    [{ 'x-amz-checksum-algorithm': 'CRC64NVME' }, { md5: null, algorithm: 'crc64nvme', value: null }],
    [{ 'content-md5': 'x' }, 'InvalidDigest'],
    [{ 'content-md5': 'AAAAAA==' }, 'InvalidDigest'],
    [{ 'x-amz-checksum-crc32': 'bad' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-sha1': 'AAAAAA==' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-sha1': 'AAAAAA==', 'x-amz-sdk-checksum-algorithm': 'SHA1' }, 'BadDigest'],
    [{ 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' }, 'InvalidRequest'],
    [{ 'x-amz-sdk-checksum-algorithm': 'XX' }, 'InvalidRequest'],
  ])('%o are %o', (headers, due) => {
    expect(failure(() => sentChecksums(headers as never))).toEqual(due);
  });

  test.each([
    [{}, null],
    [{ 'x-amz-checksum-algorithm': 'CRC32' }, { algorithm: 'crc32', type: 'COMPOSITE' }],
    [{ 'x-amz-checksum-algorithm': 'CRC64NVME' }, { algorithm: 'crc64nvme', type: 'FULL_OBJECT' }],
    [
      { 'x-amz-checksum-algorithm': 'CRC32C', 'x-amz-checksum-type': 'FULL_OBJECT' },
      { algorithm: 'crc32c', type: 'FULL_OBJECT' },
    ],
    [{ 'x-amz-checksum-algorithm': 'SHA256', 'x-amz-checksum-type': 'FULL_OBJECT' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'COMPOSITE' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-type': 'COMPOSITE' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'HALF' }, 'InvalidRequest'],
  ])('of an upload that begins with %o are %o', (headers, due) => {
    expect(failure(() => uploadChecksum(headers as never))).toEqual(due);
  });

  test('of a whole are compared as they are sent', () => {
    const headers = { 'x-amz-checksum-crc32': 'AAAAAA==-2', 'x-amz-checksum-type': 'COMPOSITE' };
    expect(wholeChecksum(headers)).toEqual({ crc32: 'AAAAAA==-2', type: 'COMPOSITE' });
    expect(wholeChecksum({})).toBeNull();
  });
});

describe('the source of a copy', () => {
  const source = (header: string) => failure(() => copySourceOf({ 'x-amz-copy-source': header }));
  test.each([
    ['b/k', { bucket: 'b', key: 'k' }],
    ['/b/a%2Fk%20+', { bucket: 'b', key: 'a/k +' }],
    ['b/a//b', { bucket: 'b', key: 'a//b' }],
    ['b/k?versionId=null', { bucket: 'b', key: 'k' }],
    ['b/k%3FversionId=1', { bucket: 'b', key: 'k?versionId=1' }],
    ['b/k?versionId=1', 'InvalidArgument'],
    ['b', 'InvalidArgument'],
    ['b/', 'InvalidArgument'],
    ['b/%zz', 'InvalidURI'],
  ])('%s is %o', (header, due) => {
    expect(source(header)).toEqual(due);
  });

  test.each([
    [undefined, null],
    ['bytes=0-9', { start: 0, end: 9 }],
    ['bytes=3-3', { start: 3, end: 3 }],
    ['bytes=0-10', 'InvalidRange'],
    ['bytes=5-4', 'InvalidArgument'],
    ['bytes=0-', 'InvalidArgument'],
    ['bytes=-5', 'InvalidArgument'],
    ['0-5', 'InvalidArgument'],
  ])('of ten bytes by %s is %o', (range, due) => {
    expect(failure(() => copyRangeOf(range === undefined ? {} : { 'x-amz-copy-source-range': range }, 10))).toEqual(
      due,
    );
  });
});
