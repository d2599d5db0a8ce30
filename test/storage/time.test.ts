// What time does: what is held is charged by the hour, objects expire by their age, links end, and what nothing names is removed.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examineStorage } from '../../src/modules/storage/examine.ts';
import { chargeHeld } from '../../src/modules/storage/held-loop.ts';
import { storageSweeps } from '../../src/modules/storage/sweeps.ts';
import { keepBytes, ofBytes } from '../../src/objects/blobs.ts';
import { eventually } from '../cron/harness.ts';
import { createTestAccount } from '../support/service.ts';
import { filesIn, query, StorageBench } from './harness.ts';

let bench: StorageBench;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qm-objects-'));
  bench = await StorageBench.start({ env: { ASSETS_URL: `file://${folder}` } });
});
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true });
});

interface Held {
  readonly bytes: bigint;
  readonly byte_ms: bigint;
  readonly since_ms: bigint;
  readonly unpaid_since: number | null;
}

const heldOf = async (accountId: string) => (await bench.rows<Held>('held', accountId))[0] as Held;
const sweep = async () => {
  const { signal } = new AbortController();
  for (const { run } of storageSweeps(bench.core)) while (await run(signal));
};
const own = (files: readonly string[], accountId: string) => files.filter((file) => file.includes(`/${accountId}/`));

