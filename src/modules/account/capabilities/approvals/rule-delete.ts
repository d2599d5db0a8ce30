import Type from 'typebox';
import { ruleTable } from '../../../../approvals/rules.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { changeRules } from '../../approvals/rules.ts';
import { ruleNameField } from '../../approvals/schemas.ts';

export const approvalsRuleDelete = defineCapability()({
  id: 'account.approvals.rule.delete',
  method: 'DELETE',
  path: '/v1/account/approvals/rule/{name}',
  summary: 'Deletes an approval rule.',
  description:
    'Its calls run without asking from then on, and what waited because of it waits no more. A missing rule is no error: deleted is false. A key that a rule binds deletes none.',
  keywords: ['remove approval rule', 'stop asking'],
  input: Type.Object({ name: ruleNameField }),
  output: Type.Object({ deleted: Type.Boolean({ description: 'Whether there was one.' }) }),
  gates: ['recent_sign_in'],
  examples: [
    {
      title: 'Not needed any more',
      before: [
        { capability: 'account.keys.create', input: { name: 'agent', scopes: ['queue'] } },
        {
          capability: 'account.approvals.rule.set',
          input: { name: 'deletes', capabilities: ['queue.delete'], keys: ['$0.key_id'] },
        },
      ],
      input: { name: 'deletes' },
      expect: { deleted: true },
    },
  ],
  run: ({ ctx, input: { name } }) =>
    changeRules(ctx, name, async (tx) => ({ deleted: await ruleTable.remove(tx, ctx, name) })),
});
