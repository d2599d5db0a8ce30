// SQL of feature flags. A change writes the flags, a higher revision of the account, and the history, in one transaction under the account's
// lock.

import { runWrite } from '../../../core/idempotency/write.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type ResourceTable, requireRoom, resourceTable } from '../../../kit/resource.ts';
import { rowsSaver } from '../../../kit/rows.ts';
import type { CallContext } from '../../../kit/services.ts';
import { ACCOUNT_BYTES_MAX, CHANGES_KEPT, LISTED_BYTES_MAX, READ_AT_ONCE, SHOWN_BYTES_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { type FlagRow, type ListedFlag, type NewFlag, showFlag } from './flag.ts';

const summary =
  'key, kind AS type, description, enabled, default_variant, has_targeting, revision, created_at, updated_at';
export const flagTable = resourceTable<FlagRow>({
  table: 'flags.flag',
  key: 'key',
  columns: `${summary}, definition, bytes, steps`,
});

/** By tier; account.tier shows it. */
export const flagLimits = {
  flags: { description: 'Feature flags.', used: flagTable.count, standard: 500, pro: 5_000, enterprise: 50_000 },
};

const pageSummaries = statement(
  'flags_page_summaries',
  // A page reads no more than small rules; what a long one does is not told in a list.
  `SELECT ${summary}, CASE WHEN has_targeting AND bytes <= $4::int THEN definition END AS definition
     FROM flags.flag WHERE account_id = $1 AND key > $2 ORDER BY key LIMIT $3::int`,
);
const saveRows = rowsSaver({
  table: 'flags.flag',
  key: ['key'],
  columns: {
    key: 'text',
    kind: 'text',
    description: 'text',
    enabled: 'bool',
    default_variant: 'text',
    has_targeting: 'bool',
    definition: 'text',
    bytes: 'int',
    steps: 'int',
    revision: 'bigint',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
  },
  kept: ['created_at'],
});
const saveChanges = rowsSaver({
  table: 'flags.change',
  key: ['key', 'revision'],
  columns: {
    key: 'text',
    revision: 'bigint',
    action: 'text',
    actor: 'text',
    changed_fields: 'text',
    flag: 'text',
    created_at: 'timestamptz',
  },
});
const removeOthers = statement(
  'flags_remove_others',
  'DELETE FROM flags.flag WHERE account_id = $1 AND key <> ALL($2::text[]) RETURNING key',
);
const sumBytes = statement(
  'flags_sum_bytes',
  'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM flags.flag WHERE account_id = $1',
);
const readAccount = statement(
  'flags_read_account',
  'SELECT revision, metadata, changed_at FROM flags.account WHERE account_id = $1',
);
const saveAccount = statement(
  'flags_save_account',
  `INSERT INTO flags.account (account_id, revision, bytes, metadata, changed_at) VALUES ($1, $2::bigint, $3::bigint, $4, $5)
       ON CONFLICT (account_id) DO UPDATE SET revision = excluded.revision, bytes = excluded.bytes,
           metadata = excluded.metadata, changed_at = excluded.changed_at`,
);
const readRevisions = statement(
  'flags_read_revisions',
  `/* fan-out: accounts whose flags this process serves, whether they have changed */
   SELECT account_id, revision FROM flags.account WHERE account_id = ANY($1::text[])`,
);
const trimChanges = statement(
  'flags_trim_changes',
  `DELETE FROM flags.change
    WHERE account_id = $1
      AND revision < (SELECT revision FROM flags.change WHERE account_id = $1 ORDER BY revision DESC OFFSET $2::int LIMIT 1)`,
);

type Owner = Pick<CallContext, 'accountId'>;

export const listSummaries: ResourceTable<ListedFlag>['list'] = async (db, { accountId }, { after, limit }) =>
  (await db.query<ListedFlag>(pageSummaries, [accountId, after ?? '', limit, LISTED_BYTES_MAX])).rows;

/** In the order of their keys, some at a time. */
export async function* allFlags(db: Queryable, owner: Owner): AsyncGenerator<readonly FlagRow[]> {
  for (let after: string | null = null; ; ) {
    const rows: readonly FlagRow[] = await flagTable.list(db, owner, { after, limit: READ_AT_ONCE });
    yield rows;
    if (rows.length < READ_AT_ONCE) return;
    after = rows.at(-1)?.key ?? null;
  }
}

/** Revision 0: the account has never had a flag. */
export async function accountOf(db: Queryable, { accountId }: Owner) {
  const { rows } = await db.query<{ revision: bigint; metadata: string; changed_at: number }>(readAccount, [accountId]);
  const [{ revision, metadata, changed_at } = { revision: 0n, metadata: '{}', changed_at: 0 }] = rows;
  return { revision, metadata: JSON.parse(metadata) as object, changedMs: changed_at };
}

export async function revisionsOf(db: Queryable, accountIds: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await db.query<{ account_id: string; revision: bigint }>(readRevisions, [textArray(accountIds)]);
  return new Map(rows.map(({ account_id, revision }) => [account_id, revision]));
}

/** A free write; this process sees it at once. */
export async function writeFlags(
  ctx: CallContext,
  { served }: { readonly served: { noteChange(accountId: string): void } },
  body: (tx: Transaction, entry: { readonly nowMs: number }) => Promise<unknown>,
) {
  const written = await runWrite(ctx, body);
  served.noteChange(ctx.accountId);
  return written;
}

/** Removes all flags but these, and answers their keys: `recordChange` is told of them. */
export async function removeFlagsBut(tx: Transaction, { accountId }: Owner, keys: readonly string[]) {
  const { rows } = await tx.query<{ key: string }>(removeOthers, [accountId, textArray(keys)]);
  return rows.map(({ key }) => key);
}

export interface Change {
  readonly action: 'create' | 'update' | 'delete' | 'import';
  /** As they are to be. */
  readonly saved?: readonly NewFlag[];
  /** Keys of flags that were removed in this transaction. */
  readonly removed?: readonly string[];
  /** Of a single flag, fields that have other values than before. */
  readonly changedFields?: readonly string[];
  /** Of the set; as it was when absent. */
  readonly metadata?: object | undefined;
  readonly nowMs: number;
}

/** Within `writeFlags`. Answers the revision. Throws QUOTA_EXCEEDED. */
export async function recordChange(tx: Transaction, ctx: CallContext, change: Change): Promise<bigint> {
  const { action, saved = [], removed = [], changedFields = [], nowMs } = change;
  const account = await accountOf(tx, ctx);
  const revision = account.revision + 1n;
  const times = { revision, created_at: nowMs, updated_at: nowMs };
  const rows = saved.map((flag) => ({ ...flag, ...times, kind: flag.type }));
  await saveRows(tx, ctx, rows);
  if (action === 'create' || action === 'import') await requireRoom(tx, ctx, 'flag', flagLimits.flags, 0);
  const by = { revision, actor: ctx.principal.id, created_at: nowMs };
  const changed_fields = changedFields.join(' ');
  await saveChanges(tx, ctx, [
    ...removed.map((key) => ({ ...by, key, action: 'delete', changed_fields: '', flag: null })),
    ...saved.map((flag) => ({ ...by, key: flag.key, action, changed_fields, flag: flagJson({ ...flag, ...times }) })),
  ]);
  await tx.query(trimChanges, [ctx.accountId, CHANGES_KEPT]);
  const [{ bytes } = { bytes: 0n }] = (await tx.query<{ bytes: bigint }>(sumBytes, [ctx.accountId])).rows;
  if (saved.length > 0 && bytes > ACCOUNT_BYTES_MAX) {
    const message = `The flags of an account have at most ${ACCOUNT_BYTES_MAX} bytes together.`;
    throw problem('QUOTA_EXCEEDED', { message });
  }
  const metadata = JSON.stringify(change.metadata ?? account.metadata);
  await tx.query(saveAccount, [ctx.accountId, revision, bytes, metadata, timestamp(nowMs)]);
  return revision;
}

/** As JSON; null: it is too long to be kept. When it was created stands in its first change. */
function flagJson(flag: FlagRow): string | null {
  return flag.bytes > SHOWN_BYTES_MAX ? null : JSON.stringify({ ...showFlag(flag), created_at: undefined });
}
