// The single entry point of samples, whatever their protocol: drops samples that are too old, then charges and stores the rest in the account's
// lane.

import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import { type ChargedAnswer, chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { CallContext } from '../../../kit/services.ts';
import { DIGEST_KEEP_MS, digestKey } from '../../../kit/telemetry.ts';
import { DAY_MS, startOfDay } from '../../../lib/time.ts';
import type { BatchPart, Refusal, SampleBatch } from '../intake/batch.ts';
import { POINTS_MAX, seriesLimit } from '../limits.ts';
import { hourOf } from '../series/store.ts';
import type { MetricsState } from '../state.ts';
import { blockCount } from './blocks.ts';

const ROW_BYTES = 300;

export interface Taken {
  readonly accepted: number;
  readonly rejected: readonly Refusal[];
  readonly rejectedCount: number;
  readonly charged: ChargedAnswer;
}

/** Throws the Problem of a refusal; then nothing is stored or charged. `digest`: of a request that has no idempotency key. */
export async function ingest(
  ctx: CallContext,
  state: MetricsState,
  sent: SampleBatch,
  digest?: string,
): Promise<ChargedAnswer> {
  const batch = await withoutOld(ctx, state, sent);
  await state.store.makeDays([
    ...batch.parts.map(({ fromMs }) => fromMs),
    ...batch.differences.map(({ timeMs }) => timeMs),
  ]);
  const rows = state.ingesting.newRows(ctx.accountId, batch);
  const keyed: { idempotency?: IdempotencyKey; keepMs?: number } =
    digest === undefined ? {} : { idempotency: digestKey(ctx, digest), keepMs: DIGEST_KEEP_MS };
  const charge = chargeInLane(ctx, {
    units: BigInt(batch.seriesOfSample.length),
    effect: state.ingesting,
    input: { batch, seriesMax: seriesLimit[ctx.tier] },
    sequences: Math.max(1, blockCount(batch)),
    bytes: batch.parts.reduce((sum, part) => sum + bytesOf(part), 0) + rows * ROW_BYTES,
    rows: blockCount(batch) + rows,
    ...keyed,
  });
  return state.unpaid.watch(ctx, charge);
}

/** What `ingest` answers as text. */
export function takenOf(charged: ChargedAnswer): Taken {
  const { accepted, rejected, rejected_count: rejectedCount } = JSON.parse(charged.data.text);
  return { accepted, rejected, rejectedCount, charged };
}

function bytesOf({ section, packed }: BatchPart): number {
  return packed === null
    ? section.chunks.length + section.ids.length * 20
    : packed.section.length + packed.marks.length;
}

/** Spans divide days, and days are kept or not: a part is old as a whole. Usual samples are of today, and nothing is read. */
async function withoutOld(ctx: CallContext, state: MetricsState, batch: SampleBatch): Promise<SampleBatch> {
  const least = batch.timeOfSample.reduce((oldest, time) => Math.min(oldest, time), Number.POSITIVE_INFINITY);
  if (least >= startOfDay(Date.now()) - DAY_MS) return batch;
  const firstMs = await state.store.firstKeptMs(ctx.accountId);
  if (least >= firstMs) return batch;
  const isKept = (sample: number) => (batch.timeOfSample[sample] as number) >= firstMs;
  const old = Array.from(batch.timeOfSample.keys()).filter((sample) => !isKept(sample));
  const reason = `its time is before ${new Date(firstMs).toISOString()}, from when on samples are kept`;
  const refused = old.map((sample) => ({ index: batch.pointOfSample[sample] as number, reason }));
  const live = new Set(Array.from(batch.seriesOfSample).filter((_, sample) => isKept(sample)));
  return {
    ...batch,
    // A series without a sample that is kept has no row.
    firstHours: batch.firstHours.map((hour, place) => (live.has(place) ? Math.max(hour, hourOf(firstMs)) : -1)),
    parts: batch.parts.filter(({ fromMs }) => fromMs >= firstMs),
    differences: batch.differences.filter(({ timeMs }) => timeMs >= firstMs),
    seriesOfSample: batch.seriesOfSample.filter((_, sample) => isKept(sample)),
    pointOfSample: batch.pointOfSample.filter((_, sample) => isKept(sample)),
    timeOfSample: batch.timeOfSample.filter((_, sample) => isKept(sample)),
    refused: [...batch.refused, ...refused].slice(0, POINTS_MAX),
    refusedCount: batch.refusedCount + old.length,
  };
}
