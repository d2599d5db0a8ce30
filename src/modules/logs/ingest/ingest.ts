// Stores and charges the records of one ingest call, whatever its protocol; creates the day partitions that they need.

import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { DIGEST_KEEP_MS, type Digested, digestKey } from '../../../kit/telemetry.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { UNIT_BYTES } from '../limits.ts';
import type { LogsState } from '../state.ts';
import { answerText } from './ingest-effect.ts';
import type { ReadyLogs } from './intake.ts';

interface Keyed {
  readonly idempotency: IdempotencyKey;
  readonly keepMs: number;
}

/** Charges and stores what is ready; what has no record is answered for nothing. */
export async function storeLogs(ctx: CallContext, state: LogsState, ready: ReadyLogs, keyed?: Keyed): Promise<Answer> {
  const { records, bytes, drafts, few } = ready;
  if (records === 0) return { data: new JsonText(answerText(ready)), costNanos: 0n };
  await state.store.makeDays([...drafts.map(({ fromMs }) => fromMs), ...few.map(({ timeMs }) => timeMs)]);
  const columns = drafts.flatMap((draft) => [...draft.columns.values(), draft.marks, draft.summary]);
  const charge = chargeInLane(ctx, {
    units: BigInt(Math.max(1, Math.ceil(bytes / UNIT_BYTES))),
    effect: state.ingesting,
    input: ready,
    sequences: records,
    bytes: columns.reduce((sum, { length }) => sum + length, 0) + (few.length > 0 ? bytes : 0),
    rows: Math.max(1, drafts.length),
    ...keyed,
  });
  return state.unpaid.watch(ctx, charge);
}

/** The same of a request that has no idempotency key: one that comes again within ten minutes is the same. */
export function storeDigested(ctx: CallContext, state: LogsState, sent: Digested<ReadyLogs>): Promise<Answer> {
  return storeLogs(ctx, state, sent.read, { idempotency: digestKey(ctx, sent.digest), keepMs: DIGEST_KEEP_MS });
}
