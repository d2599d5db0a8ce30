import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { cursorField, limitField } from '../../../kit/fields.ts';
import { groupNotFound, groupNumber } from '../groups/group-change.ts';
import { findGroup } from '../groups/group-store.ts';
import { groupEventPageSchema, groupIdField } from '../schemas.ts';
import { eventSummary, neighbourIds } from '../search/event-record.ts';
import { parseFilter } from '../search/filter.ts';
import { findEvents } from '../search/find-events.ts';
import type { ErrorsState } from '../state.ts';

export const events = defineCapability<ErrorsState>()({
  method: 'GET',
  path: '/v1/errors/events/{error_group_id}',
  summary: 'Lists the events of an error group.',
  description: 'Newest first. Events past 90 days are gone, the count of the group goes on including them.',
  keywords: ['occurrences of an issue', 'events of a group'],
  input: Type.Object({ error_group_id: groupIdField, cursor: cursorField, limit: limitField }),
  output: groupEventPageSchema,
  errors: ['INVALID_CURSOR', 'GROUP_NOT_FOUND'],
  examples: [
    {
      title: 'The newest events of a group',
      before: [{ capability: 'errors.capture', input: { message: 'disk full' } }],
      input: { error_group_id: '$0.error_group_id', limit: 10 },
      expect: { total: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    const groupId = groupNumber(state, ctx.accountId, input.error_group_id);
    if ((await findGroup(ctx.core.db, ctx.accountId, groupId)) === null) throw groupNotFound();
    const found = await findEvents(ctx, state, {
      filter: parseFilter({ error_group_id: input.error_group_id }),
      q: null,
      cursor: input.cursor,
      limit: input.limit ?? 20,
      binding: [input.error_group_id],
    });
    const items = found.rows.map((row, i) => ({
      ...eventSummary(state, ctx.accountId, row),
      ...neighbourIds(state, ctx.accountId, {
        previous: found.rows[i + 1]?.seq ?? found.below,
        next: found.rows[i - 1]?.seq ?? found.above,
      }),
    }));
    return {
      data: { items, next_cursor: found.nextCursor, has_more: found.hasMore, total: found.total },
    };
  },
});
