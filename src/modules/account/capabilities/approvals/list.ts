import Type from 'typebox';
import { listApprovals } from '../../../../approvals/store.ts';
import { clockNow } from '../../../../core/database-clock.ts';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageFields } from '../../../../kit/fields.ts';
import { listedApproval, listedApprovalSchema, statuses } from '../../approvals/schemas.ts';
import { ownKey } from '../../approvals/seen.ts';

export const approvalsList = defineCapability()({
  method: 'GET',
  path: '/v1/account/approvals/list',
  summary: 'Lists calls that wait for a person, or did.',
  description:
    'The newest first, without their inputs. Any key sees its own; keys that may read the account see all. Approvals are kept for 90 days after they were asked for.',
  keywords: ['pending approvals', 'what waits for me', 'approval history'],
  input: Type.Object({
    status: Type.Optional(Type.Enum([...statuses], { description: 'Only those.' })),
    cursor: cursorField,
    limit: limitField,
  }),
  output: Type.Object({ items: Type.Array(listedApprovalSchema, { description: 'This page.' }), ...pageFields }),
  anyKey: true,
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'What waits', input: { status: 'pending' }, expect: { items: [], has_more: false } }],
  async run({ ctx, input }) {
    const { status = null } = input;
    const keyId = ownKey(ctx);
    const page = await listPage(ctx, input, {
      filters: [status ?? '', keyId ?? ''],
      read: (after, limit) => listApprovals(ctx.core.db, ctx.accountId, { after, limit, status, keyId }),
      positionOf: ({ approval_id: id }) => id,
    });
    const nowMs = await clockNow(ctx.core.db);
    return { data: { ...page, items: page.items.map((row) => listedApproval(row, nowMs)) } };
  },
});
