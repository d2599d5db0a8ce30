import { createHash } from 'node:crypto';
import Type from 'typebox';
import type { Enter } from '../../../core/callers/enter.ts';
import { runOutside } from '../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { orNull } from '../../../kit/fields.ts';
import { nanosOfUsd } from '../../../lib/money.ts';
import { refundTopup } from '../../../payments/clawbacks/refund.ts';
import { ownerOfTopup } from '../../../payments/refs.ts';
import { invalidField } from '../../../problems/problem.ts';
import { replay } from '../act.ts';
import { noTopup, topupIdField, topupSchema, topupView } from '../schemas.ts';

export const topupRefund = defineCapability()({
  method: 'POST',
  path: '/v1/operator/topup/refund',
  summary: 'Pays back what is left of a top-up, or a part of it.',
  description:
    'For the operator of the service only. The credit leaves the wallet first, then the provider pays back; when it refuses, the credit is ' +
    'restored, and when it does not answer, the checks settle it. refunded_usd says what went back. Under one idempotency key there is one refund.',
  keywords: ['refund payment', 'give money back', 'chargeback'],
  input: Type.Object({
    topup_id: topupIdField,
    amount_usd: Type.Optional(
      orNull<number>(
        { type: 'number', exclusiveMinimum: 0, maximum: 10_000 },
        'How much of it, in steps of 0.000000001 USD; absent or null: all that is left.',
      ),
    ),
  }),
  output: topupSchema,
  destructive: true,
  replay,
  errors: ['NOT_FOUND', 'STATE_CONFLICT'],
  examples: [
    {
      title: 'A part of it',
      before: [
        { capability: 'account.topup', input: { amount_usd: 20 } },
        { capability: 'account.topup.get', input: { topup_id: '$0.topup_id' }, until: { status: 'review' } },
        { capability: 'operator.topup.approve', input: { topup_id: '$0.topup_id' } },
      ],
      input: { topup_id: '$0.topup_id', amount_usd: 5 },
      expect: { status: 'succeeded', refunded_usd: 5 },
    },
  ],
  run: ({ ctx, input: { topup_id: topupId, amount_usd = null } }) => {
    const nanos = amount_usd === null ? null : nanosOfUsd(amount_usd);
    if (amount_usd !== null && nanos === null)
      throw invalidField('amount_usd', 'multipleOf', 'amount_usd must be a multiple of 0.000000001 USD.');
    const { idempotency, accountId } = ctx;
    // Of the key: who dies after the refund and before the answer makes no second one.
    const refundId = idempotency === null ? undefined : refundIdOf(accountId, topupId, idempotency.hash);
    const body = async (enter: Enter) => {
      await ctx.core.db.transaction(enter);
      const owner = await ownerOfTopup(ctx.core.db, topupId);
      const taken = owner === null ? null : await refundTopup(ctx.core, owner, topupId, nanos, refundId);
      if (taken === null) throw noTopup();
      return topupView(taken.topup);
    };
    return runOutside(ctx, body, replay);
  },
});

/** Like no other id: providers know refunds by it, whosever they are. */
function refundIdOf(...parts: readonly string[]): string {
  return `ref_${createHash('sha256').update(parts.join(' ')).digest('base64url').slice(0, 22)}`;
}
