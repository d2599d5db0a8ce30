import { getOf } from '../../../../kit/resource.ts';
import { rules } from '../../rules/resource.ts';
import { ruleFirst } from '../examples.ts';

export const get = getOf(rules, {
  path: '/v1/alerts/rule/get/{rule}',
  description: 'The rule with its state, its value at the last look, and its series.',
  keywords: ['show alert rule', 'is the alert firing'],
  examples: [{ title: 'One', before: [ruleFirst], input: { rule: 'checkout-errors' }, expect: { above: 10 } }],
});
