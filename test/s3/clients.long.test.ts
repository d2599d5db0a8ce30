// Other clients, unchanged: minio, aws4fetch, addresses that are signed once, and buckets in the host.
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { AwsClient } from 'aws4fetch';
import { Client as Minio } from 'minio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOMAIN, S3Bench } from './harness.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start();
});
afterAll(() => bench.stop());

const MIB = 2 ** 20;
const md5 = (bytes: Uint8Array | string) => createHash('md5').update(bytes).digest('hex');
const KEYS = [
  'plain',
  'a b+c',
  'é',
  'e\u0301',
  'a//b',
  '/lead',
  '..',
  '../x',
  './x',
  'a%2Fb',
  'a%252Fb',
  '&<>"\'',
  '漢/😀',
  ';=,@:$!*()~',
];

describe('minio', () => {
  const minio = (region?: string) => {
    const { hostname, port } = new URL(bench.root);
    const { accessKeyId: accessKey, secretAccessKey: secretKey } = bench.key;
    return new Minio({
      endPoint: hostname,
      port: Number(port),
      useSSL: false,
      partSize: 8 * MIB,
      accessKey,
      secretKey,
      ...(region ? { region } : {}),
    });
  };

  test('keeps and finds objects, in one part and in many', async () => {
    const client = minio();
    await client.makeBucket('minio-bucket');
    expect(await client.bucketExists('minio-bucket')).toBe(true);
    expect(await client.bucketExists('minio-none')).toBe(false);
    const long = randomBytes(70 * MIB);
    await client.putObject('minio-bucket', 'long', Readable.from([long]), long.length, { 'Content-Type': 'video/mp4' });
    await client.putObject('minio-bucket', 'short', 'hello', 5, { 'X-Amz-Meta-Who': 'minio' });
    expect(await client.statObject('minio-bucket', 'long')).toMatchObject({
      size: long.length,
      etag: expect.stringMatching(/-\d+$/),
    });
    expect((await client.statObject('minio-bucket', 'short')).metaData).toMatchObject({ who: 'minio' });
    expect(md5(await buffer(await client.getObject('minio-bucket', 'long')))).toBe(md5(long));
    expect(await text(await client.getPartialObject('minio-bucket', 'short', 1, 3))).toBe('ell');
    const listed = await client.listObjectsV2('minio-bucket', '', true).toArray();
    expect(listed.map(({ name, size }) => [name, size])).toEqual([
      ['long', long.length],
      ['short', 5],
    ]);
    await client.removeObjects('minio-bucket', ['long', 'short']);
    await client.removeBucket('minio-bucket');
    expect((await client.listBuckets()).map(({ name }) => name)).not.toContain('minio-bucket');
  });

  test('signs addresses for others', async () => {
    const client = minio('us-east-1');
    await client.makeBucket('minio-signed');
    const put = await client.presignedPutObject('minio-signed', 'from a browser', 60);
    expect((await fetch(put, { method: 'PUT', body: 'page' })).status).toBe(200);
    const get = await client.presignedGetObject('minio-signed', 'from a browser', 60, {
      'response-content-type': 'text/x',
    });
    const got = await fetch(get);
    expect([got.status, got.headers.get('content-type'), await got.text()]).toEqual([200, 'text/x', 'page']);
    expect((await fetch(get.replace('text%2Fx', 'text%2Fhtml'))).status).toBe(403);
    expect((await fetch(get, { method: 'DELETE' })).status).toBe(403);
    expect((await fetch(get.replace('browser', 'bowser'))).status).toBe(403);
    const other = await fetch(get.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=600'));
    expect([other.status, await other.text()]).toEqual([
      403,
      expect.stringContaining('<Code>SignatureDoesNotMatch</Code>'),
    ]);
  });
});

test('aws4fetch writes and reads keys with every character, by path', async () => {
  const aws = new AwsClient({ ...bench.key, service: 's3', region: 'eu-central-1' });
  const root = `${bench.url}/s3/fetched`;
  expect((await aws.fetch(root, { method: 'PUT' })).status).toBe(200);
  const at = (key: string) => `${root}/${key.split('/').map(encodeURIComponent).join('/')}`;
  // What URL takes away in every client that builds on it.
  const keys = KEYS.filter((key) => !/(^|\/)\.\.?(\/|$)/.test(key));
  for (const key of keys) expect((await aws.fetch(at(key), { method: 'PUT', body: key })).status, key).toBe(200);
  for (const key of keys) expect(await (await aws.fetch(at(key))).text()).toBe(key);
  const { url } = await aws.sign(at('plain'), { aws: { signQuery: true } });
  expect(await (await fetch(url)).text()).toBe('plain');
});

describe('storage.presign', () => {
  test('makes addresses that are taken here', async () => {
    await bench.bucket('presigned');
    const input = { bucket: 'presigned', key: 'a/é +b', method: 'PUT', content_type: 'text/plain' };
    const { body } = await bench.rest('POST', '/v1/storage/presign', input);
    const { url, headers } = body.data;
    expect((await fetch(url, { method: 'PUT', headers, body: 'signed' })).status).toBe(200);
    expect((await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/html' }, body: 'x' })).status).toBe(403);
    const read = await bench.rest('POST', '/v1/storage/presign', { bucket: 'presigned', key: 'a/é +b', method: 'GET' });
    const got = await fetch(read.body.data.url, { headers: { range: 'bytes=0-2' } });
    expect([got.status, got.headers.get('content-range'), await got.text()]).toEqual([206, 'bytes 0-2/6', 'sig']);
  });
});

describe.each([
  ['by path at the port of S3', () => bench.client({ endpoint: bench.root })],
  ['by path at the host of S3', () => inHost({ forcePathStyle: true })],
  ['with its bucket in the host', () => inHost({ forcePathStyle: false })],
])('the SDK %s', (name, open) => {
  let sdk: S3Client;
  afterAll(() => sdk.destroy());

  test('writes, reads, lists and deletes keys with every character', async () => {
    sdk = open();
    const Bucket = await bench.bucket(`b${md5(name).slice(0, 8)}`);
    for (const Key of KEYS) await sdk.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    for (const Key of KEYS) {
      const { Body } = await sdk.send(new GetObjectCommand({ Bucket, Key }));
      expect(await Body?.transformToString()).toBe(Key);
    }
    const { Contents = [] } = await sdk.send(new ListObjectsV2Command({ Bucket }));
    expect(new Set(Contents.map(({ Key }) => Key))).toEqual(new Set(KEYS));
    const Objects = KEYS.map((Key) => ({ Key }));
    await sdk.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect((await sdk.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(0);
  });
});

function inHost(config: { forcePathStyle: boolean }): S3Client {
  const { port } = new URL(bench.url);
  // Every name leads to this machine.
  const lookup = ((_host: string, _options: object, done: (error: null, found: object[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }])) as never;
  const requestHandler = { httpAgent: new Agent({ lookup, autoSelectFamily: true }) };
  return bench.client({ ...config, endpoint: `http://${DOMAIN}:${port}`, requestHandler });
}

test('the port of S3 has nothing of the rest of the service', async () => {
  expect((await fetch(`${bench.root}/llms.txt`)).status).toBe(403);
  const answer = await new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${bench.root}/console`, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
  expect(answer).toBe(403);
  expect((await fetch(`${bench.url}/llms.txt`)).status).toBe(200);
});
