// One account with a live key on a real database, and an effect that leaves a row for every call it was charged for.

import { inject } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { IdempotencyKey } from '../../src/core/callers/idempotency-key.ts';
import type { Principal } from '../../src/core/callers/principal.ts';
import { mintSecret } from '../../src/core/keys/api-key.ts';
import { KeyRing } from '../../src/core/keys/ring.ts';
import type { Logger } from '../../src/core/process/logger.ts';
import { noSiblings } from '../../src/core/process/siblings.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { grantCredit } from '../../src/core/wallet/grants.ts';
import { Holds } from '../../src/core/wallet/holds/holds.ts';
import type { LaneEffect, LaneItem, ReadVerdict } from '../../src/core/wallet/lane/lane-item.ts';
import { Lanes } from '../../src/core/wallet/lane/lanes.ts';
import { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import type { CallContext } from '../../src/kit/services.ts';
import { newId } from '../../src/lib/ids.ts';
import { priceBookOf } from '../../src/manifest/compose.ts';
import { modules } from '../../src/modules/index.ts';
import type { Problem } from '../../src/problems/problem.ts';
import type { TestDatabase } from '../support/database.ts';

const secrets = new Secrets('a server secret of tests, long enough');
const quiet = () => undefined;
export const silent: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };

export interface Account {
  readonly accountId: string;
  readonly keyId: string;
  readonly principal: Principal;
}

export interface Shop {
  readonly db: Database;
  readonly lanes: Lanes;
  readonly holds: Holds;
  end(): Promise<void>;
}

const createRows = statement(
  'test_create_rows',
  `CREATE TABLE IF NOT EXISTS core.test_effect (account_id text, seq bigint, number integer NOT NULL, PRIMARY KEY (account_id, seq))`,
);
const insertRow = statement(
  'test_insert_row',
  'INSERT INTO core.test_effect (account_id, seq, number) VALUES ($1, $2, $3::text::integer)',
);
const countRows = statement('test_count_rows', 'SELECT count(*) AS count FROM core.test_effect WHERE account_id = $1');
const insertKey = statement(
  'test_insert_key',
  `INSERT INTO core.api_key (account_id, key_id, project_id, prefix, last4, created_at, updated_at)
   VALUES ($1, $2, 'proj_test', '', '', core.clock_now(), core.clock_now())`,
);
const insertSecret = statement(
  'test_insert_secret',
  `INSERT INTO core.api_secret (secret_hash, account_id, key_id, is_current, created_at) VALUES ($1, $2, $3, true, core.clock_now())`,
);
const readBooks = statement(
  'test_read_books',
  `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
          (SELECT coalesce(sum(remaining_nanos), 0) FROM core.credit_grant g WHERE g.account_id = $1) AS grants,
          (SELECT coalesce(sum(reserved_nanos), 0) FROM core.credit_grant g WHERE g.account_id = $1) AS reserved,
          (SELECT coalesce(sum(amount_nanos), 0) FROM core.ledger l WHERE l.account_id = $1) AS ledger,
          (SELECT coalesce(sum(amount_nanos), 0) FROM core.hold h WHERE h.account_id = $1 AND h.status = 'active') AS holds,
          (SELECT coalesce(sum(spend_nanos), 0) FROM core.usage_hour u WHERE u.account_id = $1) AS spend,
          (SELECT coalesce(-sum(amount_nanos), 0) FROM core.ledger l WHERE l.account_id = $1 AND kind IN ('charge', 'capture')) AS charged,
          (SELECT coalesce(sum(request_count), 0) FROM core.usage_hour u WHERE u.account_id = $1) AS requests,
          (SELECT balance_after_nanos FROM core.ledger l WHERE l.account_id = $1 ORDER BY entry_seq DESC LIMIT 1) AS last_balance,
          (SELECT count(*) FROM core.ledger l WHERE l.account_id = $1) AS entries
     FROM core.wallet w WHERE w.account_id = $1`,
);

export interface BooksRow {
  readonly balance: bigint;
  readonly held: bigint;
  readonly grants: bigint;
  readonly reserved: bigint;
  readonly ledger: bigint;
  readonly holds: bigint;
  readonly spend: bigint;
  readonly charged: bigint;
  readonly requests: bigint;
  readonly last_balance: bigint | null;
  readonly entries: bigint;
}