describe('what is held', () => {
  test('is charged to the byte and the millisecond, and the rest waits for the next hour', async () => {
    const account = await bench.withAccount();
    const mib = 1024 * 1024;
    await account.put('work', 'k', 'x'.repeat(3 * mib));
    const begun = await heldOf(account.accountId);
    expect(begun.bytes).toBe(BigInt(3 * mib));
    await bench.test.advance(1_800);
    await account.data('POST', '/v1/storage/object/copy', { bucket: 'work', key: 'k', to_key: 'copy' });
    const doubled = await heldOf(account.accountId);
    expect([doubled.bytes, doubled.byte_ms]).toEqual([
      BigInt(6 * mib),
      begun.bytes * (doubled.since_ms - begun.since_ms),
    ]);
    await bench.test.advance(1_800);
    const before = await bench.balance(account.accountId);
    await chargeHeld(bench.core, account.accountId);
    const charged = await heldOf(account.accountId);
    const byteMs = doubled.byte_ms + doubled.bytes * (charged.since_ms - doubled.since_ms);
    const nanos = byteMs / 131_400_000_000n;
    expect(nanos).toBeGreaterThan(100n);
    expect(before - (await bench.balance(account.accountId))).toBe(nanos);
    expect(charged.byte_ms).toBe(byteMs - nanos * 131_400_000_000n);
  });

  test('counts parts and objects that one commit writes', async () => {
    const account = await bench.withAccount();
    const { body } = await account.call('GET', '/v1/account/keys/aws');
    const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, region, s3_endpoint: endpoint } = body.data;
    const s3 = new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true });
    const named = { Bucket: 'work', Key: 'k' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(named));
    const part = (PartNumber: number) =>
      s3.send(new UploadPartCommand({ ...named, UploadId, PartNumber, Body: 'x'.repeat(PartNumber) }));
    await Promise.all([1, 2, 3, 4, 5, 6].flatMap((n) => [part(n), account.put('work', `o${n}`, 'x'.repeat(10))]));
    expect((await heldOf(account.accountId)).bytes).toBe(21n + 60n);
    expect(await examineStorage(bench.core.db, account.accountId)).toEqual([]);
  });

  test('is charged by itself once an hour is over', async () => {
    const account = await bench.withAccount();
    await account.put('work', 'k', 'x'.repeat(1024 * 1024));
    const before = await bench.balance(account.accountId);
    await bench.test.advance(3_601);
    await eventually(async () => (await bench.balance(account.accountId)) < before);
    const entries = await account.data('GET', '/v1/account/ledger/list?limit=1');
    expect(entries.items[0]).toMatchObject({ kind: 'charge', capability: 'storage.held' });
  });

  test('and not paid for shuts reading and writing, not deleting; credit opens them again', async () => {
    const account = await bench.withAccount(0.000006);
    await account.put('work', 'k', 'x'.repeat(2 * 1024 * 1024));
    await bench.test.advance(30 * 3_600);
    await chargeHeld(bench.core, account.accountId);
    expect((await heldOf(account.accountId)).unpaid_since).not.toBeNull();
    const read = `/v1/storage/object/get${query({ bucket: 'work', key: 'k' })}`;
    for (const reply of [await account.call('GET', read), await account.put('work', 'other', 'y')]) {
      expect([reply.status, reply.body.error.code, reply.body.error.code_detail]).toEqual([
        402,
        'INSUFFICIENT_CREDIT',
        'storage_unpaid',
      ]);
    }
    expect((await account.call('GET', `/v1/storage/object/list${query({ bucket: 'work' })}`)).status).toBe(200);
    const deleted = await account.data('POST', '/v1/storage/object/delete', { bucket: 'work', keys: ['k'] });
    expect(deleted.deleted).toBe(1);
    await bench.credit(account.accountId, 1);
    await chargeHeld(bench.core, account.accountId);
    expect(await heldOf(account.accountId)).toMatchObject({ unpaid_since: null, bytes: 0n });
    expect((await account.put('work', 'again', 'y')).status).toBe(200);
  });

  test('and not paid for longer than the operator waits is deleted, where one is set to', async () => {
    const account = await bench.withAccount(0.000006);
    await account.put('work', 'k', 'x'.repeat(2 * 1024 * 1024));
    await bench.test.advance(30 * 3_600);
    await chargeHeld(bench.core, account.accountId, 2);
    await bench.test.advance(86_400);
    await chargeHeld(bench.core, account.accountId, 2);
    await bench.test.advance(5 * 86_400);
    await chargeHeld(bench.core, account.accountId, 0);
    expect(await bench.rows('object', account.accountId)).toHaveLength(1);
    await chargeHeld(bench.core, account.accountId, 2);
    expect(await bench.rows('object', account.accountId)).toEqual([]);
    expect((await heldOf(account.accountId)).bytes).toBe(0n);
  });

  test('cannot be more than the tier allows, and parallel writes do not pass it', async () => {
    const account = await bench.withAccount();
    const most = 10_000_000_000n;
    await bench.core.db.query({ name: '', text: 'UPDATE storage.held SET bytes = $2 WHERE account_id = $1' }, [
      account.accountId,
      most - 10n,
    ]);
    const replies = await Promise.all(Array.from({ length: 4 }, (_, i) => account.put('work', `k${i}`, 'sixsix')));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect((await heldOf(account.accountId)).bytes).toBe(most - 4n);
  });
});

describe('an object that has reached its age', () => {
  test('is deleted, and no other', async () => {
    const account = await bench.withAccount();
    await account.put('work', 'tmp/old', 'x');
    await account.put('work', 'keep/old', 'x');
    await bench.test.advance(2 * 86_400);
    await account.put('work', 'tmp/new', 'x');
    const rules = [
      { prefix: 'none/', days: 1 },
      { prefix: 'tmp/', days: 2 },
    ];
    await account.data('PUT', '/v1/storage/bucket/settings', { bucket: 'work', expire: rules });
    const keys = async () => {
      const { items } = await account.data('GET', `/v1/storage/object/list${query({ bucket: 'work' })}`);
      return items.map((each: { key: string }) => each.key);
    };
    await eventually(async () => (await keys()).length === 2);
    expect(await keys()).toEqual(['keep/old', 'tmp/new']);
    await bench.test.advance(2 * 86_400);
    await eventually(async () => (await keys()).length === 1);
    expect(await account.data('GET', '/v1/storage/bucket/get/work')).toMatchObject({ object_count: 1, bytes: 1 });
  });
});

