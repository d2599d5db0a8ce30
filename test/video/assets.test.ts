// Stores of bytes: a folder and a bucket of S3 keep the same promises.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fileAssets } from '../../src/vendors/assets/file.ts';
import { AssetGone, type AssetStore, AssetsUnavailable } from '../../src/vendors/assets/port.ts';
import { type S3Place, s3Assets } from '../../src/vendors/assets/s3.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import { eventually } from '../cron/harness.ts';
import { KEY, S3Double } from '../support/s3.ts';

const PART_BYTES = 64 * 1024;
const outbound = createOutboundClient({ allowPrivateTargets: [], resolve: async () => ['127.0.0.1'] });
let s3: S3Double;
let folder: string;
beforeAll(async () => {
  s3 = await S3Double.start();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-assets-'));
});
afterEach(async () => {
  s3.fault = () => null;
  s3.nowMs = Date.now;
  s3.objects.clear();
  s3.uploads.clear();
  s3.requests.length = 0;
  await rm(folder, { recursive: true });
});
afterAll(async () => {
  await outbound.close();
  await s3.stop();
});

function bucket(over: Partial<S3Place> = {}): AssetStore {
  return s3Assets({ ...s3.place(), workFolder: join(folder, 'work'), partBytes: PART_BYTES, ...over }, outbound);
}
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

async function made(store: AssetStore, bytes: Uint8Array): Promise<string> {
  const path = await store.workPath();
  await writeFile(path, bytes);
  return path;
}

describe.each<[string, () => AssetStore]>([
  ['a folder', () => fileAssets(folder)],
  ['a bucket named in the path', () => bucket({ prefix: 'made/' })],
  ['a bucket named before the host', () => bucket({ endpoint: `http://s3.example.com:${s3.port}`, pathStyle: false })],
])('%s', (_, open) => {
  test.each([0, 1, PART_BYTES, PART_BYTES + 1, 5 * PART_BYTES])(
    'keeps a file of %i bytes, which is used up',
    async (size) => {
      const store = open();
      const bytes = randomBytes(size);
      const path = await made(store, bytes);
      await store.putFile('acct_1/vid_a.1.mp4', path);
      expect((await store.read('acct_1/vid_a.1.mp4')).equals(bytes)).toBe(true);
      expect(await isThere(path)).toBe(false);
      expect(s3.uploads.size).toBe(0);
    },
  );

  test('keeps what is put under a new key, in a folder that is new too', async () => {
    const store = open();
    await store.putNew('new/folder/a', Buffer.from('one'));
    await store.putNew('new/folder/b', Buffer.from('two'));
    expect((await store.read('new/folder/a')).toString()).toBe('one');
    expect((await store.read('new/folder/b')).toString()).toBe('two');
  });

  test('gives any part of it', async () => {
    const store = open();
    const bytes = randomBytes(200_000);
    await store.put('a/b', bytes);
    for (const [start, end] of [
      [0, 0],
      [0, 199_999],
      [100, 150_000],
      [199_999, 199_999],
    ] as const) {
      const part = await buffer(store.open('a/b', start, end));
      expect(part.equals(bytes.subarray(start, end + 1)), `${start}-${end}`).toBe(true);
    }
  });

  test('says of what is not there that it is gone, and removes it without complaint', async () => {
    const store = open();
    await store.put('a/b', Buffer.from('x'));
    await store.remove('a/b');
    await store.remove('a/b');
    await expect(store.read('a/b')).rejects.toThrow(AssetGone);
    await expect(buffer(store.open('a/b', 0, 1))).rejects.toThrow(AssetGone);
  });

  test.each(['', '/a', '../a', 'a/../b', '.work/a', 'a b', 'a//b', 'ü'])('takes %j for no key', async (key) => {
    await expect(open().put(key, Buffer.from('x'))).rejects.toThrow(RangeError);
  });

  test('lists what is old in the order of names, past what is new and without its mark', async () => {
    const store = open();
    expect(await store.list('', '', Date.now())).toEqual([]);
    await store.setMark('one');
    for (const key of ['a/3', 'a/1', 'b', 'a/2']) await store.put(key, Buffer.from('x'));
    const later = Date.now() + 1_000;
    expect(await store.list('', '', later)).toEqual(['a/1', 'a/2', 'a/3', 'b']);
    expect(await store.list('', 'a/2', later)).toEqual(['a/3', 'b']);
    expect(await store.list('', 'b', later)).toEqual([]);
    expect(await store.list('a/', 'a/1', later)).toEqual(['a/2', 'a/3']);
    expect(await store.list('b', '', later)).toEqual(['b']);
    expect(await store.list('', '', Date.now() - 60_000)).toEqual([]);
  });

  test('has the first mark that it was given', async () => {
    const store = open();
    expect(await store.readMark()).toBe(null);
    const marks = await Promise.all(['one', 'two', 'three'].map((mark) => store.setMark(mark)));
    expect(new Set(marks).size).toBe(1);
    expect(await open().setMark('four')).toBe(marks[0]);
    expect(await store.readMark()).toBe(marks[0]);
  });

  test('removes what was being made when its age is over', async () => {
    const store = open();
    const path = await made(store, Buffer.from('half'));
    await store.removeUnfinished(Date.now() - 60_000);
    expect(await isThere(path)).toBe(true);
    await store.removeUnfinished(Date.now() + 1_000);
    expect(await isThere(path)).toBe(false);
  });
});

