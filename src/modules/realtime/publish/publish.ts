// The publish path shared by the native call and other wires: checks size limits that depend on settings, then enters the lane.

import { type ChargedAnswer, chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { CallContext } from '../../../kit/services.ts';
import { problem } from '../../../problems/problem.ts';
import { MESSAGE_BYTES } from '../limits.ts';
import type { RealtimeState } from '../state.ts';
import type { NewEvent } from './message.ts';

/** A larger effect would be written outside of the lane, where numbers do not follow the order of commits. */
const LANE_BYTES_MAX = 256 * 1024;

/**
 * Publishes the events, all or none. `paramOf`: where the data of an event stands in the request. Answers `{items: [{channel, message_id}]}`.
 * Throws PAYLOAD_TOO_LARGE, and what a lane refuses with.
 */
export function publishEvents(
  ctx: CallContext,
  { settings, publishing }: RealtimeState,
  events: readonly NewEvent[],
  paramOf: (index: number) => string,
): Promise<ChargedAnswer> {
  const sizes = events.map(({ data }) => Buffer.byteLength(data));
  const long = sizes.findIndex((bytes) => bytes > settings.messageBytesMax);
  if (long !== -1) {
    const message = `The data has ${sizes[long]} bytes; a message takes ${settings.messageBytesMax / 1024} KiB.`;
    throw problem('PAYLOAD_TOO_LARGE', { param: paramOf(long), message });
  }
  const rows = events.reduce((sum, { channels }) => sum + channels.length, 0);
  const bytes = sizes.reduce((sum, size) => sum + size, 0) + rows * MESSAGE_BYTES;
  return chargeInLane(ctx, {
    units: BigInt(rows),
    effect: publishing,
    input: events,
    sequences: rows,
    rows,
    bytes: Math.min(bytes, LANE_BYTES_MAX),
    waitingBytes: bytes,
  });
}
