import { expect, test } from 'vitest';
import { UnderWayHere } from '../../../core/process/under-way.ts';
import { ModelCallPlaces } from './call-places.ts';

const caller = { accountId: 'acc_1', tier: 'standard' } as const;

test('an account has as many calls under way as its tier says, and one more when one has ended', async () => {
  const places = new ModelCallPlaces(new UnderWayHere(), true);
  const giveBack = await places.take(caller);
  for (let calls = 1; calls < 20; calls += 1) await places.take(caller);
  await expect(places.take(caller)).rejects.toThrow('20 calls');
  giveBack();
  giveBack();
  await places.take(caller);
  await expect(places.take(caller)).rejects.toThrow('20 calls');
  await places.take({ ...caller, accountId: 'acc_2' });
});

test('without limits of rates an account has as many calls under way as it likes', async () => {
  const places = new ModelCallPlaces(new UnderWayHere(), false);
  for (let calls = 0; calls < 5_000; calls += 1) await places.take(caller);
});
