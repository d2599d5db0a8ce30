// Storage of a call's events, whatever its protocol: creates day partitions, computes the price, charges.

import { chargeInLane } from '../../../core/wallet/charge/charge.ts';
import type { Answer } from '../../../kit/capability.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import type { ReadyEvents } from '../intake/ready-events.ts';
import type { AnalyticsState } from '../state.ts';
import { answerText } from './capture-effect.ts';

/** Events whose UUIDs and people take as long to write as a block. */
const EVENTS_PER_ROW = 20;

/** Charges and stores what is ready; what has no event is answered for nothing. */
export async function captureEvents(ctx: CallContext, state: AnalyticsState, ready: ReadyEvents): Promise<Answer> {
  const { records, parts, times, people } = ready;
  if (records === 0) return { data: new JsonText(answerText(ready, 0)), costNanos: 0n };
  await state.store.makeDays(times);
  const packed = (parts ?? []).flatMap(({ columns }) => [...columns.values()]);
  const ofPeople = people.reduce((sum, { set, setOnce }) => sum + (set?.length ?? 0) + (setOnce?.length ?? 0), 0);
  const ofEvents = packed.reduce((sum, { length }) => sum + length, ready.properties === null ? 0 : ready.bytes);
  const charge = chargeInLane(ctx, {
    units: BigInt(records),
    effect: state.capturing,
    input: ready,
    sequences: records,
    bytes: ofEvents + ofPeople + 32 * records,
    rows: (parts?.length ?? 1) + people.length + Math.ceil(records / EVENTS_PER_ROW),
  });
  return state.unpaid.watch(ctx, charge);
}
