import { expect, test } from 'vitest';
import { conditions, linesOf, ruleOf } from './rule-lines.ts';

test.each(Object.keys(conditions))('a line with %s is shown as it was written', (condition) => {
  const text = `user.plan ${condition} ${condition.startsWith('is version') ? '1.2.0' : '5, 7'}: on\nemail is b c: x: y\n25% on, 75% off`;
  expect(linesOf(ruleOf(text))).toBe(text);
});

test.each([
  ['', {}],
  ['10% on, 90% off', { fractional: Object.entries({ on: 10, off: 90 }) }],
  ['plan is one of a, b: on', { if: [{ in: [{ var: 'plan' }, ['a', 'b']] }, 'on', null] }],
  ['plan is notable: on', { if: [{ '==': [{ var: 'plan' }, 'notable'] }, 'on', null] }],
  ['age >= 18: on', { if: [{ '>=': [{ var: 'age' }, 18] }, 'on', null] }],
])('%j is %j', (text, targeting) => {
  expect(ruleOf(text)).toEqual(targeting);
  expect(linesOf(targeting)).toBe(text);
});

test.each(['plan pro: on', 'plan is pro', '25% on, 75% off\nplan is pro: on', '25 on', '-1% on'])(
  '%j is refused',
  (text) => {
    expect(() => ruleOf(text)).toThrow('This is no condition');
  },
);

test.each([
  [{ if: [{ and: [{ var: 'a' }, { var: 'b' }] }, 'on', null] }],
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, { var: 'b' }, null] }],
  [{ if: [{ '==': [{ var: 'a' }, 'not x'] }, 'on', null] }],
  [{ if: [{ '==': [{ var: 'a' }, 5] }, 'on', null] }],
  [{ fractional: [{ var: 'email' }, ['on', 50], ['off', 50]] }],
  [{ fractional: [['on', { var: 'a' }]] }],
  [{ if: [{ '==': [{ var: 'a' }, 'x'] }, 'on', 'off'] }],
  [{ if: [{ '==': [{ var: '' }, 'x'] }, 'on'] }],
  [{ if: [] }],
  [{ if: 'on' }],
])('%j is more than lines tell', (targeting) => {
  expect(linesOf(targeting)).toBeNull();
});
