import { expect, test } from 'vitest';
import { operators, readRules, type SimpleRules, wholeShares, writeRules } from './simple-rules.ts';

const row = (operator: string, value = 'a') => ({ attribute: 'user.plan', operator, value, variant: 'on' });

test.each(Object.keys(operators))('a row with %s is read as it was written', (operator) => {
  const rules: SimpleRules = {
    rows: [row(operator, operator === '>' ? '5' : 'a'), row('is', 'b')],
    shares: { on: 25, off: 75 },
  };
  expect(readRules(writeRules(rules))).toEqual(rules);
});

test.each([
  [{ rows: [], shares: {} }, {}],
  [
    { rows: [], shares: { on: 10, off: 90 } },
    {
      fractional: [
        ['on', 10],
        ['off', 90],
      ],
    },
  ],
  [{ rows: [row('one_of', 'a, b')], shares: {} }, { if: [{ in: [{ var: 'user.plan' }, ['a', 'b']] }, 'on', null] }],
] as const)('%j is %j', (rules, targeting) => {
  expect(writeRules(rules)).toEqual(targeting);
  expect(readRules(targeting)).toEqual(rules);
});

test.each([
  [{ if: [{ and: [{ var: 'a' }, { var: 'b' }] }, 'on', null] }],
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, { var: 'b' }, null] }],
  [{ fractional: [{ var: 'email' }, ['on', 50], ['off', 50]] }],
  [
    {
      fractional: [
        ['on', 1],
        ['on', 1],
      ],
    },
  ],
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, 'on', 'off'] }],
  [{ if: [{ '==': [{ var: '' }, 'x'] }, 'on'] }],
])('%j is more than a form shows', (targeting) => {
  expect(readRules(targeting)).toBeNull();
});

test.each([
  [{ on: 10 }, 'off', { on: 10, off: 90 }],
  [{}, 'off', {}],
  [{ on: 10, off: 90 }, null, { on: 10, off: 90 }],
])('shares %j, default %s: all hundred are dealt out', (sent, usual, whole) => {
  expect(wholeShares(sent, usual)).toEqual(whole);
});

test.each([
  [{ on: 10 }, null],
  [{ on: 10 }, 'on'],
  [{ on: 10, off: 10 }, 'off'],
  [{ on: 110 }, 'off'],
])('shares %j, default %s: nobody can tell who gets the rest', (sent, usual) => {
  expect(() => wholeShares(sent, usual)).toThrow(/must add up to 100 %/);
});

test('shares that are no per cents are not shown as such', () => {
  expect(readRules({ fractional: [['on', 10]] })).toBeNull();
});
