import Type from 'typebox';
import { decisionOf } from '../../../../approvals/decide.ts';
import { WAIT_SECONDS_MAX } from '../../../../approvals/refusals.ts';
import { statusOf } from '../../../../approvals/store.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import type { CallContext } from '../../../../kit/services.ts';
import { approvalIdField, approvalRecord, approvalSchema } from '../../approvals/schemas.ts';
import { requireApproval } from '../../approvals/seen.ts';

/** A decision of another machine is seen so soon. */
const LOOK_MS = 1_000;

export const approvalsWait = defineCapability()({
  method: 'GET',
  path: '/v1/account/approvals/wait/{approval_id}',
  summary: 'Waits until a person has decided.',
  description:
    'Answers as soon as the approval is no longer pending, or when the time is over. `approved`: repeat the same call now. `pending`: wait again. Otherwise the call will not run.',
  keywords: ['wait for approval', 'long poll approval'],
  input: Type.Object({
    approval_id: approvalIdField,
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: WAIT_SECONDS_MAX,
        default: 0,
        description: `How long to wait, 0 to ${WAIT_SECONDS_MAX} seconds.`,
      }),
    ),
  }),
  output: approvalSchema,
  anyKey: true,
  waits: true,
  errors: ['NOT_FOUND'],
  examples: [
    {
      title: 'Not decided yet',
      before: [
        { capability: 'queue.create', input: { name: 'orders' } },
        { capability: 'account.approvals.rule.set', input: { name: 'deletes', capabilities: ['queue.delete'] } },
        { capability: 'queue.delete', input: { queue: 'orders' }, refused: 'APPROVAL_REQUIRED' },
      ],
      input: { approval_id: '$2.approval.approval_id' },
      expect: { status: 'pending' },
    },
  ],
  async run({ ctx, input }) {
    const { approval_id: id, wait_seconds: seconds = 0 } = input;
    const giveUpAt = performance.now() + seconds * 1_000;
    for (;;) {
      const row = await requireApproval(ctx, id);
      const nowMs = await clockNow(ctx.core.db);
      const leftMs = giveUpAt - performance.now();
      if (statusOf(row, nowMs) !== 'pending' || leftMs <= 0 || ctx.signal.aborted)
        return { data: approvalRecord(row, nowMs) };
      ctx.idle();
      await nextLook(ctx, id, Math.min(leftMs, LOOK_MS));
    }
  },
});

/** Until somebody decides on this machine, the time is over, or the caller is gone. */
function nextLook({ core, signal }: CallContext, approvalId: string, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const deafen = core.db.onHint(decisionOf(approvalId), resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    deafen();
  });
}
