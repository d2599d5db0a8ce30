import { deleteOf } from '../../../../kit/resource.ts';
import { rules } from '../../rules/resource.ts';
import { ruleFirst } from '../examples.ts';

export const remove = deleteOf(rules, {
  path: '/v1/alerts/rule/delete/{rule}',
  description: 'Its history goes with it. Whoever was told that it fires is told that it is over.',
  keywords: ['delete alert rule', 'stop alerting'],
  isStrict: true,
  examples: [
    {
      title: 'Not needed any more',
      before: [ruleFirst],
      input: { rule: 'checkout-errors' },
      expect: { deleted: true },
    },
  ],
});
