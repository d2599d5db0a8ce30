// FIFO delivery as pure rules over locked rows: strict order per group; a group is blocked until every delivered message is acknowledged or
// returned. Of returned messages only the first of a group is known to have failed; those behind it return without a counted delivery.
import type { GroupRow, HeldMessage } from './store.ts';

/** A delivered message that goes back to its group. */
export interface Return {
  readonly message: HeldMessage;
  readonly availableMs: number;
  /** It comes back because an earlier one of its group does: this delivery does not count. */
  readonly isNeighbour: boolean;
}

export interface LapsedLeases {
  readonly returned: readonly Return[];
  /** Leases that still run and block the group. */
  readonly running: readonly HeldMessage[];
}

/**
 * Looks at the delivered messages of one group, in order. A lease that ends takes every later one of the group with it.
 * The leases are gone through in the order of their ends, so the answer is the same whenever it is asked for.
 */
export function lapsedLeases(inFlight: readonly HeldMessage[], nowMs: number): LapsedLeases {
  const returned: Return[] = [];
  let running = inFlight;
  for (;;) {
    const endedMs = Math.min(...running.map((message) => message.visible_at));
    if (endedMs > nowMs) return { returned, running };
    const failed = running.findIndex((message) => message.visible_at === endedMs);
    returned.push(...returnsOf(running.slice(failed), () => endedMs));
    running = running.slice(0, failed);
  }
}

/** Consecutive deliverable messages from the head; a delayed one holds everything behind it. */
export function deliverable(heads: readonly HeldMessage[], nowMs: number, limit: number): HeldMessage[] {
  const taken: HeldMessage[] = [];
  for (const message of heads) {
    if (taken.length >= limit || message.leased || message.visible_at > nowMs) break;
    taken.push(message);
  }
  return taken;
}

/** A nack of some delivered messages: the first of them, and every later delivered one, leave the hands of their consumers. */
export function returnedByNack(
  inFlight: readonly HeldMessage[],
  nacked: ReadonlySet<bigint>,
  { nowMs, delayMs }: { nowMs: number; delayMs: number },
): Return[] {
  const first = inFlight.findIndex((message) => nacked.has(message.seq));
  if (first === -1) return [];
  return returnsOf(inFlight.slice(first), (message) => nowMs + (nacked.has(message.seq) ? delayMs : 0));
}

function returnsOf(messages: readonly HeldMessage[], availableMs: (message: HeldMessage) => number): Return[] {
  return messages.map((message, i) => ({ message, availableMs: availableMs(message), isNeighbour: i > 0 }));
}

export function inFlightOf(group: GroupRow, messages: readonly HeldMessage[]): HeldMessage[] {
  return messages
    .filter((message) => message.group_id === group.group_id && message.leased)
    .sort((a, b) => (a.seq < b.seq ? -1 : 1));
}
