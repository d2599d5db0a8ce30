// Which operation a request is, and which bytes its key has.
import { describe, expect, test } from 'vitest';
import { nameOf } from './failures.ts';
import { addressOf, operationOf } from './operation.ts';

const keyOf = (path: string) => addressOf(`/s3/photos/${path}`).key;
const failure = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return nameOf(error as never);
  }
};
const operation = (method: string, url: string, headers = {}) =>
  failure(() => operationOf(method, addressOf(url), headers));

describe('a key', () => {
  test.each([
    ['a/b', 'a/b'],
    ['a%2Fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['a//b', 'a//b'],
    ['/a', '/a'],
    ['a/', 'a/'],
    ['../x', '../x'],
    ['./../..', './../..'],
    ['a+b', 'a+b'],
    ['%20%2B', ' +'],
    ['%C3%A9', 'é'],
    ['e%CC%81', 'e\u0301'],
    ['%F0%9F%98%80', '😀'],
    ['%00%01%7F', '\u0000\u0001\u007f'],
    ['a;b=c,d', 'a;b=c,d'],
    ['__proto__', '__proto__'],
    ['x'.repeat(1_024), 'x'.repeat(1_024)],
  ])('%s is %o', (path, key) => {
    expect(keyOf(path)).toBe(key);
  });

  test.each([
    ['%', 'InvalidURI'],
    ['%zz', 'InvalidURI'],
    ['%ff', 'InvalidURI'],
    ['%C3', 'InvalidURI'],
    ['%ED%A0%80', 'InvalidURI'],
    ['x'.repeat(1_025), 'KeyTooLongError'],
    ['%C3%A9'.repeat(513), 'KeyTooLongError'],
  ])('%s is refused as %s', (path, name) => {
    expect(failure(() => keyOf(path))).toEqual([name, 400]);
  });

  test('stands before a query, in which the first value of a name counts and a plus sign is one', () => {
    const { key, query } = addressOf('/s3/photos/a?prefix=a+b%20c&prefix=x&delimiter&=y&a=b=c');
    expect([key, ...query]).toEqual(['a', ['prefix', 'a+b c'], ['delimiter', ''], ['a', 'b=c']]);
    expect(failure(() => addressOf('/s3/photos?prefix=%ff'))).toEqual(['InvalidURI', 400]);
  });

  test('is none where the address ends with its bucket, or before it', () => {
    expect(addressOf('/s3/photos/')).toMatchObject({ bucket: 'photos', key: null });
    expect(addressOf('/s3/photos')).toMatchObject({ bucket: 'photos', key: null });
    expect(addressOf('/s3')).toMatchObject({ bucket: null, key: null });
    expect(addressOf('/s3/')).toMatchObject({ bucket: null, key: null });
  });
});

describe('the operation', () => {
  test.each([
    ['GET /s3/', 'ListBuckets'],
    ['GET /s3/?x-id=ListBuckets', 'ListBuckets'],
    ['PUT /s3/b', 'CreateBucket'],
    ['HEAD /s3/b/', 'HeadBucket'],
    ['DELETE /s3/b', 'DeleteBucket'],
    ['GET /s3/b?location', 'GetBucketLocation'],
    ['GET /s3/b?versioning=', 'GetBucketVersioning'],
    ['GET /s3/b?lifecycle', 'GetBucketLifecycleConfiguration'],
    ['PUT /s3/b?lifecycle', 'PutBucketLifecycleConfiguration'],
    ['DELETE /s3/b?lifecycle', 'DeleteBucketLifecycle'],
    ['GET /s3/b?notification', 'GetBucketNotificationConfiguration'],
    ['PUT /s3/b?notification', 'PutBucketNotificationConfiguration'],
    ['GET /s3/b', 'ListObjects'],
    ['GET /s3/b?prefix=uploads&marker=acl', 'ListObjects'],
    ['GET /s3/b?list-type=2', 'ListObjectsV2'],
    ['GET /s3/b?uploads', 'ListMultipartUploads'],
    ['POST /s3/b?delete', 'DeleteObjects'],
    ['GET /s3/b/k', 'GetObject'],
    ['GET /s3/b/k?X-Amz-Signature=00&partNumber=1', 'GetObject'],
    ['GET /s3/b/k?versionId=null', 'GetObject'],
    ['HEAD /s3/b/k', 'HeadObject'],
    ['PUT /s3/b/k?x-id=PutObject', 'PutObject'],
    ['DELETE /s3/b/k', 'DeleteObject'],
    ['GET /s3/b/k?tagging', 'GetObjectTagging'],
    ['PUT /s3/b/k?tagging', 'PutObjectTagging'],
    ['DELETE /s3/b/k?tagging', 'DeleteObjectTagging'],
    ['GET /s3/b/k?attributes', 'GetObjectAttributes'],
    ['POST /s3/b/k?uploads', 'CreateMultipartUpload'],
    ['PUT /s3/b/k?partNumber=1&uploadId=u', 'UploadPart'],
    ['GET /s3/b/k?uploadId=u', 'ListParts'],
    ['POST /s3/b/k?uploadId=u', 'CompleteMultipartUpload'],
    ['DELETE /s3/b/k?uploadId=u', 'AbortMultipartUpload'],
  ])('of %s is %s', (request, name) => {
    const [method = '', url = ''] = request.split(' ');
    expect(operation(method, url)).toBe(name);
  });

  test('of a write with the source of a copy is the copy', () => {
    const headers = { 'x-amz-copy-source': 'b/x' };
    expect(operation('PUT', '/s3/b/k', headers)).toBe('CopyObject');
    expect(operation('PUT', '/s3/b/k?partNumber=2&uploadId=u', headers)).toBe('UploadPartCopy');
    expect(operation('GET', '/s3/b/k', headers)).toBe('GetObject');
  });

  test.each([
    ['GET /s3/b?intelligent-tiering', 'NotImplemented', 501],
    ['PUT /s3/b?policy', 'NotImplemented', 501],
    ['PUT /s3/b?versions', 'NotImplemented', 501],
    ['PUT /s3/b?versioning', 'NotImplemented', 501],
    ['PUT /s3/b?tagging', 'NotImplemented', 501],
    ['DELETE /s3/b/k?acl', 'NotImplemented', 501],
    ['GET /s3/b/k?torrent', 'NotImplemented', 501],
    ['POST /s3/b/k?select&select-type=2', 'NotImplemented', 501],
    ['POST /s3/b/k?restore', 'NotImplemented', 501],
    ['GET /s3/b/k?tagging&acl', 'NotImplemented', 501],
    ['GET /s3/?session', 'NotImplemented', 501],
    // The form of a browser.
    ['POST /s3/b', 'NotImplemented', 501],
    ['PUT /s3/', 'MethodNotAllowed', 405],
    ['HEAD /s3/', 'MethodNotAllowed', 405],
    ['GET /s3/b/k?versionId=3', 'InvalidArgument', 400],
  ])('of %s is %s', (request, name, status) => {
    const [method = '', url = ''] = request.split(' ');
    expect(operation(method, url)).toEqual([name, status]);
  });
});
