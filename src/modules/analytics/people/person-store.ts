// SQL of people, for queries and deletions.
import { int4Array } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const selectPerson = statement(
  'analytics_select_person',
  `SELECT a.person, p.is_identified, coalesce(p.properties, '{}') AS properties, p.created_ms, p.updated_ms
     FROM analytics.alias a LEFT JOIN analytics.person p ON p.account_id = $1 AND p.person = a.person
    WHERE a.account_id = $1 AND a.distinct_id = $2`,
);
const selectIds = statement(
  'analytics_select_ids',
  'SELECT a.distinct_id, a.number FROM analytics.alias a WHERE a.account_id = $1 AND a.person = $2 ORDER BY a.number',
);
const selectNames = statement(
  'analytics_select_names',
  `SELECT g.* FROM unnest($2::integer[], $3::integer[]) u(person, number),
          LATERAL (SELECT a.number, a.distinct_id FROM analytics.alias a
                    WHERE a.account_id = $1 AND a.person = u.person AND a.number = u.number OFFSET 0) g`,
);
const nextChange = statement(
  'analytics_next_change',
  'UPDATE analytics.account SET changes = changes + 1 WHERE account_id = $1 RETURNING changes',
);
const deleteIds = statement(
  'analytics_delete_ids',
  'DELETE FROM analytics.alias a WHERE a.account_id = $1 AND a.person = $2',
);
const deletePerson = statement(
  'analytics_delete_person',
  'DELETE FROM analytics.person p WHERE p.account_id = $1 AND p.person = $2',
);
const insertDeleted = statement(
  'analytics_insert_deleted',
  `INSERT INTO analytics.deleted AS d (account_id, number, changed)
   SELECT w.account_id, u.number, $3::bigint FROM core.wallet w, unnest($2::integer[]) u(number) WHERE w.account_id = $1`,
);

export interface PersonRow {
  readonly person: number;
  readonly is_identified: boolean | null;
  readonly properties: string;
  readonly created_ms: bigint | null;
  readonly updated_ms: bigint | null;
}

export interface IdRow {
  readonly distinct_id: string;
  readonly number: number;
}

export async function findPerson(db: Queryable, accountId: string, distinctId: string): Promise<PersonRow | null> {
  return (await db.query<PersonRow>(selectPerson, [accountId, distinctId])).rows[0] ?? null;
}

export async function idsOf(db: Queryable, accountId: string, person: number): Promise<readonly IdRow[]> {
  return (await db.query<IdRow>(selectIds, [accountId, person])).rows;
}

/** The distinct IDs of numbers, which are of these people now. */
export async function namesOf(
  db: Queryable,
  accountId: string,
  events: readonly { readonly id: number; readonly person: number }[],
): Promise<ReadonlyMap<number, string>> {
  const each = [...new Map(events.map((event) => [event.id, event])).values()];
  const people = int4Array(each.map(({ person }) => person));
  const { rows } = await db.query<IdRow>(selectNames, [accountId, people, int4Array(each.map(({ id }) => id))]);
  return new Map(rows.map((row) => [row.number, row.distinct_id]));
}

/** Under the lock of the account: from its commit on no question counts an event of theirs. Answers how many IDs they had. */
export async function deleteEverything(tx: Transaction, accountId: string, person: number): Promise<number> {
  const ids = await idsOf(tx, accountId, person);
  const { rows } = await tx.query<{ changes: bigint }>(nextChange, [accountId]);
  const changed = rows[0]?.changes as bigint;
  await Promise.all([
    tx.query(insertDeleted, [accountId, int4Array(ids.map(({ number }) => number)), changed]),
    tx.query(deleteIds, [accountId, person]),
    tx.query(deletePerson, [accountId, person]),
  ]);
  return ids.length;
}
