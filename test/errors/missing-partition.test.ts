// A day without its partition: captures make it, and no wallet is locked meanwhile.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from './harness.ts';

let bench: ErrorsBench;
beforeAll(async () => {
  bench = await ErrorsBench.start();
});
afterAll(() => bench.service.stop());

test('captures of a day that nobody prepared succeed; while its partition cannot be made, the wallet is free for other calls', async () => {
  const { core } = bench.service;
  await bench.capture({ message: 'today' });
  await bench.service.advance(50 * 86_400);
  const raw = (text: string) => ({ name: '', text });
  const { capture } = await core.db.transaction(async (tx) => {
    // Nobody can make a partition while this lasts.
    await tx.query(raw('LOCK TABLE errors.event IN SHARE UPDATE EXCLUSIVE MODE'), []);
    let captured = false;
    const capturing = bench.capture({ message: 'fifty days later' }).finally(() => {
      captured = true;
    });
    // sleeps: the capture has come to where it waits.
    await sleep(300);
    await core.db.query(raw('SELECT 1 FROM core.wallet WHERE account_id = $1 FOR UPDATE NOWAIT'), [
      bench.account.accountId,
    ]);
    expect(captured).toBe(false);
    return { capture: capturing };
  });
  await capture;
  const days = await bench.number(
    `SELECT count(DISTINCT tableoid)::int AS number FROM errors.event WHERE account_id = '${bench.account.accountId}'`,
  );
  expect(days).toBe(2);
});
