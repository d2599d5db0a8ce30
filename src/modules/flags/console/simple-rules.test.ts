import { expect, test } from 'vitest';
import { operators, readRules, type SimpleRules, wholeShares, writeRules } from './simple-rules.ts';

const row = (operator: string, value = 'a') => ({ attribute: 'user.plan', operator, value, outcome: 'on' });
const both = { and: [{ var: 'a' }, { var: 'b' }] };

test.each(Object.keys(operators))('a row with %s is read as it was written', (operator) => {
  const one =
    operator === 'json'
      ? { ...row(operator, JSON.stringify(both)), attribute: '' }
      : row(operator, operator === '>' ? '5' : 'a');
  const rules: SimpleRules = {
    rows: [one, { ...row('is', 'b'), outcome: { on: 50, off: 50 } }, { ...row('is', 'c'), outcome: null }],
    rest: { on: 25, off: 75 },
  };
  expect(readRules(writeRules(rules))).toEqual(rules);
});

test.each([
  [{ rows: [], rest: null }, {}],
  [{ rows: [], rest: { on: 10, off: 90 } }, { fractional: Object.entries({ on: 10, off: 90 }) }],
  [{ rows: [row('one_of', 'a, b')], rest: null }, { if: [{ in: [{ var: 'user.plan' }, ['a', 'b']] }, 'on', null] }],
  [{ rows: [row('is')], rest: 'off' }, { if: [{ '==': [{ var: 'user.plan' }, 'a'] }, 'on', 'off'] }],
] as const)('%j is %j', (rules, targeting) => {
  expect(writeRules(rules)).toEqual(targeting);
  expect(readRules(targeting)).toEqual(rules);
});

test('one variant for everybody is a rule that gives it to all', () => {
  expect(writeRules({ rows: [], rest: 'on' })).toEqual({ fractional: [['on', 100]] });
});

test.each([
  [{ if: [both, 'on', null] }, '{"and":[{"var":"a"},{"var":"b"}]}'],
  [{ if: [{ '==': [{ var: '' }, 'x'] }, 'on', null] }, '{"==":[{"var":""},"x"]}'],
  [{ if: [true, 'on', null] }, 'true'],
])('%j is a row with its condition as JSON', (targeting, value) => {
  expect(readRules(targeting)?.rows).toEqual([{ attribute: '', operator: 'json', value, outcome: 'on' }]);
});

test.each([
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, { var: 'b' }, null] }],
  [{ fractional: [{ var: 'email' }, ['on', 50], ['off', 50]] }],
  [{ fractional: [] }],
  [
    {
      fractional: [
        ['on', 1],
        ['on', 1],
      ],
    },
  ],
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, 'on', { fractional: [['on', 1]] }] }],
  [{ var: 'plan' }],
  [{ if: [] }],
])('%j is more than a form shows', (targeting) => {
  expect(readRules(targeting)).toBeNull();
});

test.each([
  [{ on: 10 }, 'off', { on: 10, off: 90 }],
  [{ on: 10 }, null, { on: 10, off: 90 }],
  [{ on: 10 }, 'on', { on: 10, off: 90 }],
  [{ on: 10, off: 90 }, null, { on: 10, off: 90 }],
])('shares %j, default %s: all hundred are dealt out', (sent, usual, whole) => {
  expect(wholeShares(sent, ['on', 'off'], usual, 'shares')).toEqual(whole);
});

test.each([
  [{}, 'off'],
  [{ a: 10 }, null],
  [{ on: 10, off: 10, a: 10 }, 'off'],
  [{ on: 110 }, 'off'],
])('shares %j, default %s: nobody can tell who gets the rest', (sent, usual) => {
  expect(() => wholeShares(sent, ['on', 'off', 'a'], usual, 'shares')).toThrow(/must add up to 100 %/);
});

test('shares that are no per cents are not shown as such', () => {
  expect(readRules({ fractional: [['on', 10]] })).toBeNull();
});
