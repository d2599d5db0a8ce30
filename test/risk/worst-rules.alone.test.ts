// The dearest rules that are accepted, by processor time: a commit of many calls must not hold the event loop.
import { expect, test } from 'vitest';
import { RULE_NODES_MAX, RULES_MAX } from '../../src/modules/risk/limits.ts';
import { RuleSet } from '../../src/modules/risk/rules/rule-set.ts';
import { type Facts, signalsOf } from '../../src/modules/risk/signals/facts.ts';
import { allowedCpuMs } from '../support/slowness.ts';
import { threadMsOf } from '../support/thread-time.ts';

const CALLS = 2_000;
const TRIES = 3;
const AIMED_AT_US = 40;
const text = 'x'.repeat(256);
const facts: Facts = {
  event: 'login',
  amount_usd: 1,
  context: { text },
  ip: { kind: 'public', country: null, asn: null, network: null },
  email: { is_disposable: false, has_mx: null },
  user: {},
  device: {},
};
const signals = signalsOf(facts, () => 1);
const each = Math.floor(RULE_NODES_MAX / RULES_MAX);

const worst = {
  'comparisons that never match': {
    or: Array.from({ length: (each - 2) / 4 }, () => ({ '>': [{ var: 'ip.users_1h' }, 9] })),
  },
  'long texts in long texts': {
    or: Array.from({ length: (each - 2) / 8 }, (_, i) => ({
      in: [`${text.slice(0, 63)}${i}`, { var: 'context.text' }],
    })),
  },
  'sums that cannot be computed': { '+': Array.from({ length: each - 3 }, () => ({ var: 'context.text' })) },
};

test.each(Object.entries(worst))('%s: less than three times 40 µs a call', (_, when) => {
  const rules = Array.from({ length: RULES_MAX }, (_each, i) => ({
    name: `r${i}`,
    points: 1,
    description: null,
    when,
  }));
  const set = new RuleSet({ thresholds: { review: 40, block: 80 }, rules });
  for (let i = 0; i < 200; i += 1) set.decide(signals);
  const decide = () => {
    for (let i = 0; i < CALLS; i += 1) set.decide(signals);
  };
  // The least of some: a collection of garbage may fall into one.
  const takenMs = Math.min(...Array.from({ length: TRIES }, () => threadMsOf(decide)));
  console.log(`${((takenMs * 1_000) / CALLS).toFixed(1)} µs a call`);
  expect(takenMs).toBeLessThan(allowedCpuMs((CALLS * 3 * AIMED_AT_US) / 1_000));
});