describe('a notice', () => {
  test('becomes one message of the queue for each change, and is paid as one', async () => {
    const account = await bench.withAccount();
    await account.data('POST', '/v1/queue/create', { name: 'changes' });
    const notify = { queue: 'changes', events: ['created', 'deleted'] };
    await account.data('PUT', '/v1/storage/bucket/settings', { bucket: 'work', notify });
    await account.put('work', 'k', 'abc');
    await account.data('POST', '/v1/storage/object/delete', { bucket: 'work', keys: ['k'] });
    const seen = await eventually(async () => {
      const { items } = await account.data('POST', '/v1/queue/consume', { queue: 'changes', max_messages: 10 });
      got.push(...items.map((each: { payload: unknown }) => each.payload));
      return got.length === 2 ? got : null;
    });
    const about = { bucket: 'work', key: 'k', bytes: 3, etag: '900150983cd24fb0d6963f7d28e17f72' };
    expect(seen).toEqual(
      expect.arrayContaining([
        { event: 'created', ...about },
        { event: 'deleted', ...about },
      ]),
    );
    await eventually(async () => (await bench.rows('notice', account.accountId)).length === 0);
    const { items } = await account.data('GET', '/v1/account/ledger/list?limit=10');
    expect(items.filter((each: { capability: string }) => each.capability === 'queue.publish')).not.toEqual([]);
  });
  const got: unknown[] = [];

  test('to a queue that is gone is given up', async () => {
    const account = await bench.withAccount();
    await account.data('PUT', '/v1/storage/bucket/settings', {
      bucket: 'work',
      notify: { queue: 'nowhere', events: ['created'] },
    });
    await account.put('work', 'k', 'abc');
    await eventually(async () => (await bench.rows('notice', account.accountId)).length === 0);
  });
});

describe('bytes that nothing names', () => {
  test('go an hour after they were let go, and what is named stays', async () => {
    const account = await bench.withAccount();
    await account.put('work', 'k', 'one');
    await account.put('work', 'k', 'two');
    await sweep();
    expect(own(await filesIn(folder), account.accountId)).toHaveLength(2);
    await bench.test.advance(3_601);
    await sweep();
    expect(own(await filesIn(folder), account.accountId)).toHaveLength(1);
    expect(await bench.rows('blob', account.accountId)).toHaveLength(1);
    const read = await account.data('GET', `/v1/storage/object/get${query({ bucket: 'work', key: 'k' })}`);
    expect(read.content).toBe('two');
  });

  test('go a day after they were begun and not finished', async () => {
    const account = await bench.withAccount();
    // Its process dies before the commit: nothing of it comes back.
    const kept = await new Promise<string>((resolve) => {
      const bytes = { source: ofBytes(Buffer.from('never')), bytes: 5 };
      void keepBytes({ core: bench.core, accountId: account.accountId }, bytes, ({ md5 }) => {
        resolve(md5);
        return new Promise(() => undefined);
      });
    });
    expect(kept).toBe('c7561db7a418dd39b2201dfe110ab4a4');
    await sweep();
    expect(own(await filesIn(folder), account.accountId)).toHaveLength(1);
    await bench.test.advance(86_401);
    await sweep();
    expect(own(await filesIn(folder), account.accountId)).toEqual([]);
    expect(await bench.rows('blob', account.accountId)).toEqual([]);
  });

  test('a body of another length than announced leaves nothing', async () => {
    const account = await createTestAccount(bench.core);
    const of = (bytes: number) =>
      keepBytes(
        { core: bench.core, accountId: account.accountId },
        { source: ofBytes(Buffer.from('four')), bytes },
        async () => {
          throw new Error('it must not come so far');
        },
      );
    await expect(of(5)).rejects.toMatchObject({ detail: 'incomplete_body' });
    await expect(of(3)).rejects.toMatchObject({ detail: 'body_too_long' });
    await expect(of(70_000)).rejects.toMatchObject({ detail: 'incomplete_body' });
    expect(await bench.rows('blob', account.accountId)).toEqual([]);
    expect(own(await filesIn(folder), account.accountId)).toEqual([]);
  });
});
