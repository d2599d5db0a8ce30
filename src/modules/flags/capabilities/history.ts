import Type from 'typebox';
import { listPage } from '../../../core/secrets/cursors.ts';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField, pageOf } from '../../../kit/fields.ts';
import { changesOf, showChange } from '../flags/history.ts';
import { CHANGES_KEPT } from '../limits.ts';
import { changeSchema, keyField } from '../schemas.ts';
import type { FlagsState } from '../state.ts';

export const history = defineCapability<FlagsState>()({
  method: 'GET',
  path: '/v1/flags/history/{key}',
  summary: 'Lists the changes of a feature flag.',
  description: `Who changed what and when, newest first, also of a flag that was deleted. Of an account the newest ${CHANGES_KEPT} changes are kept.`,
  keywords: ['flag audit log', 'who changed the flag'],
  input: Type.Object({ key: keyField, cursor: cursorField, limit: limitField }),
  output: pageOf(changeSchema),
  errors: ['INVALID_CURSOR'],
  examples: [
    {
      title: 'Its creation',
      before: [
        { capability: 'flags.create', input: { key: 'search', type: 'boolean', variants: { on: true, off: false } } },
      ],
      input: { key: 'search' },
    },
  ],
  async run({ ctx, input }) {
    const page = await listPage(ctx, input, {
      filters: [input.key],
      read: (after, limit) => changesOf(ctx.core.db, ctx.accountId, input.key, { after, limit }),
      positionOf: ({ revision }) => String(revision),
    });
    return { data: { ...page, items: page.items.map(showChange) } };
  },
});