describe('a bucket', () => {
  test('is the one that the client of AWS sees: its objects, its list, its uploads', async () => {
    const { accessKeyId, secretAccessKey } = KEY;
    const { endpoint, region, bucket: Bucket } = s3.place();
    const credentials = { accessKeyId, secretAccessKey };
    const aws = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
    const store = bucket();
    const bytes = randomBytes(2 * PART_BYTES);
    await store.putFile('a/long', await made(store, bytes));
    const { Body } = await aws.send(new GetObjectCommand({ Bucket, Key: 'a/long' }));
    expect(bytes.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0))).toBe(true);
    await aws.send(new PutObjectCommand({ Bucket, Key: 'a/theirs', Body: 'x' }));
    const { UploadId } = await aws.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a/open' }));
    expect(UploadId).toBeDefined();
    const { Contents } = await aws.send(new ListObjectsV2Command({ Bucket }));
    const later = Date.now() + 1_000;
    expect(await store.list('', '', later)).toEqual(Contents?.map(({ Key }) => Key));
    await store.removeUnfinished(later);
    expect((await aws.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).toEqual([]);
    aws.destroy();
  });

  test('lists page after page, past pages of what is new', async () => {
    const store = bucket({ prefix: 'made/' });
    const named = (i: number) => `k/${String(i).padStart(5, '0')}`;
    const put = (i: number, changedMs: number) =>
      s3.objects.set(`made/${named(i)}`, { bytes: Buffer.alloc(0), changedMs });
    for (let i = 0; i < 2_500; i += 1) put(i, Date.now());
    put(2_200, 0);
    put(2_499, 0);
    expect(await store.list('', '', 1_000)).toEqual([named(2_200), named(2_499)]);
    expect(await store.list('', named(2_499), 1_000)).toEqual([]);
  });

  test('gives up an upload of which a part fails', async () => {
    const store = bucket();
    s3.fault = ({ query }) => (query.get('partNumber') === '3' ? { status: 400, code: 'QuotaExceeded' } : null);
    const path = await made(store, randomBytes(4 * PART_BYTES));
    await expect(store.putFile('a/long', path)).rejects.toThrow('the bucket is full');
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
    // What could not be kept may be tried again.
    s3.fault = () => null;
    await store.putFile('a/long', path);
    expect(s3.objects.get('a/long')?.bytes.length).toBe(4 * PART_BYTES);
  });

  test('takes an end that is told as a failure for one', async () => {
    const store = bucket();
    s3.fault = ({ method, query }) =>
      method === 'POST' && query.has('uploadId') ? { status: 200, code: 'InternalError' } : null;
    const path = await made(store, randomBytes(2 * PART_BYTES));
    await expect(store.putFile('a/long', path)).rejects.toThrow(AssetsUnavailable);
    expect([s3.objects.size, s3.uploads.size]).toEqual([0, 0]);
  });

  test.each([
    ['503', { status: 503, code: 'SlowDown' }],
    ['a lost connection', 'reset'],
  ] as const)('is asked again after %s', async (_, fault) => {
    const store = bucket();
    const failing = new Set<string>();
    s3.fault = ({ method, key, query }) => {
      const call = `${method} ${key} ${query}`;
      if (failing.has(call)) return null;
      failing.add(call);
      return fault;
    };
    const bytes = randomBytes(2 * PART_BYTES);
    await store.putFile('a/long', await made(store, bytes));
    expect((await store.read('a/long')).equals(bytes)).toBe(true);
    expect(s3.uploads.size).toBe(0);
  });

  test('that goes on failing is told as such, after three calls', async () => {
    s3.fault = () => ({ status: 503, code: 'SlowDown' });
    await expect(bucket().put('a/b', Buffer.from('x'))).rejects.toMatchObject({ isRefused: false });
    expect(s3.requests).toHaveLength(3);
  });

  test.each<[string, Partial<S3Place>, RegExp]>([
    ['an unknown key', { accessKeyId: 'AKIAOTHER' }, /ASSETS_ACCESS_KEY_ID is not known there/],
    [
      'a wrong secret',
      { secretAccessKey: 'wrong' },
      /ASSETS_SECRET_ACCESS_KEY is not the secret of ASSETS_ACCESS_KEY_ID/,
    ],
    ['another region', { region: 'us-east-1' }, /the bucket is in another region; say which by region=/],
    ['another bucket', { bucket: 'other' }, /there is no such bucket/],
  ])('refuses %s in a sentence, at once', async (_, over, sentence) => {
    const store = bucket(over);
    for (const act of [() => store.put('a/b', Buffer.from('x')), () => store.readMark()]) {
      const failure = await act().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(AssetsUnavailable);
      expect(failure).toMatchObject({ isRefused: true, message: expect.stringMatching(sentence) });
      expect((failure as Error).message).not.toContain('wrong');
    }
    expect(s3.requests).toHaveLength(2);
  });

  test('shows nothing of an upload whose process was killed, and forgets its parts later', async () => {
    const path = join(folder, 'long');
    await writeFile(path, randomBytes(4 * PART_BYTES));
    s3.fault = ({ query }) => (query.get('partNumber') === '3' ? 'silent' : null);
    const place = JSON.stringify({ ...s3.place(), workFolder: folder, partBytes: PART_BYTES });
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { s3Assets } from '${new URL('../../src/vendors/assets/s3.ts', import.meta.url)}';
         import { createOutboundClient } from '${new URL('../../src/vendors/http/client.ts', import.meta.url)}';
         await s3Assets(${place}, createOutboundClient({ allowPrivateTargets: [] })).putFile('a/long', '${path}');`,
      ],
      { stdio: 'inherit' },
    );
    await eventually(async () => s3.requests.some(({ query }) => query.get('partNumber') === '3'));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const store = bucket();
    await expect(store.read('a/long')).rejects.toThrow(AssetGone);
    expect(await store.list('', '', Date.now() + 1_000)).toEqual([]);
    expect(s3.uploads.size).toBe(1);
    await store.removeUnfinished(Date.now() - 60_000);
    expect(s3.uploads.size).toBe(1);
    await store.removeUnfinished(Date.now() + 1_000);
    expect(s3.uploads.size).toBe(0);
  });
});
