// Flags in the database. A change writes the flags, a greater revision of the account, and the history, in one transaction under the account's lock.
import type { CallContext } from '../../../core/context.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { boolArray, int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type ResourceTable, requireRoom, resourceTable } from '../../../kit/resource.ts';
import { ACCOUNT_BYTES_MAX, CHANGES_KEPT, SHOWN_BYTES_MAX, TRIM_EVERY } from '../limits.ts';
import { problem } from '../problems.ts';
import type { FlagsState } from '../state.ts';
import { type FlagRow, type FlagSummary, type NewFlag, showFlag } from './flag.ts';

const summary =
  'key, kind AS type, description, enabled, default_variant, has_targeting, revision, created_at, updated_at';
export const flagTable = resourceTable<FlagRow>({
  ...{ table: 'flags.flag', key: 'key', columns: `${summary}, definition, bytes, steps` },
});

/** By tier; account.tier shows it. */
export const flagLimits = {
  flags: { description: 'Feature flags.', used: flagTable.count, standard: 500, pro: 5_000, enterprise: 50_000 },
};

const pageSummaries = statement(
  'flags_page_summaries',
  `SELECT ${summary} FROM flags.flag WHERE account_id = $1 AND key > $2 ORDER BY key LIMIT $3::int`,
);
const findSizes = statement(
  'flags_find_sizes',
  'SELECT key, bytes FROM flags.flag WHERE account_id = $1 AND key = ANY($2::text[])',
);
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
const removeOne = statement(
  'flags_remove',
  'DELETE FROM flags.flag WHERE account_id = $1 AND key = $2 RETURNING key, bytes',
);
const removeOthers = statement(
  'flags_remove_others',
  'DELETE FROM flags.flag WHERE account_id = $1 AND key <> ALL($2::text[]) RETURNING key, bytes',
);
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
const insertChanges = statement(
  'flags_insert_changes',
  `INSERT INTO flags.change AS c (account_id, key, revision, action, actor, changed_fields, flag, created_at)
   SELECT w.account_id, u.key, $2, u.action, $3, $4, u.flag, $8
     FROM core.wallet w, unnest($5::text[], $6::text[], $7::text[]) u(key, action, flag)
    WHERE w.account_id = $1`,
);
const trimChanges = statement(
  'flags_trim_changes',
  `DELETE FROM flags.change
    WHERE account_id = $1
      AND revision < (SELECT revision FROM flags.change WHERE account_id = $1 ORDER BY revision DESC OFFSET $2::int LIMIT 1)`,
);

type Owner = Pick<CallContext, 'accountId'>;
type Size = Pick<FlagRow, 'key' | 'bytes'>;

export const listSummaries: ResourceTable<FlagSummary>['list'] = async (db, { accountId }, { after, limit }) =>
  (await db.query<FlagSummary>(pageSummaries, [accountId, after ?? '', limit])).rows;

