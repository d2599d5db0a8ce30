// FIFO delivery: strict order per group, a group blocked until everything delivered from it is settled. Pure rules over locked rows.
import type { FifoMessage, GroupRow } from './fifo-store.ts';

export interface LapsedLeases {
  /** Delivered messages that go back to the head of the group: the first one whose lease ended, and every later one. */
  readonly returned: readonly FifoMessage[];
  /** When the first of them ended: their new available_at. */
  readonly endedMs: number;
  /** Leases that still run and block the group. */
  readonly running: readonly FifoMessage[];
}

/** Looks at the delivered, unsettled messages of one group, in order. */
export function lapsedLeases(inFlight: readonly FifoMessage[], nowMs: number): LapsedLeases {
  const first = inFlight.find((message) => message.visible_at <= nowMs);
  if (first === undefined) return { returned: [], endedMs: nowMs, running: inFlight };
  return {
    returned: inFlight.filter((message) => message.seq >= first.seq),
    endedMs: first.visible_at,
    running: inFlight.filter((message) => message.seq < first.seq),
  };
}

/** Consecutive deliverable messages from the head; a delayed one holds everything behind it. */
export function deliverable(heads: readonly FifoMessage[], nowMs: number, limit: number): FifoMessage[] {
  const taken: FifoMessage[] = [];
  for (const message of heads) {
    if (taken.length >= limit || message.leased || message.visible_at > nowMs) break;
    taken.push(message);
  }
  return taken;
}

/** A nack of some delivered messages: these, and every later delivered one, leave the hands of their consumers. */
export function returnedByNack(inFlight: readonly FifoMessage[], nacked: readonly bigint[]): FifoMessage[] {
  const first = nacked.reduce((min, seq) => (seq < min ? seq : min), nacked[0] as bigint);
  return inFlight.filter((message) => message.seq >= first);
}

export function inFlightOf(group: GroupRow, messages: readonly FifoMessage[]): FifoMessage[] {
  return messages
    .filter((message) => message.group_id === group.group_id && message.leased)
    .sort((a, b) => (a.seq < b.seq ? -1 : 1));
}
