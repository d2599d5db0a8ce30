import { RULES_MAX, ruleTable } from '../../../../approvals/rules.ts';
import { listOf } from '../../../../kit/resource.ts';
import { ruleRecord, ruleSchema } from '../../approvals/schemas.ts';

export const approvalsRules = listOf(
  { ...ruleTable, noun: 'approval rule', output: ruleSchema, show: ruleRecord },
  {
    path: '/v1/account/approvals/rules',
    summary: 'Lists the approval rules.',
    description: `Which calls of which keys a person must approve, by name. There are at most ${RULES_MAX}.`,
    keywords: ['approval rules', 'what needs approval'],
    examples: [{ title: 'All', input: {}, expect: { has_more: false } }],
  },
);
