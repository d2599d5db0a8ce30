// Flags in the database. A change writes the flags, a greater revision of the account, and the history, in one transaction under the account's lock.
import type { CallContext } from '../../../core/context.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { type ResourceTable, requireRoom, resourceTable } from '../../../kit/resource.ts';
import { rowsSaver } from '../../../kit/rows.ts';
import { ACCOUNT_BYTES_MAX, CHANGES_KEPT, SHOWN_BYTES_MAX, TRIM_EVERY } from '../limits.ts';
import { problem } from '../problems.ts';
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
const saveRows = rowsSaver({
  table: 'flags.flag',
  key: ['key'],
  columns: {
    ...{ key: 'text', kind: 'text', description: 'text', enabled: 'bool', default_variant: 'text' },
    ...{ has_targeting: 'bool', definition: 'text', bytes: 'int', steps: 'int' },
    ...{ revision: 'bigint', created_at: 'timestamptz', updated_at: 'timestamptz' },
  },
  kept: ['created_at'],
});
const saveChanges = rowsSaver({
  table: 'flags.change',
  key: ['key', 'revision'],
  columns: {
    ...{ key: 'text', revision: 'bigint', action: 'text', actor: 'text', changed_fields: 'text' },
    ...{ flag: 'text', created_at: 'timestamptz' },
  },
});
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

/** Revision 0: the account has never had a flag. */
export async function accountOf(db: Queryable, accountId: string) {
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
  { served }: { readonly served: { changed(accountId: string): void } },
  body: (tx: Transaction, entry: { readonly nowMs: number }) => Promise<unknown>,
) {
  const written = await runWrite(ctx, body);
  served.changed(ctx.accountId);
  return written;
}

/** Its caller tells `recordChange` what was removed. */
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
export async function recordChange(tx: Transaction, ctx: CallContext, change: Change): Promise<bigint> {
  const { saved = [], removed = [], nowMs } = change;
  const keys = textArray(saved.map(({ key }) => key));
  const replaced = (await tx.query<Size>(findSizes, [ctx.accountId, keys])).rows;
  const added = saved.length - replaced.length;
  if (added > removed.length) await requireRoom(tx, ctx, 'flag', flagLimits.flags, added);
  const grown = bytesOf(saved) - bytesOf(replaced) - bytesOf(removed);
  const revision = await bump(tx, ctx, grown, nowMs);
  const times = { revision, created_at: nowMs, updated_at: nowMs };
  await saveRows(
    tx,
    ctx,
    saved.map((flag) => ({ ...flag, ...times, kind: flag.type })),
  );
  const by = { revision, actor: ctx.principal.id, created_at: nowMs };
  const changed_fields = change.changedFields?.join(' ') ?? '';
  const rows = [
    ...removed.map(({ key }) => ({ ...by, key, action: 'delete', changed_fields: '', flag: null })),
    ...saved.map((flag) => ({ ...by, key: flag.key, action: change.action, changed_fields, flag: shown(flag, times) })),
  ];
  await saveChanges(tx, ctx, rows);
  if (revision % TRIM_EVERY === 0n || rows.length > 1) await tx.query(trimChanges, [ctx.accountId, CHANGES_KEPT]);
  return revision;
}

const bytesOf = (flags: readonly Size[]) => flags.reduce((sum, { bytes }) => sum + bytes, 0);

/** Answers the new revision. */
async function bump(tx: Transaction, { accountId }: Owner, grownBytes: number, nowMs: number): Promise<bigint> {
  const values = [accountId, grownBytes, timestamp(nowMs)];
  const [after] = (await tx.query<{ revision: bigint; bytes: bigint }>(bumpAccount, values)).rows;
  if (after === undefined) throw new Error('the account has no revision');
  if (grownBytes <= 0 || after.bytes <= ACCOUNT_BYTES_MAX) return after.revision;
  const message = `The flags of an account have at most ${ACCOUNT_BYTES_MAX} bytes together.`;
  throw problem('QUOTA_EXCEEDED', { message });
}

/** As JSON; null: it is too long to be kept. When it was created stands in its first change. */
function shown(flag: NewFlag, times: Pick<FlagRow, 'revision' | 'created_at' | 'updated_at'>): string | null {
  if (flag.bytes > SHOWN_BYTES_MAX) return null;
  return JSON.stringify({ ...showFlag({ ...flag, ...times }), created_at: undefined });
}

export async function saveMetadata(tx: Transaction, { accountId }: Owner, metadata: object): Promise<void> {
  await tx.query(setMetadata, [accountId, JSON.stringify(metadata)]);
}
