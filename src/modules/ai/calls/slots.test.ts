import { expect, test } from 'vitest';
import { UnderWayHere } from '../../../core/process/under-way.ts';
import { CallSlots } from './slots.ts';

const caller = { accountId: 'acc_1', tier: 'standard' } as const;

test('an account has as many calls under way as its tier says, and one more when one has ended', async () => {
  const slots = new CallSlots(new UnderWayHere(), true);
  const giveBack = await slots.take(caller);
  for (let calls = 1; calls < 20; calls += 1) await slots.take(caller);
  await expect(slots.take(caller)).rejects.toThrow('20 calls');
  giveBack();
  giveBack();
  await slots.take(caller);
  await expect(slots.take(caller)).rejects.toThrow('20 calls');
  await slots.take({ ...caller, accountId: 'acc_2' });
});

test('without limits of rates an account has as many calls under way as it likes', async () => {
  const slots = new CallSlots(new UnderWayHere(), false);
  for (let calls = 0; calls < 5_000; calls += 1) await slots.take(caller);
});
