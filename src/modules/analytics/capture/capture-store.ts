// SQL of event capture. Every statement is set-based over the accounts of a lane commit; their wallets are locked, so what is read stays valid.
// Rows are read by their whole key: OFFSET 0 keeps the planner from a join that would read all rows of an account.
import { boolArray, byteaArray, int4Array, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const readAccounts = statement(
  'analytics_read_accounts',
  'SELECT a.account_id, a.numbers, a.changes FROM analytics.account a WHERE a.account_id = ANY($1::text[])',
);
const readAliases = statement(
  'analytics_read_aliases',
  `SELECT g.* FROM unnest($2::text[], $3::text[]) u(account_id, distinct_id),
          LATERAL (SELECT a.account_id, a.distinct_id, a.number, a.person FROM analytics.alias a
                    WHERE a.account_id = ANY($1::text[]) AND a.account_id = u.account_id AND a.distinct_id = u.distinct_id OFFSET 0) g`,
);
const readPersons = statement(
  'analytics_read_persons',
  `SELECT p.* FROM unnest($2::text[], $3::text[]) u(account_id, distinct_id),
          LATERAL (SELECT a.person FROM analytics.alias a
                    WHERE a.account_id = ANY($1::text[]) AND a.account_id = u.account_id AND a.distinct_id = u.distinct_id OFFSET 0) g,
          LATERAL (SELECT e.account_id, e.person, e.ids, e.is_identified, e.properties, e.created_ms, e.updated_ms FROM analytics.person e
                    WHERE e.account_id = ANY($1::text[]) AND e.account_id = u.account_id AND e.person = g.person OFFSET 0) p`,
);
const readSeen = statement(
  'analytics_read_seen',
  `SELECT g.* FROM unnest($2::text[], $3::bytea[]) u(account_id, uuid),
          LATERAL (SELECT s.account_id, s.uuid FROM analytics.seen s
                    WHERE s.account_id = ANY($1::text[]) AND s.account_id = u.account_id AND s.uuid = u.uuid AND s.seq >= $4 AND s.seq < $5
                    LIMIT 1) g`,
);
const upsertAccounts = statement(
  'analytics_upsert_accounts',
  `INSERT INTO analytics.account AS a (account_id, numbers, changes)
   SELECT w.account_id, u.numbers, u.changes FROM core.wallet w, unnest($2::text[], $3::integer[], $4::bigint[]) u(account_id, numbers, changes)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id) DO UPDATE SET numbers = excluded.numbers, changes = excluded.changes`,
);
const insertAliases = statement(
  'analytics_insert_aliases',
  `INSERT INTO analytics.alias AS a (account_id, distinct_id, number, person, changed)
   SELECT w.account_id, u.distinct_id, u.number, u.person, u.changed
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::integer[], $5::integer[], $6::bigint[]) u(account_id, distinct_id, number, person, changed)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const moveAliases = statement(
  'analytics_move_aliases',
  `UPDATE analytics.alias a SET person = u.target, changed = u.changed
     FROM unnest($2::text[], $3::integer[], $4::integer[], $5::bigint[]) u(account_id, person, target, changed)
    WHERE a.account_id = ANY($1::text[]) AND a.account_id = u.account_id AND a.person = u.person`,
);
const upsertPersons = statement(
  'analytics_upsert_persons',
  `INSERT INTO analytics.person AS p (account_id, person, ids, is_identified, properties, created_ms, updated_ms)
   SELECT w.account_id, u.person, u.ids, u.is_identified, u.properties, u.created_ms, u.updated_ms
     FROM core.wallet w, unnest($2::text[], $3::integer[], $4::integer[], $5::boolean[], $6::text[], $7::bigint[], $8::bigint[])
          u(account_id, person, ids, is_identified, properties, created_ms, updated_ms)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, person) DO UPDATE
      SET ids = excluded.ids, is_identified = excluded.is_identified, properties = excluded.properties,
          created_ms = excluded.created_ms, updated_ms = excluded.updated_ms`,
);
const deletePersons = statement(
  'analytics_delete_persons',
  `DELETE FROM analytics.person p USING unnest($2::text[], $3::integer[]) u(account_id, person)
    WHERE p.account_id = ANY($1::text[]) AND p.account_id = u.account_id AND p.person = u.person`,
);
const insertSeen = statement(
  'analytics_insert_seen',
  `INSERT INTO analytics.seen AS s (account_id, seq, uuid)
   SELECT w.account_id, u.seq, u.uuid FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bytea[]) u(account_id, seq, uuid)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** A value with the account that it is of. */
export interface Of<T> {
  readonly accountId: string;
  readonly value: T;
}

export interface AccountRow {
  readonly account_id: string;
  readonly numbers: number;
  readonly changes: bigint;
}

export interface AliasRow {
  readonly account_id: string;
  readonly distinct_id: string;
  readonly number: number;
  readonly person: number;
}

