// Batches what concurrent calls ask into one statement: while one runs, new requests wait and go together in the next. On a distributed engine
// each statement is for one account.
import type { Database } from '../db/database.ts';
import { Coalescer } from '../lib/coalesce.ts';

const AT_ONCE_MAX = 64;

/** `run` answers in the order of the items. `byAccount`: all of them are of one account. */
export function together<Item extends { readonly accountId: string }, Result>(
  run: (db: Database, items: readonly Item[]) => Promise<readonly Result[]>,
  { byAccount = false } = {},
): (db: Database, item: Item) => Promise<Result> {
  const known = new WeakMap<Database, Coalescer<Item, Result>>();
  return (db, item) => {
    const batches =
      known.get(db) ?? new Coalescer<Item, Result>({ batchMax: AT_ONCE_MAX, run: (_, items) => run(db, items) });
    known.set(db, batches);
    return batches.add(byAccount || db.distributed ? item.accountId : '', item);
  };
}
