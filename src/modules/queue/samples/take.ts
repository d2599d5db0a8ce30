// Takes a sample a minute of each queue that holds messages or has changed. It holds published and acknowledged since the last sample, depth,
// and age of the oldest message. One process samples each minute, once; an empty queue at rest costs no row.
import { int4Array, int8Array, textArray } from '../../../db/arrays.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { dropOldestPartition } from '../../../db/partitions.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceAt, sequenceMs } from '../../../lib/sequence.ts';
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts';

/** How long samples are kept. */
export const SAMPLE_DAYS = 7;
const QUEUES_PER_RUN = 1_000;

// The counts of all queues are read at once: with 100,000 queues at rest, looking up the changes of each took 1.1 s in place of 0.3, of which 1,000 busy ones take 0.08.
const findUnsampled = statement(
  'sample_find',
  `/* fan-out: queues that hold messages, or changed since their last sample */
   SELECT c.account_id, c.queue_id, c.depth, c.published, c.acknowledged, c.sampled_published, c.sampled_acknowledged,
          (SELECT m.seq FROM queue.message m
            WHERE m.account_id = c.account_id AND m.queue_id = c.queue_id ORDER BY m.seq LIMIT 1) AS oldest_seq
     FROM (SELECT t.account_id, t.queue_id, t.live + coalesce(d.live, 0) AS depth, t.published + coalesce(d.published, 0) AS published,
                  t.acknowledged + coalesce(d.acknowledged, 0) AS acknowledged, t.sampled_depth, t.sampled_published, t.sampled_acknowledged
             FROM queue.total t
             LEFT JOIN (SELECT d.account_id, d.queue_id, sum(d.live) AS live, sum(d.published) AS published, sum(d.acknowledged) AS acknowledged
                          FROM queue.delta d GROUP BY d.account_id, d.queue_id) d
               ON d.account_id = t.account_id AND d.queue_id = t.queue_id
            WHERE t.sampled_seq < $1) c
    WHERE c.depth > 0 OR c.depth <> c.sampled_depth OR c.published <> c.sampled_published OR c.acknowledged <> c.sampled_acknowledged
    LIMIT $2`,
);
const insertSamples = statement(
  'sample_insert',
  `INSERT INTO queue.sample AS s (account_id, queue_id, seq, published, acknowledged, depth, oldest_age_seconds)
   SELECT w.account_id, u.queue_id, $4::bigint, u.published, u.acknowledged, u.depth, u.age
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::int[])
          u(account_id, queue_id, published, acknowledged, depth, age)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id, queue_id, seq) DO NOTHING`,
);
const noteSampled = statement(
  'sample_note',
  `UPDATE queue.total t
      SET sampled_seq = $4, sampled_published = u.published, sampled_acknowledged = u.acknowledged, sampled_depth = u.depth
     FROM unnest($2::text[], $3::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) u(account_id, queue_id, published, acknowledged, depth)
    WHERE t.account_id = ANY($1::text[]) AND t.account_id = u.account_id AND t.queue_id = u.queue_id AND t.sampled_seq < $4`,
);

interface UnsampledRow {
  readonly account_id: string;
  readonly queue_id: bigint;
  readonly depth: bigint;
  readonly published: bigint;
  readonly acknowledged: bigint;
  readonly sampled_published: bigint;
  readonly sampled_acknowledged: bigint;
  readonly oldest_seq: bigint | null;
}

/** Samples up to 1,000 queues for the minute before `nowMs`; answers whether there may be more. */
export async function takeSamples(db: Database, nowMs: number): Promise<boolean> {
  const seq = sequenceAt((Math.floor(nowMs / MINUTE_MS) - 1) * MINUTE_MS);
  const { rows } = await db.query<UnsampledRow>(findUnsampled, [seq, QUEUES_PER_RUN]);
  const queues = rows.map((row) => ({ ...row, accountId: row.account_id }));
  for (const some of db.byTransaction(queues))
    await db.transaction((tx) => save(tx, some, seq, nowMs), some[0]?.accountId);
  return rows.length === QUEUES_PER_RUN;
}

async function save(tx: Transaction, rows: readonly UnsampledRow[], seq: bigint, nowMs: number): Promise<void> {
  const numbers = (of: (row: UnsampledRow) => bigint) => int8Array(rows.map(of));
  const which = [
    textArray([...new Set(rows.map(({ account_id }) => account_id))].sort()),
    textArray(rows.map(({ account_id }) => account_id)),
    numbers(({ queue_id }) => queue_id),
    seq,
  ];
  const depth = numbers((row) => row.depth);
  await Promise.all([
    tx.query(insertSamples, [
      ...which,
      numbers((row) => row.published - row.sampled_published),
      numbers((row) => row.acknowledged - row.sampled_acknowledged),
      depth,
      int4Array(rows.map(({ oldest_seq: oldest }) => ageSeconds(oldest, nowMs))),
    ]),
    tx.query(noteSampled, [
      ...which,
      ...[numbers(({ published }) => published), numbers(({ acknowledged }) => acknowledged), depth],
    ]),
  ]);
}

function ageSeconds(oldest: bigint | null, nowMs: number): number {
  return oldest === null ? 0 : Math.max(0, Math.floor((nowMs - sequenceMs(oldest)) / 1_000));
}

/** Drops the oldest day that is past its time; answers whether there was one. */
export function dropOldSamples(db: Database, nowMs: number): Promise<boolean> {
  return dropOldestPartition(db, ['queue.sample'], nowMs - SAMPLE_DAYS * DAY_MS);
}
