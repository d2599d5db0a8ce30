import { expect, test } from 'vitest';
import { VendorLimitsHere } from './limits.ts';

const vendor = (concurrent: number | null, perMinute: number | null) => ({
  id: 'acme',
  limits: { concurrent, perMinute },
});

/** One call at once. */
const one = vendor(1, null);

test('without limits nothing is refused', () => {
  const limits = new VendorLimitsHere();
  for (let i = 0; i < 100; i += 1) expect(limits.begin(vendor(null, null), 0)).toBeNull();
});

test('calls at once: one more has a place when one has ended', () => {
  const limits = new VendorLimitsHere();
  expect([1, 2, 3].map(() => limits.begin(vendor(2, null), 0))).toEqual([null, null, 10_000]);
  limits.end(vendor(2, null), false);
  expect(limits.begin(vendor(2, null), 0)).toBeNull();
});

test('calls in a minute: one more when the first is a minute old', () => {
  const limits = new VendorLimitsHere();
  const two = vendor(null, 2);
  const begun = [0, 20_000, 30_000].map((atMs) => {
    const waitMs = limits.begin(two, atMs);
    if (waitMs === null) limits.end(two, false);
    return waitMs;
  });
  expect(begun).toEqual([null, null, 30_000]);
  expect(limits.begin(two, 60_000)).toBeNull();
});

test('work that goes on at the vendor has its place, before and after it is read', async () => {
  const limits = new VendorLimitsHere();
  expect(limits.begin(one, 0)).toBeNull();
  limits.end(one, true);
  expect(limits.begin(one, 0)).toBe(10_000);
  await limits.read(async () => new Map([['acme', 1]]));
  expect(limits.begin(one, 0)).toBe(10_000);
  await limits.read(async () => new Map());
  expect(limits.begin(one, 0)).toBeNull();
});

test('what is kept while the database is read still counts after it', async () => {
  const limits = new VendorLimitsHere();
  limits.begin(one, 0);
  await limits.read(async () => {
    limits.end(one, true);
    return new Map();
  });
  expect(limits.begin(one, 0)).toBe(10_000);
});

test('of two readings at once the one that knows less, and ends later, says nothing', async () => {
  const limits = new VendorLimitsHere();
  const { promise: before, resolve: endEarlier } = Promise.withResolvers<ReadonlyMap<string, number>>();
  const earlier = limits.read(() => before);
  limits.begin(one, 0);
  limits.end(one, true);
  await limits.read(async () => new Map([['acme', 1]]));
  endEarlier(new Map());
  await earlier;
  expect(limits.begin(one, 0)).toBe(10_000);
});
