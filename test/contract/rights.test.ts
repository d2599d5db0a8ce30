// What is true of a caller at the answer is true in the commit: while a write waits for a lock, its key is revoked, narrowed or expires, or
// its account is suspended. Then it is refused and leaves nothing behind, whichever operation it is.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { setSuspended } from '../../src/core/accounts/accounts.ts';
import { lockAccount } from '../../src/core/callers/lock.ts';
import { holdRights } from '../../src/core/callers/rights.ts';
import { createKey, revokeKey, updateKey } from '../../src/core/keys/changes.ts';
import { lockWallets } from '../../src/core/wallet/lane/statements.ts';
import type { Queryable, Transaction } from '../../src/db/database.ts';
import { ClientTransaction } from '../../src/db/transaction.ts';
import { accountRows } from '../support/account-rows.ts';
import {
  byId,
  callCapability,
  capabilities,
  createPlayer,
  endVideosAfter,
  isOperators,
  prepareExample,
} from '../support/capabilities.ts';
import { lockWaiters } from '../support/lock-waits.ts';
import { client, createTestAccount, type Reply } from '../support/service.ts';
import { type SharedService, sharedService } from '../support/shared-service.ts';

/** They change leases of messages and lock nothing of the account: they have answered before their caller changes. */
/** Of email.inbound the mail is for whoever has the inbox, and the caller is its mail server. */
const UNLOCKED = ['queue.ack', 'queue.consume', 'queue.extend', 'queue.nack', 'email.inbound'];

/** It opens a browser before it commits, by the function of all answers that are computed: those that are quick to make show the other losses. */
const HEAVY = ['web.screenshot'];

interface Target {
  readonly accountId: string;
  readonly keyId: string;
  readonly nowMs: number;
}

/** How a caller loses its rights, and with what it is refused. */
const losses: Readonly<Record<string, [lose: (tx: Transaction, target: Target) => Promise<unknown>, code: string]>> = {
  revoked: [
    (tx, { accountId, keyId, nowMs }) => revokeKey(tx, accountId, keyId, 'requested', nowMs),
    'INVALID_API_KEY',
  ],
  narrowed: [
    (tx, { accountId, keyId, nowMs }) => updateKey(tx, accountId, keyId, { scopes: ['discovery'] }, nowMs),
    'INSUFFICIENT_SCOPE',
  ],
  expired: [
    async (tx, { accountId, keyId }) => {
      await holdRights(tx, accountId);
      await tx.query(expireKey, [accountId, keyId]);
    },
    'INVALID_API_KEY',
  ],
  suspended: [(tx, { accountId }) => setSuspended(tx, accountId, true), 'ACCOUNT_SUSPENDED'],
};

const expireKey = {
  name: 'test_expire_key',
  text: 'UPDATE core.api_key SET expires_at = core.clock_now() WHERE account_id = $1 AND key_id = $2',
};
/** The key and its account as they were before. */
const restoreKey = {
  name: 'test_restore_key',
  text: `UPDATE core.api_key SET revoked_at = NULL, revoked_reason = NULL, scopes = string_to_array($3, ','), expires_at = NULL, updated_at = created_at
          WHERE account_id = $1 AND key_id = $2`,
};
const readTouched = {
  name: 'test_read_touched',
  text: 'SELECT updated_at AS at FROM core.account WHERE account_id = $1',
};
const restoreAccount = {
  name: 'test_restore_account',
  text: 'UPDATE core.account SET updated_at = $2 WHERE account_id = $1',
};
const restoreWallet = {
  name: 'test_restore_wallet',
  text: 'UPDATE core.wallet SET suspended = false WHERE account_id = $1',
};

let service: SharedService;
beforeAll(async () => {
  service = await sharedService();
});
const endVideosOf = endVideosAfter(afterAll);

const writes = capabilities.filter(
  ({ method, scope, price }) => method !== 'GET' && (scope !== 'read' || price !== 'free'),
);

describe('a write whose caller loses its rights while it waits', () => {
  test.each(writes.map(({ id }) => id))('%s is refused and leaves no effect', async (id) => {
    const { db } = service.core;
    const capability = byId(id);
    const player = await createPlayer(service.core, capability);
    const input = await prepareExample(endVideosOf(client(service.url, player.secret)), capability);
    const keys = await Promise.all(Object.keys(losses).map(() => newKey(player.accountId, isOperators(capability))));
    const before = await accountRows(db, player.accountId);
    for (const [loss, [lose, code]] of Object.entries(losses)) {
      if (HEAVY.includes(id) && loss !== 'revoked') continue;
      const key = keys.pop() as NewKey;
      const { reply, waited } = await callBeside(player.accountId, key.keyId, lose, () =>
        callCapability(client(service.url, key.secret), capability, input),
      );
      await key.restore();
      if (!waited) {
        expect(UNLOCKED, `${loss}: it did not wait: ${reply.text}`).toContain(id);
        return;
      }
      expect([loss, reply.body.error?.code ?? reply.body.error], reply.text).toEqual([loss, code]);
    }
    expect(await accountRows(db, player.accountId)).toEqual(before);
    // The call itself may be made.
    const { body } = await callCapability(client(service.url, player.secret), capability, input);
    expect(body.error).toBeUndefined();
  });
});

