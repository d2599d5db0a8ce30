// Rules: what is taken and what is refused where, what hostile ones can do, and rules that are tried before they are saved.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RULE_NODES_MAX, RULES_MAX } from '../../src/modules/risk/limits.ts';
import { defaultRules } from '../../src/modules/risk/rules/default-rules.ts';
import { RuleSet } from '../../src/modules/risk/rules/rule-set.ts';
import { requireSense } from '../../src/modules/risk/rules/sense.ts';
import type { Facts } from '../../src/modules/risk/signals/facts.ts';
import { signalsOf } from '../../src/modules/risk/signals/facts.ts';
import { RiskBench } from './harness.ts';

const thresholds = { review: 40, block: 80 };
const one = (when: unknown) => ({ thresholds, rules: [{ name: 'r', points: 50, description: null, when }] });
const facts: Facts = {
  event: 'login',
  amount_usd: 25,
  context: { plan: 'free', tries: 3, vip: false, none: null },
  ip: { kind: 'public', country: 'DE', asn: 64_500, network: 'Example' },
  email: { is_disposable: false, has_mx: null },
  user: {},
  device: null,
};
/** Every count is 7. */
const signals = signalsOf(facts, () => 7);
const matches = (when: unknown) => new RuleSet(one(when)).decide(signals).score === 50;
const v = (path: string) => ({ var: path });

test.each([
  [{ '>': [v('ip.users_1h'), 5] }, true],
  [{ '>': [v('ip.users_1h'), 7] }, false],
  [{ '<': [5, v('ip.users_1h'), 9] }, true],
  [{ and: [{ '==': [v('ip.country'), 'DE'] }, { '!': [v('context.vip')] }] }, true],
  [{ or: [{ '===': [v('email.has_mx'), false] }, { '===': [v('event'), 'signup'] }] }, false],
  [{ in: [v('ip.country'), ['FR', 'DE']] }, true],
  [{ in: ['re', v('context.plan')] }, true],
  [{ if: [v('device'), true, { '>=': [v('amount_usd'), 25] }] }, true],
  [{ '==': [{ '+': [v('context.tries'), { '*': [2, 2] }] }, 7] }, true],
  [{ '>': [{ max: [v('user.count_1m'), v('user.count_7d')] }, 6] }, true],
  [{ '==': [{ var: ['context.missing', 'x'] }, 'x'] }, true],
  [{ '!!': [v('email')] }, true],
  [{ '!!': [v('device.count_1m')] }, false],
  [{ '<': [v('device.count_7d'), 2] }, true],
  [{ '>': [v('context.plan'), 5] }, false],
  [{ '/': [v('amount_usd'), 0] }, false],
  [true, true],
  [[], false],
])('%j matches: %s', (when, expected) => {
  expect(matches(when)).toBe(expected);
});

const deep = (depth: number): unknown => (depth === 0 ? 1 : { '!': [deep(depth - 1)] });
test.each([
  ['an operator that repeats', { map: [[1, 2], { var: '' }] }, 'rules[0].when'],
  ['an operator that makes text', { and: [true, { cat: ['a', 'b'] }] }, 'rules[0].when.and[1]'],
  ['two operators at once', { '>': [1, 2], '<': [1, 2] }, 'rules[0].when'],
  ['an empty object', { '!': [{}] }, 'rules[0].when.![0]'],
  ['an inherited name', { constructor: [1] }, 'rules[0].when'],
  ['a method of objects', { hasOwnProperty: ['a'] }, 'rules[0].when'],
  ['a signal that does not exist', v('ip.users_2h'), 'rules[0].when.var'],
  ['a way to a prototype', v('ip.constructor'), 'rules[0].when.var'],
  ['a member of every object', v('context.toString'), 'rules[0].when.var'],
  ['a member of a member', v('context.plan.length'), 'rules[0].when.var'],
  ['the whole input', v(''), 'rules[0].when.var'],
  ['a signal that is computed', { var: { '+': ['ip.', 'kind'] } }, 'rules[0].when.var'],
  ['a default that is a rule', { var: ['ip.kind', { '+': [1, 1] }] }, 'rules[0].when.var'],
  ['a rule that is too deep', deep(RULE_NODES_MAX), 'rules'],
  ['a rule with too many values', { or: Array.from({ length: RULE_NODES_MAX }, () => 1) }, 'rules'],
  ['a long text', { '==': [v('ip.country'), 'x'.repeat(300)] }, 'rules[0].when.==[1]'],
])('%s is refused, with its place', (_, when, param) => {
  const act = () => new RuleSet(one(when));
  expect(act).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
  try {
    act();
  } catch (error) {
    expect((error as { param: string }).param).toContain(param);
  }
});

