import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, orNull, pageOf } from '../../../kit/fields.ts';
import { decisionSchema } from '../schemas.ts';
import { decisionRecord, listDecisions } from '../score/decisions.ts';
import type { RiskState } from '../state.ts';

const LAST = 2n ** 63n - 1n;

export const decisions = defineCapability<RiskState>()({
  method: 'GET',
  path: '/v1/risk/decisions',
  summary: 'Lists decisions.',
  description: 'Of all keys, newest first, for 30 days; those to review or blocked by `action`.',
  keywords: ['fraud review queue', 'blocked logins'],
  input: Type.Object({
    action: Type.Optional(
      orNull<'review' | 'block'>({ type: 'string', enum: ['review', 'block'] }, 'Only these; absent: all.'),
    ),
    cursor: cursorField,
    limit: limitField,
  }),
  output: pageOf(decisionSchema),
  errors: ['INVALID_CURSOR'],
  examples: [{ title: 'What to review', input: { action: 'review', limit: 10 }, expect: { has_more: false } }],
  async run({ ctx, input, state }) {
    const action = input.action ?? null;
    const page = await listPage(ctx, input, {
      filters: [String(action)],
      read: (after, limit) =>
        listDecisions(ctx.core.db, ctx.accountId, { before: after === null ? LAST : BigInt(after), limit, action }),
      positionOf: ({ seq }) => String(seq),
    });
    return { data: { ...page, items: page.items.map((row) => decisionRecord(state.ids, ctx.accountId, row)) } };
  },
});
