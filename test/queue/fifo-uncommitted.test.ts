// A publish holds its group until it is committed: what was answered before is found all the same.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QueueBench } from './harness.ts';

let bench: QueueBench;
beforeAll(async () => {
  bench = await QueueBench.start();
});
afterAll(() => bench.stop());

describe('a publish that is not committed yet', () => {
  test('does not hide what was published before it', async () => {
    await bench.create('held.fifo', { type: 'fifo' });
    await bench.publish('held.fifo', { n: 1 });
    const lockGroups = {
      name: 'test_lock_groups',
      text: 'SELECT 1 FROM queue.fifo_group WHERE account_id = $1 FOR UPDATE',
    };
    let consumed: Promise<unknown[]> | undefined;
    await bench.service.core.db.transaction(async (tx) => {
      await tx.query(lockGroups, [bench.account.accountId]);
      consumed = bench.payloads('held.fifo');
      await sleep(300);
    });
    expect(await consumed).toEqual([{ n: 1 }]);
  });

  test('also not while others publish to the group all the time', async () => {
    await bench.create('busy.fifo', { type: 'fifo' });
    let over = false;
    const publishing = Array.from({ length: 4 }, async () => {
      while (!over) await bench.publish('busy.fifo', {});
    });
    for (let round = 0; round < 60; round += 1) {
      await bench.publish('busy.fifo', { round });
      const items = await bench.consume('busy.fifo');
      expect(items, `round ${round}`).not.toEqual([]);
      await bench.ok('POST', '/v1/queue/ack', {
        queue: 'busy.fifo',
        receipts: items.map(({ receipt_handle }) => receipt_handle),
      });
    }
    over = true;
    await Promise.all(publishing);
  });
});
