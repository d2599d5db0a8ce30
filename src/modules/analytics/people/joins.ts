// Current people behind the person numbers of events: joins and deletions. This process keeps them, and reads what has changed before each
// query, page by page. People change under the lock of their account's wallet, so a change that comes meanwhile has a higher number than what
// was read.
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { problem } from '../problems.ts';
import { IntTable } from './int-table.ts';

/** Read at once: a few milliseconds of the event loop. */
const PAGE_ROWS = 10_000;
// The index of aliases has those that changed alone, which must be said for it to be used.
const selectChanged = statement(
  'analytics_select_changed',
  `(SELECT a.number, a.person, a.changed FROM analytics.alias a
     WHERE a.account_id = $1 AND a.changed > 0 AND (a.changed, a.number) > ($2, $3)
     ORDER BY a.changed, a.number LIMIT ${PAGE_ROWS})
   UNION ALL
   (SELECT d.number, 0 AS person, d.changed FROM analytics.deleted d
     WHERE d.account_id = $1 AND (d.changed, d.number) > ($2, $3)
     ORDER BY d.changed, d.number LIMIT ${PAGE_ROWS})
   ORDER BY changed, number LIMIT ${PAGE_ROWS}`,
);
const findDeleted = statement(
  'analytics_find_deleted_of',
  'SELECT d.number FROM analytics.deleted d WHERE d.account_id = $1 LIMIT 1',
);

/** Of all accounts. */
const KNOWN_BYTES_MAX = 256 * 1024 * 1024;
/** 16 bytes each, and the room of a table. */
const JOINED_MAX = 4_000_000;
/** Refused for so long without reading them again. */
const TOO_MANY_MS = 600_000;
/** Deleted: their events count no more. */
export const DELETED = 0;

export interface Known {
  /** The person of each number that is not its own. Whoever reads it holds it: changes make a new one. */
  readonly table: IntTable;
  /** The last change that it has, and the last number of that. */
  readonly changed: bigint;
  readonly number: number;
  /** Whether blocks may have events of people who were deleted. */
  readonly hasDeleted: boolean;
}

interface ChangedRow {
  readonly number: number;
  readonly person: number;
  readonly changed: bigint;
}

const nobody: Known = { table: new IntTable(null, true), changed: 0n, number: 0, hasDeleted: false };

export class Joins {
  readonly #known = new LRUCache<string, Known>({
    maxSize: KNOWN_BYTES_MAX,
    sizeCalculation: ({ table }) => table.parts().cells.byteLength,
  });

  /** As of now. Throws QUERY_TOO_LARGE beyond four million, and the reason of `signal`. */
  async of(db: Queryable, accountId: string, signal: AbortSignal): Promise<Known> {
    const before = this.#known.get(accountId) ?? nobody;
    requireFew(before);
    let { table, changed, number } = before;
    // A deletion that this misses comes with the changes.
    let hasDeleted = (await db.query(findDeleted, [accountId])).rows.length > 0;
    for (let isLast = false; !isLast; ) {
      signal.throwIfAborted();
      const { rows } = await db.query<ChangedRow>(selectChanged, [accountId, changed, number]);
      if (rows.length > 0 && table === before.table) table = table.copy();
      for (const row of rows) {
        table.set(row.number, row.person);
        if (row.person === DELETED) hasDeleted = true;
      }
      const last = rows.at(-1);
      if (last !== undefined) ({ changed, number } = last);
      isLast = rows.length < PAGE_ROWS || table.size > JOINED_MAX;
    }
    const known = { table, changed, number, hasDeleted };
    // A slower reading of less does not take the place of a later one.
    if (changed >= (this.#known.get(accountId)?.changed ?? 0n)) {
      const tooMany = table.size > JOINED_MAX ? { ttl: TOO_MANY_MS } : {};
      this.#known.set(accountId, known, tooMany);
    }
    requireFew(known);
    return known;
  }
}

function requireFew({ table }: Known): void {
  if (table.size > JOINED_MAX)
    throw problem('QUERY_TOO_LARGE', { message: `More than ${JOINED_MAX} distinct IDs were joined or deleted.` });
}
