import { expect, test } from 'vitest';
import { defaultRules } from '../rules/default-rules.ts';
import { fieldsOfRule, operators, readWhen, rulesOfRows } from './rule-rows.ts';

const ip = { var: 'ip.users_1h' };

function sent(rules: typeof defaultRules): URLSearchParams {
  const { review, block } = rules.thresholds;
  const form = new URLSearchParams({ review: String(review), block: String(block) });
  for (const [n, rule] of rules.rules.entries())
    for (const [name, value] of Object.entries(fieldsOfRule(rule))) form.set(`rule-${n}-${name}`, value);
  return form;
}
const withWhen = (when: unknown) => ({ ...defaultRules, rules: [{ name: 'one', points: 5, when }] });

test('the rows of the default rules say the same rules, none of them as JSON', () => {
  const form = sent(defaultRules);
  expect(rulesOfRows(form)).toEqual(defaultRules);
  expect([...form.values()]).not.toContain('json');
});

test.each(Object.keys(operators))('a condition with %s comes back as it was', (operator) => {
  const value = operator === 'json' ? '{"<":[1,{"var":"ip.users_1h"},5]}' : operator === 'contains' ? 'a' : '5';
  const when = operators[operator]?.write(ip, value);
  expect(readWhen(when).conditions.map((each) => each.operator)).toEqual([operator]);
  expect(rulesOfRows(sent(withWhen(when)))).toEqual(withWhen(when));
});

test.each([
  [true],
  [{ or: [{ '>': [ip, 5] }, { '==': [{ var: 'event' }, 'login'] }, true] }],
  [{ and: [{ '>': [ip, 5] }] }],
  [{ '==': [{ var: 'context.code' }, '5'] }],
  [{ '==': [{ var: ['context.plan', 'free'] }, 'free'] }],
  [{ in: [{ var: 'ip.country' }, ['DE', 'FR, CH']] }],
  [{ and: [{ or: [true, false] }, { '!': [ip] }] }],
])('%j is lost in no form', (when) => {
  expect(rulesOfRows(sent(withWhen(when)))).toEqual(withWhen(when));
});

test.each([
  ['rule-0-name=a', 'rule-0-when-0-signal'],
  ['rule-0-when-0-value=5', 'rule-0-when-0-signal'],
  ['rule-0-when-0-signal=ip.users_1h', 'rule-0-when-0-value'],
  ['rule-0-when-0-operator=json', 'rule-0-when-0-value'],
  ['rule-0-when-0-signal=ip.users_1h&rule-0-when-0-value=5&rule-0-when-0-operator=like', 'rule-0-when-0-operator'],
])('%s is refused at %s', (form, param) => {
  expect(() => rulesOfRows(new URLSearchParams(form))).toThrow(expect.objectContaining({ param }));
});
