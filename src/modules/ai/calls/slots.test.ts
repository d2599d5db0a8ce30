import { expect, test } from 'vitest';
import { CallSlots } from './slots.ts';

test('without limits of rates an account has as many calls under way as it likes', () => {
  const caller = { accountId: 'acc_1', tier: 'standard' } as const;
  const [limited, unlimited] = [new CallSlots(true, 1), new CallSlots(false, 1)];
  for (let calls = 0; calls < 20; calls += 1) limited.take(caller);
  expect(() => limited.take(caller)).toThrow('20 calls');
  for (let calls = 0; calls < 5_000; calls += 1) unlimited.take(caller);
});
