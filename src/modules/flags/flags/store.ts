// SQL of flags. Every change of an account's flags makes its revision grow in the same transaction, under the account's lock.
import { boolArray, int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { resourceTable } from '../../../kit/resource.ts';
import type { FlagRow, FlagSummary, NewFlag } from './definition.ts';

const summary = 'key, kind, description, enabled, default_variant, has_targeting, revision, created_at, updated_at';
const whole = `${summary}, definition, bytes, steps`;
export const flagTable = resourceTable<FlagSummary>({ table: 'flags.flag', key: 'key', columns: summary });

/** By tier; account.tier shows it. */
export const flagLimits = {
  flags: { description: 'Feature flags.', used: flagTable.count, standard: 500, pro: 5_000, enterprise: 50_000 },
};

const findWhole = statement('flags_find', `SELECT ${whole} FROM flags.flag WHERE account_id = $1 AND key = $2`);
const pageWhole = statement(
  'flags_page',
  `SELECT ${whole} FROM flags.flag WHERE account_id = $1 AND key > $2 ORDER BY key LIMIT $3::int`,
);
const findSizes = statement('flags_find_sizes', 'SELECT key, bytes FROM flags.flag WHERE account_id = $1');
const saveAll = statement(
  'flags_save',
  `INSERT INTO flags.flag AS f (account_id, key, kind, description, enabled, default_variant, has_targeting, definition, bytes, steps,
                                revision, created_at, updated_at)
   SELECT w.account_id, u.key, u.kind, u.description, u.enabled, u.default_variant, u.has_targeting, u.definition, u.bytes, u.steps,
          $11, $12, $12
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::bool[], $6::text[], $7::bool[], $8::text[], $9::int[], $10::int[])
          u(key, kind, description, enabled, default_variant, has_targeting, definition, bytes, steps)
    WHERE w.account_id = $1
       ON CONFLICT (account_id, key) DO UPDATE
          SET kind = excluded.kind, description = excluded.description, enabled = excluded.enabled,
              default_variant = excluded.default_variant, has_targeting = excluded.has_targeting, definition = excluded.definition,
              bytes = excluded.bytes, steps = excluded.steps, revision = excluded.revision, updated_at = excluded.updated_at`,
);
const removeAll = statement('flags_remove', 'DELETE FROM flags.flag WHERE account_id = $1 AND key = ANY($2::text[])');
const readAccount = statement(
  'flags_read_account',
  'SELECT revision, metadata, changed_at FROM flags.account WHERE account_id = $1',
);
const bumpAccount = statement(
  'flags_bump',
  `INSERT INTO flags.account AS a (account_id, revision, bytes, metadata, changed_at) VALUES ($1, 1, $2::bigint, '{}', $3)
       ON CONFLICT (account_id) DO UPDATE SET revision = a.revision + 1, bytes = a.bytes + excluded.bytes, changed_at = excluded.changed_at
   RETURNING revision, bytes`,
);
const setMetadata = statement('flags_set_metadata', 'UPDATE flags.account SET metadata = $2 WHERE account_id = $1');
const readRevisions = statement(
  'flags_read_revisions',
  `/* fan-out: accounts whose flags this process serves, whether they have changed */
   SELECT account_id, revision FROM flags.account WHERE account_id = ANY($1::text[])`,
);

export async function findFlag(db: Queryable, accountId: string, key: string): Promise<FlagRow | null> {
  return (await db.query<FlagRow>(findWhole, [accountId, key])).rows[0] ?? null;
}

/** In the order of their keys, so many at a time. */
export async function* allFlags(db: Queryable, accountId: string, atOnce = 200): AsyncGenerator<readonly FlagRow[]> {
  for (let after = ''; ; ) {
    const { rows } = await db.query<FlagRow>(pageWhole, [accountId, after, atOnce]);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < atOnce) return;
    after = last.key;
  }
}

/** Bytes of each, by key. */
export async function flagSizes(db: Queryable, accountId: string): Promise<Map<string, number>> {
  const { rows } = await db.query<{ key: string; bytes: number }>(findSizes, [accountId]);
  return new Map(rows.map(({ key, bytes }) => [key, bytes]));
}

export async function saveFlags(
  tx: Transaction,
  accountId: string,
  flags: readonly NewFlag[],
  revision: bigint,
  nowMs: number,
): Promise<void> {
  if (flags.length === 0) return;
  const texts = (of: (flag: NewFlag) => string | null) => textArray(flags.map(of));
  const { count } = await tx.query(saveAll, [
    ...[accountId, texts(({ key }) => key), texts(({ kind }) => kind), texts(({ description }) => description)],
    ...[boolArray(flags.map(({ enabled }) => enabled)), texts(({ default_variant }) => default_variant)],
    ...[boolArray(flags.map(({ has_targeting }) => has_targeting)), texts(({ definition }) => definition)],
    ...[int4Array(flags.map(({ bytes }) => bytes)), int4Array(flags.map(({ steps }) => steps))],
    ...[revision, timestamp(nowMs)],
  ]);
  if (count !== flags.length) throw new Error('flags were not saved');
}

export async function removeFlags(tx: Transaction, accountId: string, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await tx.query(removeAll, [accountId, textArray(keys)]);
}

/** The revision of the change, and the bytes of all flags after it. */
export async function bump(tx: Transaction, accountId: string, bytes: number, nowMs: number): Promise<Bumped> {
  return (await tx.query<Bumped>(bumpAccount, [accountId, bytes, timestamp(nowMs)])).rows[0] as Bumped;
}

interface Bumped {
  readonly revision: bigint;
  readonly bytes: bigint;
}

export async function saveMetadata(tx: Transaction, accountId: string, metadata: object): Promise<void> {
  await tx.query(setMetadata, [accountId, JSON.stringify(metadata)]);
}

export interface FlagAccount {
  /** 0: it has never had a flag. */
  readonly revision: bigint;
  readonly metadata: object;
  readonly changedMs: number;
}

export async function accountOf(db: Queryable, accountId: string): Promise<FlagAccount> {
  const { rows } = await db.query<{ revision: bigint; metadata: string; changed_at: number }>(readAccount, [accountId]);
  const [{ revision, metadata, changed_at } = { revision: 0n, metadata: '{}', changed_at: 0 }] = rows;
  return { revision, metadata: JSON.parse(metadata), changedMs: changed_at };
}

export async function revisionsOf(db: Queryable, accountIds: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ account_id: string; revision: bigint }>(readRevisions, [textArray(accountIds)]);
  return new Map(rows.map(({ account_id, revision }) => [account_id, revision]));
}
