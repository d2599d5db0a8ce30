import Type from 'typebox';
import { decide, spans } from '../../../../approvals/decide.ts';
import { runWrite } from '../../../../core/idempotency/write.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { approvalIdField, approvalRecord, approvalSchema, wordsField } from '../../approvals/schemas.ts';
import { nanosField } from '../../schemas.ts';

export const approvalsDecide = defineCapability()({
  method: 'POST',
  path: '/v1/account/approvals/decide',
  summary: 'Approves or denies a call that waits.',
  description:
    'For people: a session that signed in within 15 minutes, of somebody whom the rule names, or of an owner where it names none. API keys cannot decide. ' +
    'Nothing runs by it: the caller repeats its call. `for` `hour` and `day` let the key make all calls that the rule meets in that time, for up_to_usd together.',
  keywords: ['approve', 'deny', 'reject call', 'confirm agent action'],
  input: Type.Object({
    approval_id: approvalIdField,
    decision: Type.Enum(['approve', 'deny'], { description: 'What the person says.' }),
    words: wordsField,
    for: Type.Optional(
      Type.Enum([...spans], {
        default: 'once',
        description: 'Of an approval: `once` this call, `hour` or `day` all such calls of the key in that time.',
      }),
    ),
    up_to_usd: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 9_000_000_000,
        description: 'With hour and day: what these calls may cost together, by the most that each may cost.',
      }),
    ),
  }),
  output: approvalSchema,
  gates: ['person', 'recent_sign_in'],
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'Yes, this once',
      before: [
        { capability: 'queue.create', input: { name: 'orders' } },
        { capability: 'account.approvals.rule.set', input: { name: 'deletes', capabilities: ['queue.delete'] } },
        { capability: 'queue.delete', input: { queue: 'orders' }, refused: 'APPROVAL_REQUIRED' },
      ],
      input: { approval_id: '$2.approval.approval_id', decision: 'approve', words: 'The orders have moved.' },
      expect: { status: 'approved' },
    },
  ],
  run({ ctx, input }) {
    const { accountId, principal } = ctx;
    const upToNanos = nanosField('up_to_usd', input.up_to_usd ?? null);
    return runWrite(ctx, async (tx, { nowMs }) => {
      const row = await decide(
        tx,
        {
          accountId,
          approvalId: input.approval_id,
          personId: principal.id,
          decision: input.decision as 'approve' | 'deny',
          words: input.words === undefined || input.words === '' ? null : input.words,
          span: (input.for ?? 'once') as (typeof spans)[number],
          upToNanos,
        },
        nowMs,
      );
      return approvalRecord(row, nowMs);
    });
  },
});
