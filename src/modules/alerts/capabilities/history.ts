import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { changeRecord, changesOf } from '../changes/store.ts';
import { CHANGES_MAX, KEEP_DAYS } from '../limits.ts';
import { ruleMissing } from '../rules/resource.ts';
import { ruleTable } from '../rules/store.ts';
import { changeSchema, ruleField } from '../schemas.ts';
import type { AlertsState } from '../state.ts';
import { ruleFirst } from './examples.ts';

export const history = defineCapability<AlertsState>()({
  method: 'GET',
  path: '/v1/alerts/history/{rule}',
  summary: 'Lists what became of an alert rule.',
  description: 'Each change of its state or of one of its series, the newest first, and how many notices told it.',
  keywords: ['alert history', 'when did it fire', 'past incidents'],
  input: Type.Object({ rule: ruleField, cursor: cursorField, limit: limitField }),
  output: pageOf(changeSchema),
  errors: ['RULE_NOT_FOUND', 'INVALID_CURSOR'],
  limits: { kept: `${KEEP_DAYS} days, and the newest ${CHANGES_MAX.toLocaleString('en')} of a rule.` },
  examples: [{ title: 'All', before: [ruleFirst], input: { rule: 'checkout-errors' }, expect: { has_more: false } }],
  async run({ ctx, input }) {
    const { rule } = input;
    const { db } = ctx.core;
    if ((await ruleTable.find(db, ctx, rule)) === null) throw ruleMissing();
    const page = await listPage(ctx, input, {
      filters: [rule],
      read: (after, limit) => changesOf(db, ctx.accountId, { rule, before: after ?? '~', limit }),
      positionOf: ({ change_id: id }) => id,
    });
    return { data: { ...page, items: page.items.map(changeRecord) } };
  },
});
