// The lease of an item of a batch ends while its process is slow: one of two attempts ends the item, and only that one charges.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Transaction } from '../../src/db/database.ts';
import type { Statement } from '../../src/db/statement.ts';
import { claimItems, endItem, type Item } from '../../src/modules/ai/batches/items.ts';
import { eventually } from '../cron/harness.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { createTestAccount } from '../support/service.ts';
import { BatchCaller, many } from './batches-harness.ts';
import { type AiBench, startAi } from './harness.ts';

let bench: AiBench;
beforeAll(async () => {
  // Nothing claims the items but this test.
  bench = await startAi({ env: { ROLES: 'web,render' } });
});
afterAll(() => bench?.service.stop());

const body = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Hello.' }] };
const END = { response: Buffer.from('sealed'), costNanos: 160n };

const transaction = <R>(work: (tx: Transaction) => Promise<R>) => bench.service.core.db.transaction(work);

/** An account with a batch of one request. */
async function accountWithItem(): Promise<string> {
  const it = new BatchCaller(bench.service, await createTestAccount(bench.service.core, 1));
  await it.create(many(1, { capability: 'ai.chat', body }));
  return it.account.accountId;
}

const claimIn = async (tx: Transaction, accountId: string, suspects = false) =>
  (await claimItems(tx, accountId, { limit: 1, underWay: [], suspects })).jobs[0];

const claim = (accountId: string, suspects = false) => transaction((tx) => claimIn(tx, accountId, suspects));

/** The transaction, but the statement of that name waits for `until`; `reached` is called before it does. */
function pausedAt(tx: Transaction, name: string, reached: () => void, until: Promise<void>): Transaction {
  return new Proxy(tx, {
    get: (target, property) =>
      property !== 'query'
        ? Reflect.get(target, property)
        : async (statement: Statement, values: never) => {
            if (statement.name === name) {
              reached();
              await until;
            }
            return target.query(statement, values);
          },
  });
}

test('nobody claims an item that is being ended', async () => {
  const accountId = await accountWithItem();
  const item = (await claim(accountId)) as Item;
  await bench.service.advance(10 * 60);
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ending = transaction((tx) =>
    endItem(pausedAt(tx, 'ai_item_end', reached.resolve, released.promise), item, END),
  );
  await reached.promise;
  const other = await claim(accountId, true);
  released.resolve();
  expect([await ending, other]).toEqual([true, undefined]);
  expect(await claim(accountId, true)).toBeUndefined();
});

test('an attempt whose item is just being claimed by another ends nothing', async () => {
  const accountId = await accountWithItem();
  const item = (await claim(accountId)) as Item;
  await bench.service.advance(10 * 60);
  const [claimed, committed] = [Promise.withResolvers<Item>(), Promise.withResolvers<void>()];
  const claiming = transaction(async (tx) => {
    claimed.resolve((await claimIn(tx, accountId, true)) as Item);
    await committed.promise;
  });
  const other = await claimed.promise;
  const ending = transaction((tx) => endItem(tx, item, END));
  await eventually(async () => (await lockWaiters(bench.service.core.db)) > 0);
  committed.resolve();
  await claiming;
  expect(await ending).toBe(false);
  expect(await transaction((tx) => endItem(tx, other, END))).toBe(true);
});
