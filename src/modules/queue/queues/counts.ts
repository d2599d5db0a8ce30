// Exact counts, without a hot counter row and without counting the backlog. Every transaction appends its changes; a sweep folds them into
// totals. live: messages in a queue; dead: messages of a queue now in its dead-letter queue; published and acknowledged: ever.
import { int4Array, int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { newId } from '../../../lib/ids.ts';

const insertDeltas = statement(
  'queue_insert_deltas',
  `INSERT INTO queue.delta AS d (account_id, queue_id, delta_id, live, dead, published, acknowledged)
   SELECT w.account_id, u.queue_id, u.delta_id, u.live, u.dead, u.published, u.acknowledged
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::text[], $5::int[], $6::int[], $7::int[], $8::int[])
          u(account_id, queue_id, delta_id, live, dead, published, acknowledged)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);
const foldDeltas = statement(
  'queue_fold_deltas',
  `WITH d AS (DELETE FROM queue.delta WHERE account_id = $1 AND queue_id = $2 RETURNING live, dead, published, acknowledged)
   UPDATE queue.total t
      SET live = t.live + s.live, dead = t.dead + s.dead, published = t.published + s.published, acknowledged = t.acknowledged + s.acknowledged
     FROM (SELECT coalesce(sum(d.live), 0) AS live, coalesce(sum(d.dead), 0) AS dead,
                  coalesce(sum(d.published), 0) AS published, coalesce(sum(d.acknowledged), 0) AS acknowledged FROM d) s
    WHERE t.account_id = $1 AND t.queue_id = $2`,
);

interface Changes {
  live: number;
  dead: number;
  published: number;
  acknowledged: number;
}

/** Collects the changes of one transaction per (account, queue). */
export class CountChanges {
  readonly #changes = new Map<string, Changes & { readonly accountId: string; readonly queueId: bigint }>();

  add(accountId: string, queueId: bigint, change: Partial<Changes>): void {
    const id = `${accountId}\n${queueId}`;
    let entry = this.#changes.get(id);
    if (entry === undefined) {
      entry = { accountId, queueId, live: 0, dead: 0, published: 0, acknowledged: 0 };
      this.#changes.set(id, entry);
    }
    entry.live += change.live ?? 0;
    entry.dead += change.dead ?? 0;
    entry.published += change.published ?? 0;
    entry.acknowledged += change.acknowledged ?? 0;
  }

  /** Sends the insert without awaiting it; a failure fails the transaction. */
  send(tx: Queryable): void {
    const rows = [...this.#changes.values()].filter((row) => row.live !== 0 || row.dead !== 0);
    if (rows.length === 0) return;
    void tx.query(insertDeltas, [
      textArray([...new Set(rows.map((row) => row.accountId))].sort()),
      textArray(rows.map((row) => row.accountId)),
      int8Array(rows.map((row) => row.queueId)),
      textArray(rows.map(() => newId(''))),
      int4Array(rows.map((row) => row.live)),
      int4Array(rows.map((row) => row.dead)),
      int4Array(rows.map((row) => row.published)),
      int4Array(rows.map((row) => row.acknowledged)),
    ]);
  }
}

export async function foldCounts(db: Queryable, accountId: string, queueId: bigint): Promise<void> {
  await db.query(foldDeltas, [accountId, queueId]);
}
