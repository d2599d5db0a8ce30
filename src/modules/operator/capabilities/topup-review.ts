// operator.topup.approve and operator.topup.reject.
import Type from 'typebox';
import { type CapabilityDraft, defineCapability } from '../../../kit/capability.ts';
import { ownerOfTopup } from '../../../payments/refs.ts';
import { reviewTopup } from '../../../payments/topups/review.ts';
import { act, replay } from '../act.ts';
import { noTopup, topupIdField, topupSchema, topupView } from '../schemas.ts';

const underReview = [
  { capability: 'account.topup', input: { amount_usd: 20 } },
  { capability: 'account.topup.get', input: { topup_id: '$0.topup_id' }, until: { status: 'review' } },
];

export const topupApprove = verdict('approve', 'approved', {
  summary: 'Credits a top-up that is under review.',
  description: 'For the operator of the service only. It is told as topup.succeeded.',
  keywords: ['accept payment', 'release reviewed top-up'],
  status: 'succeeded',
});

export const topupReject = verdict('reject', 'rejected', {
  summary: 'Ends a top-up that is under review as failed.',
  description:
    'For the operator of the service only. Nothing is credited; what was paid is to be paid back at the provider. It is told as topup.failed.',
  keywords: ['refuse payment', 'decline top-up'],
  destructive: true,
  status: 'failed',
});

function verdict(
  name: 'approve' | 'reject',
  word: 'approved' | 'rejected',
  {
    status,
    ...words
  }: Pick<CapabilityDraft, 'summary' | 'description' | 'keywords' | 'destructive'> & {
    readonly status: string;
  },
) {
  return defineCapability()({
    method: 'POST',
    path: `/v1/operator/topup/${name}`,
    ...words,
    input: Type.Object({ topup_id: topupIdField }),
    output: topupSchema,
    replay,
    errors: ['NOT_FOUND', 'STATE_CONFLICT'],
    examples: [{ title: 'After a look', before: underReview, input: { topup_id: '$0.topup_id' }, expect: { status } }],
    async run({ ctx, input: { topup_id: topupId } }) {
      const owner = await ownerOfTopup(ctx.core.db, topupId);
      const decide = async (tx: Parameters<typeof reviewTopup>[0]) => {
        const row = owner === null ? null : await reviewTopup(tx, owner, topupId, word);
        return row === null ? null : topupView(row);
      };
      return act(ctx, owner ?? ctx.accountId, decide, noTopup);
    },
  });
}
