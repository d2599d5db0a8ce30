// Sequence numbers of an account: milliseconds since 2024 in the upper 41 bits, a counter in the lower 22. They only grow (the wallet row keeps
// the last one), so they order, identify and date the numbered rows.

const EPOCH_MS = 1_704_067_200_000;
const COUNTER_BITS = 22n;
// A bigint column ends here, some time in 2093.
const SEQUENCE_MAX = 2n ** 63n - 1n;

/** First number of the millisecond; beyond the last one there is, the last one. */
export function sequenceAt(ms: number): bigint {
  const seq = BigInt(Math.max(0, Math.floor(ms) - EPOCH_MS)) << COUNTER_BITS;
  return seq < SEQUENCE_MAX ? seq : SEQUENCE_MAX;
}

/** The millisecond (Unix epoch) a number was handed out in. */
export function sequenceMs(seq: bigint): number {
  return Number(seq >> COUNTER_BITS) + EPOCH_MS;
}

/** The next numbers after `last` at `nowMs`: the first one free; the caller takes consecutive ones. */
export function nextSequence(last: bigint, nowMs: number): bigint {
  const fresh = sequenceAt(nowMs);
  return fresh > last ? fresh : last + 1n;
}
