// Usage of models by day. A row is written in the transaction that captures a call, so the sums are what was charged.

import type { Sweep } from '../../../core/background/sweeper/sweep.ts';
import { removeOldRows } from '../../../core/background/sweeper/sweep.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { usd } from '../../../lib/money.ts';
import { HOUR_MS } from '../../../lib/time.ts';

/** Days; as long as usage is kept by the day. */
export const MODEL_DAYS_KEPT = 430;

export interface ModelUse {
  readonly accountId: string;
  readonly capability: string;
  /** `vendor/model` that answered. */
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly spendNanos: bigint;
}

interface SumRow {
  readonly capability: string;
  readonly model: string;
  readonly calls: bigint;
  readonly input_tokens: bigint;
  readonly output_tokens: bigint;
  readonly spend_nanos: bigint;
}

const addUse = statement(
  'ai_model_add_use',
  `INSERT INTO ai.model_day AS d (account_id, day, capability, model, calls, input_tokens, output_tokens, spend_nanos)
   VALUES ($1, date_trunc('day', core.clock_now(), 'UTC'), $2, $3, 1, $4, $5, $6)
       ON CONFLICT (account_id, day, capability, model) DO UPDATE
      SET calls = d.calls + 1, input_tokens = d.input_tokens + excluded.input_tokens,
          output_tokens = d.output_tokens + excluded.output_tokens, spend_nanos = d.spend_nanos + excluded.spend_nanos`,
);
const sumUse = statement(
  'ai_model_sum_use',
  `SELECT d.capability, d.model, sum(d.calls)::bigint AS calls, sum(d.input_tokens)::bigint AS input_tokens,
          sum(d.output_tokens)::bigint AS output_tokens, sum(d.spend_nanos)::bigint AS spend_nanos
     FROM ai.model_day d
    WHERE d.account_id = $1 AND d.day >= $2 AND d.day < $3
    GROUP BY d.capability, d.model
    ORDER BY spend_nanos DESC, calls DESC, d.model, d.capability`,
);
const findOld = statement(
  'ai_model_find_old',
  `/* fan-out: sums of models past their time */
   SELECT d.account_id FROM ai.model_day d WHERE d.day < core.clock_now() - interval '${MODEL_DAYS_KEPT} days' ORDER BY d.day LIMIT $1`,
);
const removeOld = statement(
  'ai_model_remove_old',
  `DELETE FROM ai.model_day WHERE account_id = $1 AND day < core.clock_now() - interval '${MODEL_DAYS_KEPT} days'`,
);

/** Counts a call that was charged, in the transaction that charges it, after its wallet was locked. */
export async function addModelUse(tx: Queryable, use: ModelUse): Promise<void> {
  const { accountId, capability, model, inputTokens, outputTokens, spendNanos } = use;
  await tx.query(addUse, [accountId, capability, model, BigInt(inputTokens), BigInt(outputTokens), spendNanos]);
}

/** Of a period of whole days, the costliest first. */
export async function modelUseOf(db: Queryable, accountId: string, { fromMs, toMs }: { fromMs: number; toMs: number }) {
  const { rows } = await db.query<SumRow>(sumUse, [accountId, timestamp(fromMs), timestamp(toMs)]);
  return rows.map((row) => ({
    model: row.model,
    capability: row.capability,
    calls: Number(row.calls),
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    spend_usd: usd(row.spend_nanos),
  }));
}

export function modelDaySweep({ db }: Pick<Services, 'db'>): Sweep {
  return {
    name: 'ai.model_days',
    intervalMs: HOUR_MS,
    run: removeOldRows<{ account_id: string }>(db, { find: findOld, remove: removeOld, keys: () => [] }),
  };
}
