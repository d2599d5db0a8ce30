import Type from 'typebox';
import { deedsOf } from '../../../../approvals/store.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import { findKey } from '../../../../core/keys/store.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { textOrNull } from '../../../../kit/fields.ts';
import { usd } from '../../../../lib/money.ts';
import { approvalIdField, approvalRecord, approvalSchema, deedSchema } from '../../approvals/schemas.ts';
import { requireApproval } from '../../approvals/seen.ts';

export const approvalsGet = defineCapability()({
  method: 'GET',
  path: '/v1/account/approvals/get/{approval_id}',
  summary: 'Shows an approval, with what its key did lately.',
  description:
    'The call with its whole input, what it may cost, and what the key did in this hour and the one before. Any key sees its own; keys that may read the account see all.',
  keywords: ['approval status', 'was it approved'],
  input: Type.Object({ approval_id: approvalIdField }),
  output: Type.Object({
    ...approvalSchema.properties,
    key_name: textOrNull('Name of the key; null: it has none, or is gone.'),
    key_did: Type.Array(deedSchema, {
      description: 'What the key did in this hour and the one before, the most frequent first; up to ten.',
    }),
  }),
  anyKey: true,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'What waits for a person',
      before: [
        { capability: 'queue.create', input: { name: 'orders' } },
        { capability: 'account.approvals.rule.set', input: { name: 'deletes', capabilities: ['queue.delete'] } },
        { capability: 'queue.delete', input: { queue: 'orders' }, refused: 'APPROVAL_REQUIRED' },
      ],
      input: { approval_id: '$2.approval.approval_id' },
      expect: { status: 'pending', capability: 'queue.delete', cost_usd_max: 0 },
    },
  ],
  async run({ ctx, input }) {
    const { db } = ctx.core;
    const row = await requireApproval(ctx, input.approval_id);
    const [deeds, key, nowMs] = await Promise.all([
      deedsOf(db, ctx.accountId, row.key_id),
      findKey(db, ctx.accountId, row.key_id),
      clockNow(db),
    ]);
    const did = deeds.map(({ capability, calls, spend_nanos: nanos }) => ({
      capability,
      calls: Number(calls),
      spend_usd: usd(nanos),
    }));
    return { data: { ...approvalRecord(row, nowMs), key_name: key?.name ?? null, key_did: did } };
  },
});
