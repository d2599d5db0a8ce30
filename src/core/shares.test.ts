import { expect, test } from 'vitest';
import { type Admission, admission } from './admission.ts';
import { notShared, shareOf } from './shares.ts';

/** Every bound, `group.name`, with its value. */
function boundsOf({ processes: _, ...groups }: Admission): Map<string, unknown> {
  const named = Object.entries(groups).flatMap(([group, bounds]) =>
    Object.entries(bounds).map(([name, value]): [string, unknown] => [`${group}.${name}`, value]),
  );
  return new Map(named);
}

const isNamed = (bound: string) => bound in notShared || (bound.split('.')[0] as string) in notShared;

test('every bound is split among processes or named with the reason why not, and never both', () => {
  const [whole, share] = [boundsOf(admission), boundsOf(shareOf(admission, 3))];
  const isSplit = (bound: string) => whole.get(bound) !== share.get(bound);
  expect([...whole.keys()].filter((bound) => isSplit(bound) === isNamed(bound))).toEqual([]);
  for (const bound of [...whole.keys()].filter(isSplit))
    expect(Number(share.get(bound)), bound).toBeLessThan(Number(whole.get(bound)));
});

test('what is named is a bound', () => {
  const known = new Set([...Object.keys(admission), ...boundsOf(admission).keys()]);
  expect(Object.keys(notShared).filter((name) => !known.has(name))).toEqual([]);
});

test('one process alone takes all', () => {
  expect(shareOf(admission, 1)).toEqual(admission);
});