test.each([
  ['a text', 'ip.count_1h > 5', ''],
  ['a number', 1, ''],
  ['null', null, ''],
  ['a list', [], ''],
  ['a text beside a condition', { and: [{ '>': [v('ip.count_1h'), 5] }, 'ip.count_1m > 5'] }, '.and[1]'],
  ['a text denied', { '!': ['ip.count_1h'] }, '.![0]'],
  ['a text as a branch', { if: [v('device'), 'block', 'allow'] }, '.if[1]'],
  ['a comparison of constants', { '==': ['ip.kind', 'public'] }, '.=='],
  ['constants within', { or: [v('device'), { '>': [{ '+': [1, 1] }, 1] }] }, '.or[1].>'],
  ['nothing to compare with', { '>': [v('ip.count_1h')] }, '.>'],
  ['nothing to choose', { if: [v('device')] }, '.if'],
  ['a count beside a text', { '>': [v('ip.count_1h'), 'five'] }, '.>[1]'],
  ['a truth value beside a text', { '==': [v('email.is_disposable'), 'yes'] }, '.==[1]'],
  ['a truth value that is strictly a number', { '===': [v('email.has_mx'), 0] }, '.===[1]'],
  ['an event that is none', { '==': [v('event'), 'singup'] }, '.==[1]'],
  ['one of several events that is none', { in: [v('event'), ['login', 'buy']] }, '.in[1]'],
  ['a text beside a number', { '==': [v('ip.kind'), 5] }, '.==[1]'],
  ['an object beside a text', { '==': [v('device'), 'd-1'] }, '.==[1]'],
])('%s as a condition is refused, with its place', (_, when, at) => {
  const rules = one(when);
  new RuleSet(rules);
  expect(() => requireSense(rules)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED', param: `rules[0].when${at}` }),
  );
});

test.each([
  [true],
  [v('device')],
  [{ '!': v('context.vip') }],
  [{ '<': [5, v('ip.users_1h'), 9] }],
  [{ '==': [v('email.has_mx'), null] }],
  [{ '==': [v('email.is_disposable'), 1] }],
  [{ '>': [v('amount_usd'), { '*': [2, 50] }] }],
  [{ '>': [v('amount_usd'), '50'] }],
  [{ in: ['sign', v('event')] }],
  [{ in: [v('event'), ['login', 'signup']] }],
  [{ if: [v('device'), true, { '>=': [v('amount_usd'), 25] }] }],
  [{ '>': [{ if: [v('context.vip'), 100, 10] }, v('amount_usd')] }],
])('%j makes sense', (when) => {
  expect(() => requireSense(one(when))).not.toThrow();
});

test('no rule reaches code: texts that look like it are texts', () => {
  const planted = globalThis as { planted?: boolean };
  for (const text of [
    '"+(globalThis.planted=true)+"',
    '${globalThis.planted=true}',
    "');globalThis.planted=true;//",
    '__%%%0%%%__',
  ]) {
    expect(matches({ '==': [v('context.plan'), text] })).toBe(false);
    expect(matches({ in: [text, [text]] })).toBe(true);
  }
  expect(planted.planted).toBeUndefined();
});

test('the default rules are ones that an account may set', () => {
  expect(() => new RuleSet(defaultRules)).not.toThrow();
  expect(() => requireSense(defaultRules)).not.toThrow();
});

