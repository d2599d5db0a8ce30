// Rows of events as callers see them (specification, "Error event").

import type { Static } from 'typebox';
import type { CallContext } from '../../../kit/services.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import { dashboardUrl } from '../capture/ids.ts';
import { unpackLine } from '../intake/event-detail.ts';
import type { ErrorsState } from '../state.ts';
import type { EventRow, EventSummaryRow, Neighbours } from './event-store.ts';
import { type filterField, parseFilter } from './filter.ts';
import { findEvents } from './find-events.ts';

/** An event as lists show it. */
export function eventSummary({ ids, core }: ErrorsState, accountId: string, row: EventSummaryRow) {
  const groupId = ids.groupId(accountId, row.group_id);
  return {
    event_id: ids.eventId(accountId, row.seq),
    fingerprint: row.fingerprint.toString('hex'),
    error_group_id: groupId,
    timestamp: iso(row.occurred_at ?? sequenceMs(row.seq)),
    level: row.level,
    title: row.title,
    message: row.message,
    environment: row.environment,
    release: row.release,
    user_id: row.user_id,
    tags: JSON.parse(row.tags) as Record<string, string>,
    is_resolved: row.is_resolved,
    is_ignored: row.is_ignored,
    dashboard_url: dashboardUrl(core.baseUrl, groupId),
  };
}

/** An event in full. */
export function eventRecord(state: ErrorsState, accountId: string, row: EventRow, { previous, next }: Neighbours) {
  const receivedAtMs = sequenceMs(row.seq);
  const detail = unpackLine(row.lines, row.detail_line, receivedAtMs);
  return {
    ...eventSummary(state, accountId, row),
    exception: detail.exception,
    breadcrumbs: detail.breadcrumbs,
    context: detail.context,
    extra: detail.extra,
    idempotency_key: detail.idempotency_key,
    sdk: detail.sdk,
    runtime: detail.runtime,
    request: detail.request,
    user: detail.user,
    fingerprint_source: detail.fingerprint_source,
    received_at: iso(receivedAtMs),
    group_first_seen_at: iso(sequenceMs(row.group_id)),
    group_last_seen_at: iso(sequenceMs(row.group_last_seq)),
    group_count: Number(row.group_count),
    group_user_count: Number(row.group_user_count),
    ...neighbourIds(state, accountId, { previous, next }),
  };
}

export function neighbourIds({ ids }: ErrorsState, accountId: string, { previous, next }: Neighbours) {
  return {
    previous_event_id: previous === null ? null : ids.eventId(accountId, previous),
    next_event_id: next === null ? null : ids.eventId(accountId, next),
  };
}

// What errors.list and errors.search have in common: a filter, a page, a total.

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
