// Store of batches: find, list, count, show. Lock order of a change: the row of the batch, then rows of its items, then the wallet.
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { type Resource, resourceTable } from '../../../kit/resource.ts';
import { usd } from '../../../lib/money.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { problem } from '../problems.ts';
import type { AiState } from '../state.ts';
import { batchIdField, batchSchema, type batchStatuses } from './schemas.ts';

export type BatchStatus = (typeof batchStatuses)[number];
/** How a batch ends before all of its requests were made. */
export type EarlyEnd = 'cancelled' | 'expired';

export interface BatchRow {
  readonly batch_id: string;
  readonly status: BatchStatus;
  readonly ends_as: EarlyEnd | null;
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cost_nanos: bigint;
  readonly created_at: number;
  readonly expires_at: number;
  readonly finished_at: number | null;
}

const columns = 'batch_id, status, ends_as, total, succeeded, failed, cost_nanos, created_at, expires_at, finished_at';

const lockOne = statement(
  'ai_batch_lock',
  `SELECT ${columns} FROM ai.batch b WHERE b.account_id = $1 AND b.batch_id = $2 FOR UPDATE`,
);
const countBatches = statement(
  'ai_batch_count',
  `SELECT count(*)::int AS kept, count(*) FILTER (WHERE b.finished_at IS NULL)::int AS live, coalesce(sum(b.kept_bytes), 0)::float8 AS bytes
     FROM ai.batch b WHERE b.account_id = $1`,
);

export const batchTable = resourceTable<BatchRow>({
  table: 'ai.batch',
  key: 'batch_id',
  columns,
  isNewestFirst: true,
  filters: ['status'],
});

export const batches: Resource<BatchRow, AiState, typeof batchSchema> = {
  ...batchTable,
  noun: 'batch',
  keyName: 'batch_id',
  keyField: batchIdField,
  notFound: () => problem('BATCH_NOT_FOUND', { param: 'batch_id' }),
  output: batchSchema,
  show: batchRecord,
};

export async function lockBatch(tx: Queryable, accountId: string, batchId: string): Promise<BatchRow | null> {
  return (await tx.query<BatchRow>(lockOne, [accountId, batchId])).rows[0] ?? null;
}

export interface BatchCounts {
  readonly kept: number;
  readonly live: number;
  readonly bytes: number;
}

export async function batchCounts(db: Queryable, accountId: string): Promise<BatchCounts> {
  return (await db.query<BatchCounts>(countBatches, [accountId])).rows[0] as BatchCounts;
}

/** As callers and webhooks see it. */
export function batchRecord(row: BatchRow) {
  return {
    batch_id: row.batch_id,
    status: row.status,
    counts: { total: row.total, succeeded: row.succeeded, failed: row.failed },
    cost_usd: usd(row.cost_nanos),
    created_at: iso(row.created_at),
    finished_at: isoOrNull(row.finished_at),
    expires_at: iso(row.expires_at),
  };
}
