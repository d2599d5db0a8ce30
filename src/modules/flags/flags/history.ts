// Who changed which flag, and how: the newest changes of an account.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { ListBounds } from '../../../kit/resource.ts';
import { iso } from '../../../lib/time.ts';
import { CHANGES_KEPT, TRIM_EVERY } from '../limits.ts';

export type Action = 'create' | 'update' | 'delete' | 'import';

export interface ChangeRow {
  readonly revision: bigint;
  readonly action: Action;
  readonly actor: string;
  readonly changed_fields: string;
  readonly flag: string | null;
  readonly created_at: number;
}

/** What became of one flag. `flag`: JSON; null: it is gone, or too long to be kept. */
export interface FlagChange {
  readonly key: string;
  readonly action: Action;
  readonly changedFields: readonly string[];
  readonly flag: string | null;
}

const insertChanges = statement(
  'flags_insert_changes',
  `INSERT INTO flags.change AS c (account_id, key, revision, action, actor, changed_fields, flag, created_at)
   SELECT w.account_id, u.key, $2, u.action, $3, u.changed_fields, u.flag, $8
     FROM core.wallet w, unnest($4::text[], $5::text[], $6::text[], $7::text[]) u(key, action, changed_fields, flag)
    WHERE w.account_id = $1`,
);
const trimChanges = statement(
  'flags_trim_changes',
  `DELETE FROM flags.change
    WHERE account_id = $1
      AND revision < (SELECT revision FROM flags.change WHERE account_id = $1 ORDER BY revision DESC OFFSET $2::int LIMIT 1)`,
);
const listChanges = statement(
  'flags_list_changes',
  `SELECT revision, action, actor, changed_fields, flag, created_at FROM flags.change
    WHERE account_id = $1 AND key = $2 AND revision < $3::bigint ORDER BY revision DESC LIMIT $4::int`,
);

export async function noteChanges(
  tx: Transaction,
  { accountId, actor, revision }: { readonly accountId: string; readonly actor: string; readonly revision: bigint },
  changes: readonly FlagChange[],
  nowMs: number,
): Promise<void> {
  await tx.query(insertChanges, [
    ...[accountId, revision, actor, textArray(changes.map(({ key }) => key))],
    ...[textArray(changes.map(({ action }) => action))],
    ...[textArray(changes.map(({ changedFields }) => changedFields.join(' ')))],
    ...[textArray(changes.map(({ flag }) => flag)), timestamp(nowMs)],
  ]);
  if (revision % TRIM_EVERY === 0n || changes.length > 1) await tx.query(trimChanges, [accountId, CHANGES_KEPT]);
}

const NEWEST = '9223372036854775807';

/** The newest first. */
export async function changesOf(
  db: Queryable,
  accountId: string,
  key: string,
  { after, limit }: ListBounds,
): Promise<readonly ChangeRow[]> {
  return (await db.query<ChangeRow>(listChanges, [accountId, key, after ?? NEWEST, limit])).rows;
}

export function showChange({ revision, changed_fields, flag, created_at, ...row }: ChangeRow) {
  return {
    ...{ revision: Number(revision), action: row.action, actor: row.actor },
    changed_fields: changed_fields === '' ? [] : changed_fields.split(' '),
    ...{ flag: flag === null ? null : JSON.parse(flag), created_at: iso(created_at) },
  };
}
