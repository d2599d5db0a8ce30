import { expect, test } from 'vitest';
import { tierLimits } from '../core/callers/tiers.ts';
import { Link } from './link.ts';
import { LimitKeeper, SharedRates, SharedVendorLimits } from './shared-limits.ts';

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

/** Two processes whose calls of vendors one keeper counts; `die` ends the first. */
function processes() {
  const keeper = new LimitKeeper();
  const [one, other] = [channel(), channel()];
  for (const { first } of [one, other]) keeper.add(first);
  return {
    here: new SharedVendorLimits(one.worker),
    there: new SharedVendorLimits(other.worker),
    die() {
      one.first.close();
      keeper.remove(one.first);
    },
  };
}

test('the limits of a vendor hold for all processes together, and a dead one gives its places back', async () => {
  const { here, there, die } = processes();
  const four = { id: 'acme', limits: { concurrent: 4, perMinute: null } };
  const begin = async (limits: SharedVendorLimits, count: number) =>
    (await Promise.all(Array.from({ length: count }, () => limits.begin(four, 0)))).filter((waitMs) => waitMs === null)
      .length;
  expect([await begin(here, 3), await begin(there, 3), await begin(here, 1)]).toEqual([3, 1, 0]);
  here.end(four, false);
  expect(await begin(there, 2)).toBe(1);
  die();
  expect(await begin(there, 4)).toBe(2);
});

test('work that one process left at a vendor counts for the others before and after any of them reads it', async () => {
  const { here, there } = processes();
  const single = { id: 'acme', limits: { concurrent: 1, perMinute: null } };
  expect(await here.begin(single, 0)).toBeNull();
  here.end(single, true);
  expect(await there.begin(single, 0)).toBe(10_000);
  await there.read(async () => new Map([['acme', 1]]));
  expect(await here.begin(single, 0)).toBe(10_000);
  await here.read(async () => new Map());
  expect(await there.begin(single, 0)).toBeNull();
});

test('calls of one minute are counted for all processes, and a vendor without limits is asked for nothing', async () => {
  const { here, there, die } = processes();
  const two = { id: 'acme', limits: { concurrent: null, perMinute: 2 } };
  expect([await here.begin(two, 0), await there.begin(two, 3_000)]).toEqual([null, null]);
  expect(await here.begin(two, 10_000)).toBe(50_000);
  die();
  // Nobody would answer.
  expect(await here.begin({ id: 'free', limits: { concurrent: null, perMinute: null } }, 0)).toBeNull();
});

test.each(['begin', 'end'] as const)('a dead process that is heard of after its end %ss nothing', async (last) => {
  const { here, there, die } = processes();
  const two = { id: 'acme', limits: { concurrent: 2, perMinute: null } };
  expect([await here.begin(two, 0), await there.begin(two, 0)]).toEqual([null, null]);
  die();
  if (last === 'begin') void here.begin(two, 0);
  else here.end(two, false);
  expect([await there.begin(two, 0), await there.begin(two, 0)]).toEqual([null, 10_000]);
});
