// Who the numbers of events are now: the people that were joined, and those that were deleted. Kept in this process and brought up to date
// before each question by what has changed since: people change under the lock of their account's wallet, so changes are seen in order.
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

import { problem } from '../problems.ts';
import { IntTable } from './int-table.ts';

const selectChanged = statement(
  'analytics_select_changed',
  `SELECT a.number, a.person, a.changed FROM analytics.alias a
    WHERE a.account_id = $1 AND a.changed > $2
   UNION ALL
   SELECT d.number, 0 AS person, d.changed FROM analytics.deleted d WHERE d.account_id = $1 AND d.changed > $2
   LIMIT $3`,
);

/** Of all accounts. */
const KNOWN_BYTES_MAX = 256 * 1024 * 1024;
/** 16 bytes each, and the room of a table. */
const JOINED_MAX = 4_000_000;
/** Deleted: their events count no more. */
export const DELETED = 0;

export interface Known {
  /** The person of each number that is not its own. Whoever reads it holds it: changes make a new one. */
  readonly table: IntTable;
  readonly changed: bigint;
  /** Whether a number of it was deleted. */
  readonly hasDeleted: boolean;
}

const nobody: Known = { table: new IntTable(null, true), changed: 0n, hasDeleted: false };

export class Joins {
  readonly #known = new LRUCache<string, Known>({
    maxSize: KNOWN_BYTES_MAX,
    sizeCalculation: ({ table }) => table.parts().cells.byteLength,
  });

  /** As of now. Throws QUERY_TOO_LARGE beyond four million. */
  async of(db: Queryable, accountId: string): Promise<Known> {
    const before = this.#known.get(accountId) ?? nobody;
    const { rows } = await db.query<{ number: number; person: number; changed: bigint }>(selectChanged, [
      ...[accountId, before.changed, JOINED_MAX + 1],
    ]);
    if (rows.length === 0) return before;
    if (before.table.size + rows.length > JOINED_MAX) {
      throw problem('QUERY_TOO_LARGE', { message: `More than ${JOINED_MAX} distinct IDs were joined or deleted.` });
    }
    const table = before.table.copy();
    let { changed, hasDeleted } = before;
    for (const row of rows) {
      table.set(row.number, row.person);
      if (row.changed > changed) changed = row.changed;
      if (row.person === DELETED) hasDeleted = true;
    }
    const known = { table, changed, hasDeleted };
    // A slower reading of less does not take the place of a later one.
    if (changed >= (this.#known.get(accountId)?.changed ?? 0n)) this.#known.set(accountId, known);
    return known;
  }
}
