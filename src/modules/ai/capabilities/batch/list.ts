import Type from 'typebox';
import { listPage } from '../../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../../kit/fields.ts';
import { batchSchema, statusFilter } from '../../batches/schemas.ts';
import { batchRecord, listBatches } from '../../batches/store.ts';
import type { AiState } from '../../state.ts';

export const list = defineCapability<AiState>()({
  method: 'GET',
  path: '/v1/ai/batch/list',
  summary: 'Lists the batches of the account.',
  description: 'Of any status, the newest first; they are kept for 7 days after their end.',
  keywords: ['list batches', 'batch history'],
  input: Type.Object({ status: statusFilter, cursor: cursorField, limit: limitField }),
  output: pageOf(batchSchema),
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'What has expired', input: { status: 'expired' }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const { status = null } = input;
    const shown = await listPage(ctx, input, {
      filters: [status ?? ''],
      read: (before, limit) => listBatches(ctx.core.db, ctx.accountId, status, before, limit),
      positionOf: ({ batch_id }) => batch_id,
    });
    return { data: { ...shown, items: shown.items.map(batchRecord) } };
  },
});