test('an effect too large for a shared commit is refused as well when its key is revoked between hold and commit', async () => {
  const { db } = service.core;
  const { accountId, secret } = await createTestAccount(service.core);
  const call = client(service.url, secret);
  await call('POST', '/v1/vector/collection/create', { collection: 'docs', dimension: 1 });
  const key = await newKey(accountId, false);
  const before = await accountRows(db, accountId);
  const vectors = Array.from({ length: 300 }, (_, n) => ({ id: `v${n}`, embedding: [1] }));
  const upserting = await db.transaction(async (tx) => {
    await tx.query(lockCollection, [accountId]);
    const begun = client(service.url, key.secret)('POST', '/v1/vector/upsert', { collection: 'docs', vectors });
    await waitForLock(db, () => false);
    await db.transaction(async (other) => {
      const nowMs = (await lockAccount(other, accountId)) as number;
      await revokeKey(other, accountId, key.keyId, 'requested', nowMs);
    });
    return { begun };
  });
  expect((await upserting.begun).body.error).toMatchObject({ code: 'INVALID_API_KEY' });
  await key.restore();
  const after = await accountRows(db, accountId);
  const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
  expect(changed).toEqual(['core.hold', 'core.ledger', 'core.wallet']);
  expect((await call('GET', '/v1/account/balance')).body.data).toMatchObject({ held_usd: 0 });
});

const lockCollection = {
  name: 'test_lock_collection',
  text: 'SELECT c.name FROM vector.collection c WHERE c.account_id = $1 FOR UPDATE',
};

/** Makes the call while a transaction holds the account and takes the caller's rights; it commits once the call waits for it. */
async function callBeside(
  accountId: string,
  keyId: string,
  lose: (tx: Transaction, target: Target) => Promise<unknown>,
  call: () => Promise<Reply>,
): Promise<{ reply: Reply; waited: boolean }> {
  const { db } = service.core;
  let answered = false;
  const sent = vi.spyOn(ClientTransaction.prototype, 'query');
  // A lane that was passed over waits in PostgreSQL for a moment only, and then asks from time to time.
  const isLockedOut = () =>
    sent.mock.calls.some(
      ([{ name }, [accounts]]) =>
        name === lockWallets.name && Buffer.isBuffer(accounts) && accounts.includes(accountId),
    );
  const [calling, waited] = await db.transaction(async (tx) => {
    const nowMs = (await lockAccount(tx, accountId)) as number;
    await lose(tx, { accountId, keyId, nowMs });
    sent.mockClear();
    const begun = call().finally(() => {
      answered = true;
    });
    await waitForLock(db, () => answered || isLockedOut());
    return [{ begun }, !answered] as const;
  });
  sent.mockRestore();
  return { reply: await calling.begun, waited };
}

/** Once somebody waits for a lock, or `isOver`. Looked at every few ms: without a pause the looking takes what the call needs. */
function waitForLock(db: Queryable, isOver: () => boolean): Promise<void> {
  const look = async () => expect(isOver() || (await lockWaiters(db)) > 0).toBe(true);
  return vi.waitFor(look, { timeout: 50_000, interval: 4 });
}

type NewKey = Awaited<ReturnType<typeof newKey>>;

async function newKey(accountId: string, isOperator: boolean) {
  const { db, secrets } = service.core;
  const scopes = isOperator ? ['*', 'operator'] : null;
  const [{ key, secret }, touched] = await db.transaction(async (tx) => {
    const nowMs = (await lockAccount(tx, accountId)) as number;
    const { rows } = await tx.query<{ at: number }>(readTouched, [accountId]);
    const fields = { name: null, scopes, expiresAtMs: null, cap: null };
    return [await createKey(tx, secrets, accountId, fields, nowMs), rows[0]?.at as number] as const;
  });
  return {
    secret,
    keyId: key.keyId,
    restore: () =>
      db.transaction(async (tx) => {
        await tx.query(restoreKey, [accountId, key.keyId, scopes?.join(',') ?? null]);
        await tx.query(restoreAccount, [accountId, new Date(touched)]);
        await tx.query(restoreWallet, [accountId]);
      }),
  };
}
