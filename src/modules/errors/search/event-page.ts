// What errors.list and errors.search have in common: a filter, a page, a total.

import type { Static } from 'typebox';
import type { CallContext } from '../../../core/context.ts';
import type { ErrorsState } from '../state.ts';
import { eventSummary } from './event-record.ts';
import { type filterField, parseFilter } from './filter.ts';
import { findEvents } from './find-events.ts';

interface PageInput {
  readonly filter?: Static<typeof filterField>;
  readonly cursor?: string;
  readonly limit?: number;
}

export async function eventPage(ctx: CallContext, state: ErrorsState, input: PageInput, q: string | null) {
  const filter = parseFilter(input.filter);
  const found = await findEvents(ctx, state, {
    filter,
    q,
    cursor: input.cursor,
    limit: input.limit ?? 20,
    binding: [JSON.stringify(filter), q ?? ''],
  });
  return {
    items: found.rows.map((row) => eventSummary(state, ctx.accountId, row)),
    next_cursor: found.nextCursor,
    has_more: found.hasMore,
    total: found.total,
    ...(found.isTotalCapped ? { total_capped: true } : {}),
  };
}
