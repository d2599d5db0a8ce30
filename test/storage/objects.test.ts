// Objects by native calls: what is written is read, listed, copied and deleted, and charged to the nano.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { query, StorageBench } from './harness.ts';

let bench: StorageBench;
beforeAll(async () => {
  bench = await StorageBench.start();
});
afterAll(() => bench.stop());

const get = (bucket: string, key: string) => `/v1/storage/object/get${query({ bucket, key })}`;
const head = (bucket: string, key: string) => `/v1/storage/object/head${query({ bucket, key })}`;

describe('an object', () => {
  test('is read as it was written, and each call costs its price', async () => {
    const own = await bench.withAccount();
    const before = await bench.balance(own.accountId);
    const put = await own.put('work', 'a/b.txt', 'héllo\n', { metadata: { author: 'ann' } });
    expect(put.body).toMatchObject({
      data: {
        bucket: 'work',
        key: 'a/b.txt',
        bytes: 7,
        content_type: 'text/plain; charset=utf-8',
        metadata: { author: 'ann' },
      },
    });
    expect(put.body.metadata.cost_usd).toBe(0.000005);
    const read = await own.data('GET', get('work', 'a/b.txt'));
    expect(read).toMatchObject({ ...put.body.data, content: 'héllo\n', content_base64: null, url: null });
    expect(await own.data('GET', head('work', 'a/b.txt'))).toEqual(put.body.data);
    expect(before - (await bench.balance(own.accountId))).toBe(5_400n);
  });

  test('of bytes that are no text comes back as base64', async () => {
    const own = await bench.withAccount();
    const bytes = Buffer.from([0, 255, 254, 10]);
    await own.data('POST', '/v1/storage/object/put', {
      bucket: 'work',
      key: 'bin',
      content_base64: bytes.toString('base64'),
    });
    const read = await own.data('GET', get('work', 'bin'));
    expect(Buffer.from(read.content_base64, 'base64')).toEqual(bytes);
    expect(read.content).toBeNull();
  });

  test('may be empty', async () => {
    const own = await bench.withAccount();
    expect((await own.put('work', 'none', '')).body.data).toMatchObject({
      bytes: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
    });
    expect(await own.data('GET', get('work', 'none'))).toMatchObject({ content: '' });
    expect((await own.data('GET', '/v1/storage/bucket/get/work')).object_count).toBe(1);
  });

  test('longer than 1 MiB is a link that takes ranges and ends after an hour', async () => {
    const own = await bench.withAccount();
    const content = `${'x'.repeat(1024 * 1024)}end`;
    await own.data('POST', '/v1/storage/object/put', { bucket: 'work', key: 'long', content });
    const read = await own.data('GET', get('work', 'long'));
    expect(read).toMatchObject({ content: null, content_base64: null });
    const whole = await fetch(read.url);
    expect(await whole.text()).toBe(content);
    expect(whole.headers.get('content-security-policy')).toContain('sandbox');
    const part = await fetch(read.url, { headers: { range: 'bytes=-3' } });
    expect([part.status, await part.text()]).toEqual([206, 'end']);
    expect((await fetch(`${read.url}x`)).status).toBe(403);
    await own.put('work', 'long', 'other');
    expect((await fetch(read.url)).status).toBe(404);
  });

  test('that replaces another counts once, and what it replaced goes after an hour', async () => {
    const own = await bench.withAccount();
    const first = (await own.put('work', 'k', 'one')).body.data;
    const second = (await own.put('work', 'k', 'three')).body.data;
    expect(second.created_at).toBe(first.created_at);
    expect(await own.data('GET', '/v1/storage/bucket/get/work')).toMatchObject({ object_count: 1, bytes: 5 });
    const blobs = await bench.rows<{ state: string; refs: number }>('blob', own.accountId);
    expect(blobs.map(({ state, refs }) => [state, refs]).sort()).toEqual([
      ['dead', 0],
      ['live', 1],
    ]);
    const [held] = await bench.rows<{ bytes: bigint }>('held', own.accountId);
    expect(held?.bytes).toBe(5n);
  });

  test('under a key that must be free is refused where something stands, for nothing', async () => {
    const own = await bench.withAccount();
    await own.put('work', 'k', 'one', { if_none_match: '*' });
    const before = await bench.balance(own.accountId);
    const again = await own.put('work', 'k', 'two', { if_none_match: '*' });
    expect([again.status, again.body.error.code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect(await bench.balance(own.accountId)).toBe(before);
    expect((await own.data('GET', get('work', 'k'))).content).toBe('one');
  });

  test('is copied without its bytes, and lives on when the source goes', async () => {
    const own = await bench.withAccount();
    await own.put('work', 'k', 'one', { metadata: { a: '1' } });
    const copy = await own.data('POST', '/v1/storage/object/copy', { bucket: 'work', key: 'k', to_key: 'copy' });
    expect(copy).toMatchObject({ key: 'copy', bytes: 3, metadata: { a: '1' } });
    expect(await own.data('POST', '/v1/storage/object/delete', { bucket: 'work', keys: ['k', 'none'] })).toEqual({
      bucket: 'work',
      deleted: 1,
    });
    expect((await own.data('GET', get('work', 'copy'))).content).toBe('one');
    const [blob, ...more] = await bench.rows<{ state: string; refs: number }>('blob', own.accountId);
    expect([blob?.state, blob?.refs, more.length]).toEqual(['live', 1, 0]);
    expect(await own.data('GET', '/v1/storage/bucket/get/work')).toMatchObject({ object_count: 1, bytes: 3 });
  });

  test('written with an idempotency key is written and charged once', async () => {
    const own = await bench.withAccount();
    const before = await bench.balance(own.accountId);
    const put = () => own.put('work', 'k', 'one', { idempotency_key: 'once' });
    const [first, second] = [await put(), await put()];
    expect(second.body.data).toEqual(first.body.data);
    expect(before - (await bench.balance(own.accountId))).toBe(5_000n);
    const other = await own.put('work', 'k', 'two', { idempotency_key: 'once' });
    expect(other.body.error.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  for (const key of [
    '../../etc/passwd',
    'a//b',
    '/',
    ' ',
    '%2e%2e',
    'tab\tnewline\n',
    'é',
    'é',
    '😀',
    'x'.repeat(1_024),
  ]) {
    test(`keeps its key byte for byte: ${JSON.stringify(key.slice(0, 20))}`, async () => {
      const own = await bench.withAccount();
      await own.data('POST', '/v1/storage/object/put', { bucket: 'work', key, content: key });
      expect((await own.data('GET', get('work', key))).content).toBe(key);
      const listed = await own.data('GET', `/v1/storage/object/list${query({ bucket: 'work' })}`);
      expect(listed.items.map((each: { key: string }) => each.key)).toEqual([key]);
    });
  }
});

describe('a call that cannot be done', () => {
  test.each([
    ['no bucket', { bucket: 'none', key: 'k', content: 'x' }, 404, 'BUCKET_NOT_FOUND', 'bucket'],
    ['a key of 1,025 bytes', { bucket: 'work', key: 'é'.repeat(513), content: 'x' }, 400, 'VALIDATION_FAILED', 'key'],
    ['no content', { bucket: 'work', key: 'k' }, 400, 'VALIDATION_FAILED', 'content'],
    [
      'two contents',
      { bucket: 'work', key: 'k', content: 'x', content_base64: 'eA==' },
      400,
      'VALIDATION_FAILED',
      'content',
    ],
    ['bad base64', { bucket: 'work', key: 'k', content_base64: 'a b' }, 400, 'VALIDATION_FAILED', 'content_base64'],
    [
      'metadata of 2,049 bytes',
      { bucket: 'work', key: 'k', content: 'x', metadata: { a: 'y'.repeat(2_048) } },
      400,
      'VALIDATION_FAILED',
      'metadata',
    ],
    [
      'a line break in metadata',
      { bucket: 'work', key: 'k', content: 'x', metadata: { a: 'y\nz' } },
      400,
      'VALIDATION_FAILED',
      'metadata',
    ],
    ['a bucket in capitals', { bucket: 'Work', key: 'k', content: 'x' }, 400, 'VALIDATION_FAILED', 'bucket'],
  ])('%s: says what is wrong, and costs nothing', async (_, body, status, code, param) => {
    const own = await bench.withAccount();
    const before = await bench.balance(own.accountId);
    const reply = await own.call('POST', '/v1/storage/object/put', body);
    expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([status, code, param]);
    expect(await bench.balance(own.accountId)).toBe(before);
    expect(await bench.rows('object', own.accountId)).toEqual([]);
  });

  test('an account without credit keeps nothing, and is told before its bytes are', async () => {
    const own = await bench.withAccount(0);
    const reply = await own.put('work', 'k', 'x');
    expect([reply.status, reply.body.error.code]).toEqual([402, 'INSUFFICIENT_CREDIT']);
    expect(await bench.rows('blob', own.accountId)).toEqual([]);
  });

  test('an object that is not there is 404, for nothing', async () => {
    const own = await bench.withAccount();
    const before = await bench.balance(own.accountId);
    const reply = await own.call('GET', get('work', 'none'));
    expect([reply.status, reply.body.error.code, reply.body.error.param]).toEqual([404, 'OBJECT_NOT_FOUND', 'key']);
    expect(await bench.balance(own.accountId)).toBe(before);
  });
});

describe('copies to and fro at once', () => {
  test('come one after the other: never does each get what the other had', async () => {
    const own = await bench.withAccount();
    const copy = (key: string, to_key: string) =>
      own.data('POST', '/v1/storage/object/copy', { bucket: 'work', key, to_key });
    for (let round = 0; round < 8; round += 1) {
      await own.put('work', 'a', 'of a');
      await own.put('work', 'b', 'of b');
      // The first write takes the lane; the copies wait for it together.
      await Promise.all([own.put('work', 'c', 'of c'), copy('a', 'b'), copy('b', 'a')]);
      const [a, b] = await Promise.all(['a', 'b'].map((key) => own.data('GET', get('work', key))));
      expect(a.content).toBe(b.content);
    }
  });
});

describe('a bucket', () => {
  test('of one account is not seen by another, which may have one of the same name', async () => {
    const [own, other] = [await bench.withAccount(), await bench.withAccount()];
    await own.put('work', 'k', 'mine');
    expect((await other.call('GET', get('work', 'k'))).status).toBe(404);
    await other.put('work', 'k', 'theirs');
    expect((await own.data('GET', get('work', 'k'))).content).toBe('mine');
  });

  test('is deleted only when it is empty', async () => {
    const own = await bench.withAccount();
    await own.put('work', 'k', 'x');
    const refused = await own.call('DELETE', '/v1/storage/bucket/delete/work');
    expect([refused.status, refused.body.error.code]).toEqual([409, 'BUCKET_NOT_EMPTY']);
    expect(refused.body.error.message).toBe('The bucket has 1 object.');
    await own.data('POST', '/v1/storage/object/delete', { bucket: 'work', keys: ['k'] });
    expect((await own.data('DELETE', '/v1/storage/bucket/delete/work')).deleted).toBe(true);
  });

  test('is listed by prefix and delimiter, page by page, each key once', async () => {
    const own = await bench.withAccount();
    const keys = ['a', 'a/1', 'a/2', 'a0', 'b/1/x', 'b/1/y', 'b/2', 'c'];
    for (const key of keys) await own.put('work', key, key);
    const pages = async (fields: Record<string, string>) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: { key: string }[]; prefixes: string[]; next_cursor: string | null } = await own.data(
          'GET',
          `/v1/storage/object/list${query({ bucket: 'work', limit: '2', ...fields, ...(cursor === null ? {} : { cursor }) })}`,
        );
        seen.push(...page.items.map(({ key }) => key), ...page.prefixes);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return seen.sort();
    };
    expect(await pages({})).toEqual(keys);
    expect(await pages({ delimiter: '/' })).toEqual(['a', 'a/', 'a0', 'b/', 'c']);
    expect(await pages({ prefix: 'b/', delimiter: '/' })).toEqual(['b/1/', 'b/2']);
    expect(await pages({ prefix: 'a' })).toEqual(['a', 'a/1', 'a/2', 'a0']);
    expect(await pages({ prefix: 'zz' })).toEqual([]);
  });
});