export interface PersonRow {
  readonly account_id: string;
  readonly person: number;
  readonly ids: number;
  readonly is_identified: boolean;
  readonly properties: string;
  readonly created_ms: bigint;
  readonly updated_ms: bigint;
}

/** What a commit stands on. */
export interface Wanted {
  readonly accounts: Buffer;
  readonly ids: readonly Of<string>[];
  /** Distinct IDs whose people change. */
  readonly people: readonly Of<string>[];
  readonly uuids: readonly Of<Buffer>[];
  /** Where the numbers of what was seen begin and end. */
  readonly seenFrom: bigint;
  readonly seenTo: bigint;
}

const accountsOf = (rows: readonly Of<unknown>[]) => textArray(rows.map(({ accountId }) => accountId));
const texts = (rows: readonly Of<string>[]) => textArray(rows.map(({ value }) => value));

export async function readKnown(tx: Queryable, { accounts, ids, people, uuids, seenFrom, seenTo }: Wanted) {
  const none = { rows: [] };
  const [known, aliases, persons, seen] = await Promise.all([
    tx.query<AccountRow>(readAccounts, [accounts]),
    tx.query<AliasRow>(readAliases, [accounts, accountsOf(ids), texts(ids)]),
    people.length === 0
      ? (none as { rows: PersonRow[] })
      : tx.query<PersonRow>(readPersons, [accounts, accountsOf(people), texts(people)]),
    uuids.length === 0
      ? (none as { rows: { account_id: string; uuid: Buffer }[] })
      : tx.query<{ account_id: string; uuid: Buffer }>(readSeen, [
          ...[accounts, accountsOf(uuids), byteaArray(uuids.map(({ value }) => value)), seenFrom, seenTo],
        ]),
  ]);
  return { accounts: known.rows, aliases: aliases.rows, persons: persons.rows, seen: seen.rows };
}

export interface NewAlias {
  readonly distinctId: string;
  readonly number: number;
  readonly person: number;
  readonly changed: bigint;
}

export interface Move {
  readonly person: number;
  readonly into: number;
  readonly changed: bigint;
}

export interface SavedPerson {
  readonly person: number;
  readonly ids: number;
  readonly isIdentified: boolean;
  readonly properties: string;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** What a commit writes of people; each list only of accounts in `accounts`. */
export interface Changed {
  readonly accounts: readonly Of<{ readonly numbers: number; readonly changes: bigint }>[];
  readonly aliases: readonly Of<NewAlias>[];
  readonly moves: readonly Of<Move>[];
  readonly persons: readonly Of<SavedPerson>[];
  readonly gone: readonly Of<number>[];
  readonly seen: readonly Of<{ readonly seq: bigint; readonly uuid: Buffer }>[];
}

/** Sends it without awaiting. */
export function sendChanged(
  tx: Queryable,
  all: Buffer,
  { accounts, aliases, moves, persons, gone, seen }: Changed,
): void {
  const of = <T>(rows: readonly Of<T>[]) => [all, accountsOf(rows)] as const;
  const values = <T, V>(rows: readonly Of<T>[], pick: (value: T) => V) => rows.map(({ value }) => pick(value));
  if (accounts.length > 0)
    void tx.query(upsertAccounts, [
      ...of(accounts),
      int4Array(values(accounts, ({ numbers }) => numbers)),
      int8Array(values(accounts, ({ changes }) => changes)),
    ]);
  if (moves.length > 0)
    void tx.query(moveAliases, [
      ...of(moves),
      int4Array(values(moves, ({ person }) => person)),
      int4Array(values(moves, ({ into }) => into)),
      int8Array(values(moves, ({ changed }) => changed)),
    ]);
  if (aliases.length > 0)
    void tx.query(insertAliases, [
      ...of(aliases),
      textArray(values(aliases, ({ distinctId }) => distinctId)),
      int4Array(values(aliases, ({ number }) => number)),
      int4Array(values(aliases, ({ person }) => person)),
      int8Array(values(aliases, ({ changed }) => changed)),
    ]);
  if (gone.length > 0) void tx.query(deletePersons, [...of(gone), int4Array(values(gone, (person) => person))]);
  if (persons.length > 0)
    void tx.query(upsertPersons, [
      ...of(persons),
      int4Array(values(persons, ({ person }) => person)),
      int4Array(values(persons, ({ ids }) => ids)),
      boolArray(values(persons, ({ isIdentified }) => isIdentified)),
      textArray(values(persons, ({ properties }) => properties)),
      int8Array(values(persons, ({ createdMs }) => BigInt(createdMs))),
      int8Array(values(persons, ({ updatedMs }) => BigInt(updatedMs))),
    ]);
  if (seen.length > 0)
    void tx.query(insertSeen, [
      ...of(seen),
      int8Array(values(seen, ({ seq }) => seq)),
      byteaArray(values(seen, ({ uuid }) => uuid)),
    ]);
}
