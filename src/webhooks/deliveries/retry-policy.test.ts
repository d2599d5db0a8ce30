import { describe, expect, test } from 'vitest';
import { pauseAfter, retryPauses } from './retry-policy.ts';

const seconds = (policy: 'default' | 'aggressive') => retryPauses[policy].map((ms) => ms / 1_000);

test('the schedules are those of the contract', () => {
  expect(seconds('default')).toEqual([0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]);
  expect(seconds('aggressive')).toEqual([
    0, 1, 5, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200,
  ]);
});

describe('the pause after a failure', () => {
  test.each(['default', 'aggressive'] as const)(
    '%s: each planned pause within 20 %%, none after the last',
    (policy) => {
      const planned = retryPauses[policy];
      for (let failures = 1; failures < planned.length; failures += 1) {
        const slotMs = planned[failures] as number;
        expect(pauseAfter(policy, failures, null, 0)).toBeCloseTo(slotMs * 0.8);
        expect(pauseAfter(policy, failures, null, 0.5)).toBeCloseTo(slotMs);
        expect(pauseAfter(policy, failures, null, 1)).toBeCloseTo(slotMs * 1.2);
      }
      expect(pauseAfter(policy, planned.length, null)).toBeNull();
      expect(pauseAfter(policy, planned.length, 1_000)).toBeNull();
    },
  );

  test('is longer when the receiver asks for it, up to twice the planned one, and never shorter', () => {
    expect(pauseAfter('default', 1, 7_000, 0.5)).toBe(7_000);
    expect(pauseAfter('default', 1, 60_000, 0.5)).toBe(10_000);
    expect(pauseAfter('default', 1, 1_000, 0.5)).toBe(5_000);
  });
});
