import { expect, test } from 'vitest';
import { tierLimits } from '../core/accounts/tiers.ts';
import { Link } from './link.ts';
import { LimitKeeper, SharedRates } from './shared-limits.ts';

/** Both ends of a channel within this process. */
function channel(): { readonly first: Link; readonly worker: Link } {
  const first: Link = new Link((batch, sent) => {
    worker.receive(batch);
    sent();
  });
  const worker: Link = new Link((batch, sent) => {
    first.receive(batch);
    sent();
  });
  return { first, worker };
}

test('calls under way are counted in one place, whichever process they run in, and those of a dead one end', async () => {
  const keeper = new LimitKeeper();
  const [one, other] = [channel(), channel()];
  for (const { first } of [one, other]) keeper.add(first);
  const [here, there] = [new SharedRates(one.worker), new SharedRates(other.worker)];
  const { inFlightMax } = tierLimits.standard;
  const begin = (rates: SharedRates, count: number) =>
    Promise.all(Array.from({ length: count }, () => rates.begin('acct', 'standard')));
  expect(await begin(here, inFlightMax - 1)).not.toContain(false);
  expect(await begin(there, 2)).toEqual([true, false]);
  expect(await begin(here, 1)).toEqual([false]);
  here.end('acct');
  expect(await begin(there, 2)).toEqual([true, false]);
  keeper.remove(one.first);
  expect((await begin(there, inFlightMax)).filter(Boolean)).toHaveLength(inFlightMax - 2);
});
