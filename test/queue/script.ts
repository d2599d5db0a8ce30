// Random scripts for three queues in a chain: few messages, groups and times, so that they meet each other often.
import fc from 'fast-check';

export interface Settings {
  readonly retentionDays: number;
  readonly visibility: number;
  readonly delay: number;
  readonly priority: boolean;
  readonly maxReceive: number;
  readonly hasDlq: boolean;
}

// Mostly the first queue and its dead-letter queue.
const at = fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 2);
// A look settles what time has decided; without one the next step meets it undecided.
const look = fc.constantFrom(true, true, false);
const batch = (minLength: number) => fc.array(message, { minLength, maxLength: 4 });
const seconds = fc.constantFrom(0, 5, 30, 30, 400, 400);
const limit = fc.constantFrom(1, 1, 2, 3, 10);
// Mostly the latest deliveries of the queue asked, mostly by receipt.
const pick = fc.record({
  back: fc.constantFrom(0, 0, 1, 1, 2, 3),
  byId: fc.constantFrom(false, false, true),
  stale: fc.constantFrom(false, false, false, true),
});
const picks = fc.array(pick, { minLength: 1, maxLength: 3 });
const message = fc.record({
  priority: fc.constantFrom(undefined, 0, 5, 10),
  delay: fc.constantFrom(undefined, undefined, undefined, 0, 5, 400),
  group: fc.constantFrom('g', 'g', 'g', 'h', undefined),
  dedup: fc.constantFrom(undefined, undefined, 'x', 'x', 'y'),
});
const setting: { [Name in keyof Settings]: fc.Arbitrary<Settings[Name]> } = {
  retentionDays: fc.constantFrom(1, 1, 2),
  visibility: fc.constantFrom(5, 30, 400),
  delay: fc.constantFrom(0, 0, 5),
  priority: fc.boolean(),
  maxReceive: fc.constantFrom(1, 1, 2, 3),
  hasDlq: fc.constantFrom(true, true, true, false),
};

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('publish' as const), at, look, batch: batch(1) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('consume' as const),
      at,
      look,
      limit,
      seconds: fc.option(seconds, { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ack' as const), at, look, picks }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('nack' as const),
      at,
      look,
      picks,
      delay: seconds,
      requeue: fc.constantFrom(true, true, false),
      reason: fc.constantFrom(undefined, undefined, 'no luck', '"{\u0001'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('extend' as const), at, look, pick, seconds }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const), at, look }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('redrive' as const),
      at,
      look,
      max: fc.option(limit, { nil: undefined, freq: 2 }),
      only: fc.option(fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 3 }), { nil: undefined, freq: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('update' as const),
      at,
      look,
      change: fc.record(setting, { requiredKeys: [] }),
    }),
  },
);

export const EPOCHS = 4;
export const script = fc.record({
  // First, because a failing script is made smaller in this order.
  epochs: fc.array(fc.array(step, { maxLength: 6, size: 'max' }), { minLength: EPOCHS, maxLength: EPOCHS }),
  fifo: fc.boolean(),
  /** Settings of the first two queues; the last one keeps everything. */
  settings: fc.tuple(fc.record(setting), fc.record(setting)),
  start: batch(1),
});
const PAUSES_MS = [
  1_000, 4_999, 5_000, 30_000, 150_000, 150_000, 299_999, 299_999, 400_000, 43_200_017, 43_200_017, 86_400_017,
];
/** Between epochs: at the end of leases, delays and the deduplication window, just before it, and past half a retention. */
export const pauses = fc.array(fc.constantFrom(...PAUSES_MS), { minLength: EPOCHS - 1, maxLength: EPOCHS - 1 });

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Script = Generated<typeof script>;
export type Step = Generated<typeof step>;
export type Pick = Generated<typeof pick>;
