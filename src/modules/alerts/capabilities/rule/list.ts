import { listOf } from '../../../../kit/resource.ts';
import { rules } from '../../rules/resource.ts';
import { ruleFirst } from '../examples.ts';

export const list = listOf(rules, {
  path: '/v1/alerts/rule/list',
  description: 'Rules by name, with their state and series.',
  keywords: ['list alert rules', 'which alerts are there'],
  examples: [{ title: 'All', before: [ruleFirst], input: {}, expect: { has_more: false } }],
});
