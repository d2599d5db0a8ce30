// Bodies of raw routes on a real service: compressed ones, and those of AWS clients, which are compared with what was signed.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import zlib from 'node:zlib';
import { ChecksumAlgorithm, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { secretAccessKey } from '../../src/core/credentials/sigv4.ts';
import { secretHash } from '../../src/core/keys/api-key.ts';
import { createTestAccount, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { BLOB_BYTES_MAX, type DepotState, depotModule, LETTER_BYTES_MAX } from './raw-fixture.ts';

const state: DepotState = { blobs: new Map(), taken: 0, gate: Promise.resolve(), made: 0 };
let bench: TestService;
let account: TestAccount;
let auth: Record<string, string>;

beforeAll(async () => {
  bench = await startTestService({
    extraModules: [depotModule(state)],
    admission: { all: { bodyBytesMax: 96 << 20 } },
  });
});
afterAll(() => bench.stop());
beforeEach(async () => {
  account = await createTestAccount(bench.core, 1);
  auth = { authorization: `Bearer ${account.secret}` };
  state.gate = Promise.resolve();
  state.blobs.clear();
});

const send = async (
  path: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string>,
  method = 'PUT',
) => {
  const reply = await fetch(bench.url + path, { method, body, headers: { ...auth, ...headers } });
  const bytes = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, code: reply.headers.get('x-code'), detail: reply.headers.get('x-detail'), bytes };
};
const heldBytes = async () => {
  const text = await (await fetch(`${bench.url}/metrics`)).text();
  return Number(/^qm_body_bytes (\d+)/m.exec(text)?.[1]);
};

describe('a compressed body', () => {
  const bytes = Buffer.concat([randomBytes(20_000), Buffer.alloc(100_000, 'x')]);
  const bomb = zlib.gzipSync(Buffer.alloc(LETTER_BYTES_MAX + 1));

  test.each([
    ['gzip', zlib.gzipSync],
    ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync],
    ['zstd', zlib.zstdCompressSync],
  ])('of %s is inflated as it comes', async (encoding, encode) => {
    const reply = await send('/depot-letters/a/b', encode(bytes), { 'content-encoding': encoding });
    expect(reply.status).toBe(201);
    expect(state.blobs.get('a/b')?.equals(bytes)).toBe(true);
  });

  test('that is there whole is inflated in turn; what it holds meanwhile is counted, and given back', async () => {
    const gate = Promise.withResolvers<void>();
    state.gate = gate.promise;
    const replies = [1, 2, 3].map(() =>
      send('/depot-notes', zlib.zstdCompressSync(bytes), { 'content-encoding': 'ZSTD' }, 'POST'),
    );
    // Two at a time, each with the window of its decompressor.
    await expect.poll(heldBytes).toBeGreaterThan(16 << 20);
    expect(await heldBytes()).toBeLessThan(24 << 20);
    gate.resolve();
    for (const reply of await Promise.all(replies)) expect(reply.bytes.equals(bytes)).toBe(true);
    await expect.poll(heldBytes).toBe(0);
  });

  test.each([
    ['/depot-letters/a/b', 'PUT'],
    ['/depot-notes', 'POST'],
  ])('that is a bomb ends at the bound: %s', async (path, method) => {
    const reply = await send(path, bomb, { 'content-encoding': 'gzip' }, method);
    expect([reply.status, reply.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
    expect(state.blobs.size).toBe(0);
  });

  test('that is not what it says is refused, and nothing is stored', async () => {
    for (const body of ['no gzip', zlib.gzipSync(bytes).subarray(0, 1_000)]) {
      const reply = await send('/depot-letters/a/b', body, { 'content-encoding': 'gzip' });
      expect([reply.status, reply.code]).toEqual([400, 'INVALID_REQUEST']);
    }
    expect(state.blobs.size).toBe(0);
  });

  test('in what the route does not undo is 415; a route that keeps encodings stores it as it came', async () => {
    expect(
      (await send('/depot-notes', zlib.brotliCompressSync(bytes), { 'content-encoding': 'br' }, 'POST')).code,
    ).toBe('UNSUPPORTED_MEDIA_TYPE');
    const none = await send('/depot-story/1', zlib.gzipSync('{}'), { 'content-encoding': 'gzip' }, 'POST');
    expect(none.status).toBe(415);
    const kept = zlib.gzipSync(bytes);
    expect((await send('/depot/a/b', kept, { 'content-encoding': 'gzip' })).status).toBe(201);
    expect(state.blobs.get('a/b')?.equals(kept)).toBe(true);
    expect((await send('/depot/a/b', kept, { 'content-encoding': 'aws-chunked' })).status).toBe(415);
  });
});

describe('a body of the AWS SDK', () => {
  const bytes = randomBytes(200_000);
  const put = async (Body: Buffer | Readable, ChecksumAlgorithm?: ChecksumAlgorithm, more = {}) => {
    const client = new S3Client({
      endpoint: `${bench.url}/depot`,
      forcePathStyle: true,
      region: 'us-east-1',
      credentials: {
        accessKeyId: account.keyId,
        secretAccessKey: secretAccessKey(bench.core.secrets, secretHash(account.secret)),
      },
      maxAttempts: 1,
    });
    const command = new PutObjectCommand({
      Bucket: 'shelf',
      Key: 'a b/ü',
      Body,
      ContentLength: bytes.length,
      ...(ChecksumAlgorithm === undefined ? {} : { ChecksumAlgorithm }),
      ...more,
    });
    const sent = { payload: '', decoded: '' };
    client.middlewareStack.add(
      (next) => (args) => {
        const { headers } = args.request as { headers: Record<string, string> };
        sent.payload = headers['x-amz-content-sha256'] ?? '';
        sent.decoded = headers['x-amz-decoded-content-length'] ?? '';
        return next(args);
      },
      { step: 'finalizeRequest', priority: 'low' },
    );
    await client.send(command);
    client.destroy();
    return sent;
  };
  const stored = () => state.blobs.get('shelf/a b/ü')?.equals(bytes);

  test('that is there is taken by the hash that was signed', async () => {
    expect((await put(bytes)).payload).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(stored()).toBe(true);
  });

  test.each([
    ChecksumAlgorithm.CRC32,
    ChecksumAlgorithm.CRC32C,
    ChecksumAlgorithm.CRC64NVME,
    ChecksumAlgorithm.SHA1,
    ChecksumAlgorithm.SHA256,
  ])('that is a stream is taken in chunks, with its %s behind them', async (algorithm) => {
    const sent = await put(Readable.from([bytes.subarray(0, 70_000), bytes.subarray(70_000)]), algorithm);
    expect(sent).toEqual({ payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER', decoded: '200000' });
    expect(stored()).toBe(true);
  });

  test('that is compressed stays so in its chunks', async () => {
    await put(Readable.from([bytes]), undefined, { ContentEncoding: 'gzip' });
    expect(stored()).toBe(true);
  });
});

describe('a body that was signed', () => {
  const signed = (payload: string, body: string, more: Record<string, string> = {}) => {
    const path = '/depot/x/y';
    const { host } = new URL(bench.url);
    const instant = new Date().toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
    const scope = `${instant.slice(0, 8)}/us-east-1/s3/aws4_request`;
    const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest();
    const headers: Record<string, string> = { 'x-amz-content-sha256': payload, 'x-amz-date': instant, ...more };
    const names = ['host', ...Object.keys(headers)].sort();
    const lines = names.map((name) => `${name}:${name === 'host' ? host : headers[name]}\n`).join('');
    const request = `PUT\n${path}\n\n${lines}\n${names.join(';')}\n${payload}`;
    const text = `AWS4-HMAC-SHA256\n${instant}\n${scope}\n${createHash('sha256').update(request).digest('hex')}`;
    const secret = secretAccessKey(bench.core.secrets, secretHash(account.secret));
    const key = scope.split('/').reduce((last, part) => hmac(last, part), Buffer.from(`AWS4${secret}`));
    const signature = hmac(key, text).toString('hex');
    const by = `Credential=${account.keyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
    return send(path, body, { ...headers, authorization: `AWS4-HMAC-SHA256 ${by}` });
  };
  const chunked = (bytes: number, checksum: string) => ({
    'x-amz-decoded-content-length': String(bytes),
    'x-amz-trailer': `x-amz-checksum-${checksum}`,
  });

  test('and is another one fails at its end, and nothing is stored', async () => {
    const reply = await signed(createHash('sha256').update('hello').digest('hex'), 'hallo');
    expect([reply.status, reply.code, reply.detail]).toEqual([400, 'INVALID_REQUEST', 'content_sha256']);
    const trailer = `5\r\nhallo\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n`;
    const changed = await signed('STREAMING-UNSIGNED-PAYLOAD-TRAILER', trailer, chunked(5, 'crc32'));
    expect([changed.status, changed.detail]).toEqual([400, 'checksum']);
    expect(state.blobs.size).toBe(0);
    const right = await signed('STREAMING-UNSIGNED-PAYLOAD-TRAILER', trailer.replace('a', 'e'), chunked(5, 'crc32'));
    expect([right.status, state.blobs.get('x/y')?.toString()]).toEqual([201, 'hello']);
  });

  test('is held against the bound by its length without chunks', async () => {
    const reply = await signed('STREAMING-UNSIGNED-PAYLOAD-TRAILER', '0\r\n', chunked(BLOB_BYTES_MAX + 1, 'crc32'));
    expect([reply.status, reply.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  test('in a way that is not served is refused before it is read', async () => {
    const reply = await signed('STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'x', chunked(1, 'crc32'));
    expect([reply.status, reply.detail]).toEqual([400, 'content_sha256']);
  });
});