/** In the order of their keys, so many at a time. */
export async function* allFlags(db: Queryable, owner: Owner, limit = 200): AsyncGenerator<readonly FlagRow[]> {
  for (let after: string | null = null; ; ) {
    const rows: readonly FlagRow[] = await flagTable.list(db, owner, { after, limit });
    yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.key ?? null;
  }
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

/** A free write; this process sees it at once. */
export async function writeFlags(
  ctx: CallContext,
  { served }: Pick<FlagsState, 'served'>,
  body: (tx: Transaction, entry: { readonly nowMs: number }) => Promise<unknown>,
) {
  const written = await runWrite(ctx, body);
  served.changed(ctx.accountId);
  return written;
}

/** What is removed is told to `recordChange`. */
export async function removeFlag(tx: Transaction, { accountId }: Owner, key: string): Promise<readonly Size[]> {
  return (await tx.query<Size>(removeOne, [accountId, key])).rows;
}

export async function removeFlagsBut(tx: Transaction, { accountId }: Owner, keys: readonly string[]) {
  return (await tx.query<Size>(removeOthers, [accountId, textArray(keys)])).rows;
}

export interface Change {
  readonly action: 'create' | 'update' | 'delete' | 'import';
  /** As they are to be. */
  readonly saved?: readonly NewFlag[];
  /** Flags that were removed in this transaction. */
  readonly removed?: readonly Size[];
  /** Of a single flag, fields that have other values than before. */
  readonly changedFields?: readonly string[];
  readonly nowMs: number;
}

/** Within `writeFlags`. Answers the revision. Throws QUOTA_EXCEEDED. */
export async function recordChange(
  tx: Transaction,
  ctx: CallContext,
  { saved = [], removed = [], ...change }: Change,
): Promise<bigint> {
  const { accountId } = ctx;
  const keys = textArray(saved.map(({ key }) => key));
  const replaced = (await tx.query<Size>(findSizes, [accountId, keys])).rows;
  const added = saved.length - replaced.length;
  if (added > removed.length) await requireRoom(tx, ctx, 'flag', flagLimits.flags, added);
  const grown = bytesOf(saved) - bytesOf(replaced) - bytesOf(removed);
  const values = [accountId, grown, timestamp(change.nowMs)];
  const after = (await tx.query<{ revision: bigint; bytes: bigint }>(bumpAccount, values)).rows[0];
  if (after === undefined) throw new Error('the account has no revision');
  if (grown > 0 && after.bytes > ACCOUNT_BYTES_MAX)
    throw problem('QUOTA_EXCEEDED', {
      message: `The flags of an account have at most ${ACCOUNT_BYTES_MAX} bytes together.`,
    });
  const { revision } = after;
  if (saved.length > 0) await saveFlags(tx, ctx, saved, revision, change.nowMs);
  await noteChanges(tx, ctx, { ...change, saved, removed }, revision);
  return revision;
}

const bytesOf = (flags: readonly Size[]) => flags.reduce((sum, { bytes }) => sum + bytes, 0);

async function saveFlags(
  tx: Transaction,
  { accountId }: Owner,
  flags: readonly NewFlag[],
  revision: bigint,
  nowMs: number,
): Promise<void> {
  const texts = (of: (flag: NewFlag) => string | null) => textArray(flags.map(of));
  const { count } = await tx.query(saveAll, [
    ...[accountId, texts(({ key }) => key), texts(({ type }) => type), texts(({ description }) => description)],
    ...[boolArray(flags.map(({ enabled }) => enabled)), texts(({ default_variant }) => default_variant)],
    ...[boolArray(flags.map(({ has_targeting }) => has_targeting)), texts(({ definition }) => definition)],
    ...[int4Array(flags.map(({ bytes }) => bytes)), int4Array(flags.map(({ steps }) => steps))],
    ...[revision, timestamp(nowMs)],
  ]);
  if (count !== flags.length) throw new Error('flags were not saved');
}

/** Flags are shown as they are after the change; when one was created stands in its first change. */
async function noteChanges(
  tx: Transaction,
  { accountId, principal }: CallContext,
  { action, saved, removed, changedFields = [], nowMs }: Change & Required<Pick<Change, 'saved' | 'removed'>>,
  revision: bigint,
): Promise<void> {
  const shown = (flag: NewFlag) => {
    if (flag.bytes > SHOWN_BYTES_MAX) return null;
    const { created_at: _, ...rest } = showFlag({ ...flag, revision, created_at: nowMs, updated_at: nowMs });
    return JSON.stringify(rest);
  };
  const rows = [
    ...removed.map(({ key }) => ({ key, action: 'delete', flag: null })),
    ...saved.map((flag) => ({ key: flag.key, action, flag: shown(flag) })),
  ];
  await tx.query(insertChanges, [
    ...[accountId, revision, principal.id, changedFields.join(' '), textArray(rows.map(({ key }) => key))],
    ...[textArray(rows.map((row) => row.action)), textArray(rows.map(({ flag }) => flag)), timestamp(nowMs)],
  ]);
  if (revision % TRIM_EVERY === 0n || rows.length > 1) await tx.query(trimChanges, [accountId, CHANGES_KEPT]);
}

export async function saveMetadata(tx: Transaction, { accountId }: Owner, metadata: object): Promise<void> {
  await tx.query(setMetadata, [accountId, JSON.stringify(metadata)]);
}
