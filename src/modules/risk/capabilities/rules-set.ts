import { runWrite } from '../../../core/idempotency/write.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { RULES_BODY_BYTES_MAX } from '../limits.ts';
import { rulesInput, rulesRecord, sentRules } from '../rules/record.ts';
import { ruleSet } from '../rules/rule-set.ts';
import { readSettings, saveRules } from '../rules/settings.ts';
import { rulesSchema } from '../schemas.ts';

export const rulesSet = defineCapability()({
  method: 'PUT',
  path: '/v1/risk/rules/set',
  summary: 'Replaces the rules and thresholds of the account.',
  description:
    'A rule is JsonLogic over the signals that risk.score answers; where it matches, its points are added. The score is the sum, from 0 to 100. ' +
    'All rules are replaced at once, and count from the next call on. Try them with risk.rules.try first. A comparison with null follows JsonLogic, where null is 0.',
  keywords: ['set fraud rules', 'jsonlogic rules', 'block threshold'],
  input: rulesInput,
  output: rulesSchema,
  bodyBytesMax: RULES_BODY_BYTES_MAX,
  limits: {
    rules: '50 of up to 100 values and operators each, 500 together, nested up to 8 deep; texts of 64 characters.',
  },
  examples: [
    {
      title: 'Two rules',
      input: {
        thresholds: { review: 30, block: 60 },
        rules: [
          { id: 'throw_away', points: 60, when: { '==': [{ var: 'email.is_disposable' }, true] } },
          {
            ...{ id: 'many_users', points: 40, description: 'Many users on one address' },
            when: { and: [{ '>': [{ var: 'ip.users_1h' }, 3] }, { '!=': [{ var: 'context.plan' }, 'enterprise'] }] },
          },
        ],
      },
      expect: { is_default: false },
    },
  ],
  run: ({ ctx, input }) => {
    const rules = sentRules(input);
    ruleSet(rules);
    return runWrite(ctx, async (tx, { nowMs }) => {
      await saveRules(tx, ctx.accountId, rules, nowMs);
      return rulesRecord(await readSettings(tx, ctx.accountId));
    });
  },
});
