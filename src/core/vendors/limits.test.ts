import { expect, test } from 'vitest';
import { VendorLimits } from './limits.ts';

const vendor = (concurrent: number | null, perMinute: number | null) => ({
  id: 'acme',
  limits: { concurrent, perMinute },
});

test('without limits nothing is refused', () => {
  const limits = new VendorLimits(1);
  for (let i = 0; i < 100; i += 1) expect(limits.begin(vendor(null, null), i)).toBeNull();
});

test('calls at once: one more has a place when one has ended', () => {
  const limits = new VendorLimits(1);
  expect([1, 2, 3].map(() => limits.begin(vendor(2, null), 0))).toEqual([null, null, 10_000]);
  limits.end('acme', false);
  expect(limits.begin(vendor(2, null), 0)).toBeNull();
});

test('calls in a minute: one more when the first is a minute old', () => {
  const limits = new VendorLimits(1);
  const begun = [0, 20_000, 30_000].map((atMs) => {
    const waitMs = limits.begin(vendor(null, 2), atMs);
    if (waitMs === null) limits.end('acme', false);
    return waitMs;
  });
  expect(begun).toEqual([null, null, 30_000]);
  expect(limits.begin(vendor(null, 2), 60_000)).toBeNull();
});

test('work that goes on at the vendor has its place, before and after it is read', async () => {
  const limits = new VendorLimits(1);
  expect(limits.begin(vendor(1, null), 0)).toBeNull();
  limits.end('acme', true);
  expect(limits.begin(vendor(1, null), 0)).toBe(10_000);
  await limits.read(async () => new Map([['acme', 1]]));
  expect(limits.begin(vendor(1, null), 0)).toBe(10_000);
  await limits.read(async () => new Map());
  expect(limits.begin(vendor(1, null), 0)).toBeNull();
});

test('what is kept while the database is read still counts after it', async () => {
  const limits = new VendorLimits(1);
  limits.begin(vendor(1, null), 0);
  await limits.read(async () => {
    limits.end('acme', true);
    return new Map();
  });
  expect(limits.begin(vendor(1, null), 0)).toBe(10_000);
});

test('several processes share them', () => {
  const limits = new VendorLimits(3);
  expect([1, 2, 3].map(() => limits.begin(vendor(4, null), 0))).toEqual([null, null, 10_000]);
});