describe('on a service', () => {
  let bench: RiskBench;
  beforeAll(async () => {
    bench = await RiskBench.start();
  });
  afterAll(() => bench.stop());

  test('a refused set changes nothing, and names the rule', async () => {
    const account = await bench.another();
    await account.rules([{ name: 'kept', points: 45, when: true }]);
    const put = async (rules: unknown, limits: unknown = thresholds) => {
      const { status, body } = await account.call('PUT', '/v1/risk/rules/set', { thresholds: limits, rules });
      return [status, body.error?.param];
    };
    const rule = (name: string, when: unknown, points = 1) => ({ name, points, when });
    expect(await put([rule('a', true), rule('b', { log: ['x'] })])).toEqual([400, 'rules[1].when']);
    expect(await put([rule('a', true), rule('b', 'ip.count_1h > 5')])).toEqual([400, 'rules[1].when']);
    const tried = await account.call('POST', '/v1/risk/rules/try', {
      thresholds,
      rules: [rule('a', 'ip.count_1h > 5')],
    });
    expect([tried.status, tried.body.error.param]).toEqual([400, 'rules[0].when']);
    expect(await put([rule('a', true), rule('a', true)])).toEqual([400, 'rules[1].name']);
    expect(await put([rule('a', true, 101)])).toEqual([400, 'rules[0].points']);
    expect(await put([], { review: 90, block: 80 })).toEqual([400, 'thresholds.review']);
    expect((await put(Array.from({ length: RULES_MAX + 1 }, (_, i) => rule(`r${i}`, true))))[0]).toBe(400);
    const wide = { or: Array.from({ length: RULE_NODES_MAX / 2 }, () => 0) };
    const many = [rule('a', wide), rule('b', wide)];
    expect(await put(many)).toEqual([400, 'rules']);
    expect((await put('{"__proto__":1}'))[0]).toBe(400);
    expect(await account.score({ user_id: 'u' })).toMatchObject({ score: 45, reasons: [{ rule: 'kept' }] });
  });

  test('a change counts from the next call on, in another process too', async () => {
    const account = await bench.another();
    await account.score({ user_id: 'u' });
    await account.rules([{ name: 'one', points: 41, when: true }]);
    expect((await account.score({ user_id: 'u' })).action).toBe('review');
    // A rule may still be sent with the field that its name was in before.
    await account.rules([{ id: 'two', points: 81, when: true }]);
    expect((await account.score({ user_id: 'u' })).action).toBe('block');
    expect(await account.data('GET', 'rules/get')).toMatchObject({
      is_default: false,
      revision: 2,
      rules: [{ name: 'two', points: 81, when: true }],
    });
  });

  test('tried rules say what would have come out, and save nothing', async () => {
    const account = await bench.another();
    await account.rules([]);
    for (let i = 0; i < 6; i += 1)
      await account.score({ user_id: `u${i % 2}`, context: { plan: i < 4 ? 'free' : 'paid' } });
    await account.data('POST', 'list/add', { list: 'block', kind: 'user', value: 'banned' });
    const { risk_id: banned } = await account.score({ user_id: 'banned' });
    const tried = await account.data('POST', 'rules/try', {
      thresholds,
      rules: [
        { name: 'free', points: 40, when: { '==': [v('context.plan'), 'free'] } },
        { name: 'again', points: 40, when: { '>': [v('user.count_1h'), 1] } },
      ],
    });
    expect(tried).toMatchObject({
      decisions: 7,
      changed: 6,
      before: { allow: 6, review: 0, block: 1 },
      after: { allow: 0, review: 4, block: 3 },
      rules: [
        { name: 'free', matched: 4 },
        { name: 'again', matched: 4 },
      ],
    });
    expect(tried.examples.map((each: { risk_id: string }) => each.risk_id)).not.toContain(banned);
    expect(await account.data('GET', 'rules/get')).toMatchObject({ rules: [], revision: 1 + 1 });
  });
});
