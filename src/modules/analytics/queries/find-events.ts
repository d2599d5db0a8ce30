// Pages of events: blocks are read from the newest on, until nothing that is left can come before what was found.
import type { BlockRef } from '../../../blocks/block.ts';
import { eventMark, personMark } from '../events/pack.ts';
import { type EventArgs, type FoundEvent, findEvents, newestFirst, PAGE_BYTES_MAX } from './event-scan.ts';
import { type Question, tooLate } from './period.ts';

const PIECE_BLOCKS_MAX = 8;

/** At most `limit` events and one more, which says that there are more. */
export async function eventsOf(
  { ctx, state, period, known, signal }: Question,
  asked: Pick<EventArgs, 'event' | 'numbers' | 'after' | 'limit' | 'includeBots'>,
): Promise<{ readonly events: readonly FoundEvent[]; readonly hasMore: boolean }> {
  const toMs = asked.after === null ? period.toMs : Math.min(period.toMs, asked.after.timeMs + 1);
  const args: EventArgs = { ...asked, fromMs: period.fromMs, toMs, joins: known.table.parts() };
  const marks = [
    ...(asked.event === null ? [] : [eventMark(asked.event)]),
    ...(asked.numbers?.length === 1 ? asked.numbers.map(personMark) : []),
  ];
  const refs = await state.store.list(ctx.accountId, { fromMs: period.fromMs, toMs, marks });
  refs.sort((a, b) => b.toMs - a.toMs);
  let found: FoundEvent[] = [];
  for (let at = 0, blocks = 1; at < refs.length; blocks = Math.min(blocks * 2, PIECE_BLOCKS_MAX)) {
    const size = pageSize(found, asked.limit);
    const last = found[size];
    if (last !== undefined && (refs[at] as BlockRef).toMs < last.timeMs) break;
    const piece = refs.slice(at, at + blocks);
    const work = { source: findEvents.source, exportName: findEvents.id, columns: null, args, tooLate };
    const part = await state.store.work<FoundEvent[]>(ctx.accountId, piece, work, signal);
    found = [...found, ...part].sort(newestFirst).slice(0, asked.limit + 1);
    at += piece.length;
  }
  const size = pageSize(found, asked.limit);
  return { events: found.slice(0, size), hasMore: found.length > size };
}

/** How many of the events are on a page. */
function pageSize(found: readonly FoundEvent[], limit: number): number {
  let bytes = 0;
  for (const [i, { properties }] of found.entries()) {
    if (i === limit || bytes > PAGE_BYTES_MAX) return i;
    bytes += properties.length;
  }
  return found.length;
}
