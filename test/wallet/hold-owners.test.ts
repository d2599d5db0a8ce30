// Holds may live for days; every one has an owner, and the doctor finds those whose owner is no more.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setCap } from '../../src/core/callers/key-cap.ts';
import type { AuthorizedHold, LaneItem } from '../../src/core/wallet/lane/lane-item.ts';
import { openWallet } from '../../src/core/wallet/open-wallet.ts';
import { DAY_MS } from '../../src/lib/time.ts';
import { examineAccount } from '../../src/upkeep/doctor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { setClock } from './clock.ts';
import { type Account, call, codeOf, openAccount, openShop, type Shop } from './harness.ts';

const START_MS = Date.UTC(2026, 5, 10, 12);

let database: TestDatabase;
let shop: Shop;

beforeAll(async () => {
  database = await createTestDatabase();
  shop = await openShop(database.connection);
  await setClock(shop.db, START_MS);
});
afterEach(() => setClock(shop.db, START_MS));
afterAll(async () => {
  await shop.end();
  await database.drop();
});

async function hold(account: Account, over: Partial<LaneItem<string, null>>): Promise<AuthorizedHold> {
  const outcome = await shop.holds.authorize(call(account, over));
  if (outcome.kind !== 'held') throw new Error(codeOf(outcome));
  return outcome.hold;
}

describe('a daily cap that is set while a hold of an earlier day is captured', () => {
  test.each([0, 1, 3])('after %i days counts only what was held since the window began', async (days) => {
    const account = await openAccount(shop.db, 1_000_000n);
    const { holdId } = await hold(account, { amount: 60_000n, holdMs: null, holdOwner: 'video:vid_1' });
    await setClock(shop.db, START_MS + days * DAY_MS);
    await shop.holds.capture(account.accountId, holdId, { capturedNanos: 50_000n });
    await shop.db.transaction(async (tx) => {
      const opened = await openWallet(tx, account.accountId);
      if (opened === null) throw new Error('no wallet');
      await setCap(tx, opened, account.keyId, null, { period: 'daily', nanos: 100_000n });
    });
    const { rows } = await shop.db.query<{ used: bigint }>(
      { name: 'test_cap_used', text: 'SELECT spend_used_nanos AS used FROM core.api_key WHERE account_id = $1' },
      [account.accountId],
    );
    expect(rows).toEqual([{ used: days === 0 ? 50_000n : 0n }]);
    expect(await examineAccount({ db: shop.db, secrets: null, modules: [] }, account.accountId)).toEqual([]);
  });
});

describe('the doctor', () => {
  const video = (...live: string[]) => ({ name: 'video', liveWork: async () => new Set(live) });
  const findings = async (account: Account, ...modules: Parameters<typeof examineAccount>[0]['modules'][number][]) =>
    (await examineAccount({ db: shop.db, secrets: null, modules }, account.accountId)).map(({ message }) => message);

  test('lists a hold without end whose work has ended, or that no module knows', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const { holdId } = await hold(account, { holdMs: null, holdOwner: 'video:vid_1' });
    expect(await findings(account, video('vid_1'))).toEqual([]);
    expect(await findings(account, video('vid_2'))).toEqual([`${holdId} is open, and its work video:vid_1 has ended`]);
    expect(await findings(account, { name: 'queue' })).toEqual([`${holdId} has no owner: no module knows video:vid_1`]);
  });

  test('lists a hold that nobody has renewed or released for minutes, not one that has just ended', async () => {
    const account = await openAccount(shop.db, 1_000_000n);
    const { holdId } = await hold(account, { holdMs: 60_000 });
    await setClock(shop.db, START_MS + 2 * 60_000);
    expect(await findings(account)).toEqual([]);
    await setClock(shop.db, START_MS + 10 * 60_000);
    expect(await findings(account)).toEqual([expect.stringContaining(`${holdId} has no owner: test is gone`)]);
  });
});
