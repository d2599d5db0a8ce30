// Random scripts for queues.
import fc from 'fast-check';

// Mostly the first queue and its dead-letter queue, mostly current receipts of the queue asked, so that things happen.
const at = fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 2);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const pick = fc.record({
  at: fc.nat({ max: 40 }),
  byId: fc.boolean(),
  stale: fc.constantFrom(false, false, false, true),
});
const seconds = fc.constantFrom(0, 5, 30, 30, 400, 400);
const limit = fc.integer({ min: 1, max: 10 });
const message = fc.record({
  priority: sometimes(fc.nat({ max: 10 })),
  delay: fc.constantFrom(undefined, undefined, undefined, 0, 5, 400),
  group: fc.constantFrom('g', 'g', 'h', undefined),
  dedup: fc.constantFrom(undefined, undefined, undefined, 'x', 'y'),
});
const settings = fc.record(
  {
    retentionDays: fc.constantFrom(1, 2),
    visibility: fc.constantFrom(5, 30, 400),
    delay: fc.constantFrom(0, 5),
    priority: fc.boolean(),
    maxReceive: fc.integer({ min: 1, max: 3 }),
    hasDlq: fc.boolean(),
  },
  { requiredKeys: [] },
);

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      at,
      batch: fc.array(message, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('consume' as const),
      at,
      limit,
      seconds: fc.option(seconds, { nil: undefined }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ack' as const),
      at,
      picks: fc.array(pick, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('nack' as const),
      at,
      picks: fc.array(pick, { minLength: 1, maxLength: 3 }),
      delay: seconds,
      requeue: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('extend' as const), at, pick, seconds }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purge' as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('redrive' as const),
      at,
      max: fc.option(limit, { nil: undefined }),
      picks: fc.option(fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('update' as const), at, change: settings }) },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

// Not whole days: nothing ends exactly when the clock stops.
export const advance = fc.constantFrom(3_007, 7_001, 31_013, 401_009, 86_400_017);
export const EPOCHS = 4;
export const script = fc.record({
  fifo: fc.boolean(),
  first: settings,
  second: settings,
  epochs: fc.array(fc.array(step, { minLength: 1, maxLength: 8, size: 'max' }), {
    minLength: EPOCHS,
    maxLength: EPOCHS,
  }),
});
export type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;
