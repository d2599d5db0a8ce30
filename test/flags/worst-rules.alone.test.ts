// The costliest rules that are taken, with the costliest contexts: none holds the event loop for longer than a call may.
import { expect, test } from 'vitest';
import { admission } from '../../src/core/admission.ts';
import { type Context, checkContext } from '../../src/kit/json-logic/cost.ts';
import { CONTEXT, RULE } from '../../src/kit/json-logic/limits.ts';
import { checkedFlag } from '../../src/modules/flags/flags/flag.ts';
import { ServedFlag } from '../../src/modules/flags/serving/served-flag.ts';
import { allowedCpuMs } from '../support/slowness.ts';
import { threadMsOf } from '../support/thread-time.ts';

type Made = (count: number) => object;
const times = <Of>(count: number, of: (at: number) => Of) => Array.from({ length: count }, (_, at) => of(at));
const v = (name: string) => ({ var: name });
const longest = 'a'.repeat(CONTEXT.textCharactersMax);
const nearly = `${'a'.repeat(250)}b${'a'.repeat(250)}`;
const list = times(600, (at) => `1.${at}.0-a.b`);
const contexts: readonly Context[] = [
  { s: longest, n: nearly, l: list, targetingKey: longest, i: times(20, () => 1), d: '9'.repeat(1_000) },
  { s: '1.2.3-a', n: 'x', l: times(9, () => longest), targetingKey: longest, i: times(900, (at) => at % 10), d: 1 },
];

/** Each grows by its count until it is refused. */
const rules: Readonly<Record<string, Made>> = {
  'searches of nearly equal texts': (count) => ({ or: times(count, () => ({ in: [v('n'), v('s')] })) }),
  'long texts put together': (count) => ({ '==': [{ cat: times(count, () => v('l')) }, 'a'] }),
  'lists as texts': (count) => ({ or: times(count, () => ({ '==': [v('l'), longest] })) }),
  'merged lists': (count) => ({ in: ['q', { merge: times(count, () => v('l')) }] }),
  versions: (count) => ({ or: times(count, () => ({ sem_ver: [v('s'), '=', '1.2.3'] })) }),
  'versions of a list': (count) => ({
    some: [v('l'), { or: times(count, () => ({ sem_ver: [v(''), '=', '9.9.9'] })) }],
  }),
  'a loop with conditions': (count) => ({ some: [v('l'), { or: times(count, () => ({ '==': [v(''), 'q'] })) }] }),
  'a sum with terms': (count) => ({
    reduce: [v('i'), { '+': [v('accumulator'), ...times(count, () => v('current'))] }, 0],
  }),
  'a loop over a list in a loop': (count) => ({
    some: [v('i'), { some: [times(count, (at) => at), { '==': [v(''), -1] }] }],
  }),
  'a map that is searched': (count) => ({ in: ['q', { map: [v('l'), { cat: times(count, () => v('')) }] }] }),
  shares: (count) => ({
    if: times(count, () => ({
      '==': [
        {
          fractional: [
            ['a', 1],
            ['b', 1],
          ],
        },
        'c',
      ],
    })),
  }),
  'paths that are missing': (count) => ({ missing: times(count, () => 'a.b.c.d.e.f.g.h') }),
  'numbers of long texts': (count) => ({ '+': times(count, () => v('d')) }),
  'ends of texts': (count) => ({ or: times(count, () => ({ ends_with: [v('s'), 'b'] })) }),
  'many ids': (count) => ({ in: [v('n'), times(count, (at) => `user-${at}@example.org`)] }),
};

function flagOf(targeting: object) {
  const settings = {
    type: 'boolean',
    description: null,
    enabled: true,
    default_variant: 'true',
    // Rules that are tests answer true or false.
    variants: { true: true, false: false },
  } as const;
  const flag = checkedFlag({
    key: 'worst',
    ...settings,
    targeting: targeting as Record<string, unknown>,
    metadata: {},
  });
  return { ...flag, revision: 1n, created_at: 0, updated_at: 0 };
}

/** The greatest that is taken. */
function greatest(made: Made) {
  let taken = 0;
  let refused: number = RULE.nodesMax;
  while (refused - taken > 1) {
    const half = Math.floor((taken + refused) / 2);
    try {
      flagOf(made(half));
      taken = half;
    } catch {
      refused = half;
    }
  }
  return { taken, flag: flagOf(made(taken)) };
}

/** The least of five: what else runs here only adds to it. */
const msOf = (work: () => void) => Math.min(...times(5, () => threadMsOf(work)));

test.each(Object.entries(rules))('%s', (name, made) => {
  const { taken, flag } = greatest(made);
  expect(taken).toBeGreaterThan(0);
  for (const context of contexts) checkContext(context, JSON.stringify(context).length);
  const ready = new ServedFlag(flag, {});
  const worstMs = (of: () => ServedFlag) => Math.max(...contexts.map((context) => msOf(() => of().evaluate(context))));
  // Rules are made ready by their first evaluation.
  const firstMs = worstMs(() => new ServedFlag(flag, {}));
  const told = `first in ${firstMs.toFixed(1)} ms, then in ${worstMs(() => ready).toFixed(2)} ms`;
  process.stdout.write(`${name}: ${taken} times, ${flag.steps} steps, ${told}\n`);
  expect(firstMs).toBeLessThan(allowedCpuMs(admission.call.turnMsMax));
});