export async function openShop(
  connection: TestDatabase['connection'],
  log: Logger = silent,
  over: { termMs?: number } = {},
): Promise<Shop> {
  const db = new Database({ connection, distributed: inject('cluster') !== null });
  await db.query(createRows, []);
  const lanes = new Lanes({ db, log });
  return { db, lanes, holds: new Holds({ db, lanes, log, owner: 'test', ...over }), end: () => db.end() };
}

/** A further key of an account. */
export async function addKey(db: Database, accountId: string): Promise<Account> {
  const { hash, secret } = mintSecret(secrets);
  const keyId = newId('key_');
  await db.query(insertKey, [accountId, keyId]);
  await db.query(insertSecret, [hash, accountId, keyId]);
  return { accountId, keyId, principal: await principalOf(db, secret) };
}

/** An account with a key and, unless zero, paid credit. */
export async function openAccount(db: Database, creditNanos = 0n): Promise<Account> {
  const { hash, secret } = mintSecret(secrets);
  const keyId = newId('key_');
  const accountId = await db.transaction(async (tx) => {
    const id = await createAccount(tx, { email: 'a@example.org' });
    await tx.query(insertKey, [id, keyId]);
    await tx.query(insertSecret, [hash, id, keyId]);
    if (creditNanos > 0n)
      await grantCredit(tx, id, { kind: 'paid', amountNanos: creditNanos, expiresInMs: null, note: null });
    return id;
  });
  return { accountId, keyId, principal: await principalOf(db, secret) };
}

async function principalOf(db: Database, secret: string): Promise<Principal> {
  const found = await new KeyRing({ db, secrets }).find(secret);
  if (typeof found === 'string') throw new Error(`the key of the test is ${found}`);
  return found;
}

export async function booksOf(db: Database, accountId: string): Promise<BooksRow> {
  return (await db.query<BooksRow>(readBooks, [accountId])).rows[0] as BooksRow;
}

export async function rowsOf(db: Database, accountId: string): Promise<number> {
  return Number((await db.query<{ count: bigint }>(countRows, [accountId])).rows[0]?.count);
}

/** The input is the text of a number; any other text is refused by PostgreSQL, and with it the whole batch. */
export function rowEffect(options: { read?: (call: number) => ReadVerdict<null>; committed?: () => void } = {}) {
  let reads = 0;
  const effect: LaneEffect<string, null> = {
    name: 'row',
    exclusiveKeys: () => [],
    read: async (_tx, items) =>
      items.map(() => {
        reads += 1;
        return options.read?.(reads) ?? { kind: 'go', context: null };
      }),
    write: (tx, items) =>
      items.map(({ item, firstSeq }) => {
        void tx.query(insertRow, [item.accountId, firstSeq, item.input]);
        return JSON.stringify({ seq: String(firstSeq) });
      }),
    afterCommit: () => options.committed?.(),
  };
  return effect;
}

export function call(account: Account, over: Partial<LaneItem<string, null>> = {}): LaneItem {
  const item: LaneItem<string, null> = {
    ...account,
    capability: 'queue.publish',
    scope: 'write',
    requestId: newId('req_'),
    units: 1n,
    amount: 20_000n,
    priceVersion: 'test',
    mode: 'charge',
    approval: null,
    idempotency: null,
    keepMs: 86_400_000,
    sequences: 1,
    bytes: 100,
    effect: rowEffect(),
    input: '1',
    ...over,
  };
  return item as unknown as LaneItem;
}

export function idempotencyKey(raw: string, request = 'same'): IdempotencyKey {
  return { raw, hash: raw, fingerprint: request };
}

/** A call's context with as much of the core as charging needs. */
export function contextOf(shop: Shop, account: Account, idempotency: IdempotencyKey | null = null): CallContext {
  const eventTypes = new Set(modules.flatMap(({ events = [] }) => events.map(({ type }) => type)));
  const { db, lanes, holds } = shop;
  const core = { db, lanes, holds, prices: priceBookOf(modules), eventTypes, siblings: noSiblings, log: silent };
  return {
    core,
    capability: 'queue.publish',
    scope: 'write',
    priceEntry: 'queue.publish',
    requestId: newId('req_'),
    accountId: account.accountId,
    principal: account.principal,
    approval: null,
    idempotency,
  } as unknown as CallContext;
}

export function codeOf(outcome: { kind: string; problem?: Problem }): string {
  return outcome.kind === 'refused' ? (outcome.problem?.code ?? '?') : outcome.kind;
}
