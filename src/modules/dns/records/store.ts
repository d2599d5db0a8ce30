// SQL of record sets. A change holds the lock of the account, as runWrite does. In the same transaction it checks the whole zone with
// `requireWhole`, and tells the name servers by `touchZone` (zones/store.ts).
import { int4Array, textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { TimeSlices } from '../../../lib/time-slices.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import { RECORDS_MAX } from '../limits.ts';
import type { RecordSet } from './sets.ts';
import type { RecordType } from './values.ts';

export interface RecordRow {
  readonly name: string;
  readonly type: RecordType;
  readonly ttl: number;
  /** JSON: a list of texts. */
  readonly content: string;
  readonly updated_at: number;
}

const saveRecords = statement(
  'dns_save_records',
  `INSERT INTO dns.record AS t (account_id, zone, name, type, ttl, content, value_count, updated_at)
   SELECT w.account_id, w.zone, u.name, u.type, u.ttl, u.content, u.value_count, $8::timestamptz
     FROM dns.zone w, unnest($3::text[], $4::text[], $5::int[], $6::text[], $7::int[]) u(name, type, ttl, content, value_count)
    WHERE w.account_id = $1 AND w.zone = $2
       ON CONFLICT (account_id, zone, name, type) DO UPDATE
      SET ttl = excluded.ttl, content = excluded.content, value_count = excluded.value_count, updated_at = excluded.updated_at`,
);
const removeRecords = statement(
  'dns_remove_records',
  `DELETE FROM dns.record WHERE account_id = $1 AND zone = $2 AND name = $3 AND ($4::text IS NULL OR type = $4::text)`,
);
const clearRecords = statement('dns_clear_records', 'DELETE FROM dns.record WHERE account_id = $1 AND zone = $2');
const listRecords = statement(
  'dns_list_records',
  `SELECT name, type, ttl, content, updated_at FROM dns.record
    WHERE account_id = $1 AND zone = $2 AND (name, type) > ($3::text, $4::text)
      AND ($6::text IS NULL OR name = $6::text) AND ($7::text IS NULL OR type = $7::text)
    ORDER BY name, type LIMIT $5::int`,
);
const allRecords = statement(
  'dns_all_records',
  'SELECT name, type, ttl, content FROM dns.record WHERE account_id = $1 AND zone = $2 ORDER BY name, type',
);
const findAlias = statement(
  'dns_find_alias_beside',
  `SELECT name FROM dns.record WHERE account_id = $1 AND zone = $2
    GROUP BY name HAVING bool_or(type = 'CNAME') AND count(*) > 1 LIMIT 1`,
);
const countValues = statement(
  'dns_count_values',
  'SELECT coalesce(sum(value_count), 0)::int AS counted FROM dns.record WHERE account_id = $1 AND zone = $2',
);

const SETS_PER_LOOK = 32;
const slices = new TimeSlices();

interface Place {
  readonly accountId: string;
  readonly zone: string;
}

/** Adds the sets, or replaces those of their name and type. */
export async function saveSets(tx: Transaction, { accountId, zone }: Place, sets: readonly RecordSet[], nowMs: number) {
  if (sets.length === 0) return;
  await tx.query(saveRecords, [
    ...[accountId, zone, textArray(sets.map(({ name }) => name)), textArray(sets.map(({ type }) => type))],
    int4Array(sets.map(({ ttl }) => ttl)),
    textArray(sets.map(({ values }) => JSON.stringify(values))),
    int4Array(sets.map(({ values }) => values.length)),
    timestamp(nowMs),
  ]);
}

/** `type` null: of all types. Whether there was one. */
export async function removeSets(
  tx: Transaction,
  { accountId, zone }: Place,
  name: string,
  type: RecordType | null,
): Promise<boolean> {
  return (await tx.query(removeRecords, [accountId, zone, name, type])).count > 0;
}

/** Whether there was one. */
export async function clearSets(tx: Transaction, { accountId, zone }: Place): Promise<boolean> {
  return (await tx.query(clearRecords, [accountId, zone])).count > 0;
}

export interface Narrowed {
  readonly name: string | null;
  readonly type: string | null;
}

/** In the order of name and type; `after` as `positionOf` gives it. */
export async function listSets(
  db: Queryable,
  { accountId, zone }: Place,
  { after, limit, name, type }: Narrowed & { readonly after: string | null; readonly limit: number },
): Promise<readonly RecordRow[]> {
  const [afterName = '', afterType = ''] = (after ?? '').split(' ');
  return (await db.query<RecordRow>(listRecords, [accountId, zone, afterName, afterType, limit, name, type])).rows;
}

export function positionOf({ name, type }: Pick<RecordRow, 'name' | 'type'>): string {
  return `${name} ${type}`;
}

/** All of a zone, at most RECORDS_MAX values; others have their turns meanwhile. */
export async function readSets(db: Queryable, { accountId, zone }: Place): Promise<readonly RecordSet[]> {
  const { rows } = await db.query<RecordRow>(allRecords, [accountId, zone]);
  const sets: RecordSet[] = [];
  for (const row of rows) {
    if (sets.length % SETS_PER_LOOK === SETS_PER_LOOK - 1 && slices.isOver) await slices.next();
    sets.push(setOf(row));
  }
  return sets;
}

export async function countRecords(db: Queryable, { accountId, zone }: Place): Promise<number> {
  return (await db.query<{ counted: number }>(countValues, [accountId, zone])).rows[0]?.counted ?? 0;
}

/** After a change: throws VALIDATION_FAILED for a CNAME beside other records (RFC 1034, section 3.6.2), and QUOTA_EXCEEDED. */
export async function requireWhole(tx: Transaction, place: Place, param: string): Promise<void> {
  const [{ rows }, counted] = await Promise.all([
    tx.query<{ name: string }>(findAlias, [place.accountId, place.zone]),
    countRecords(tx, place),
  ]);
  const [beside] = rows;
  if (beside !== undefined) {
    throw invalidField(param, 'cname', `${beside.name} has a CNAME: no other record may stand beside it.`);
  }
  if (counted > RECORDS_MAX) {
    throw problem('QUOTA_EXCEEDED', { message: `Record limit reached: ${RECORDS_MAX} a zone.` });
  }
}

export function setOf({ name, type, ttl, content }: Pick<RecordRow, 'name' | 'type' | 'ttl' | 'content'>): RecordSet {
  return { name, type, ttl, values: JSON.parse(content) as string[] };
}
