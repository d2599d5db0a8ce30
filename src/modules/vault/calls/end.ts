// The end of a call: its row in the log and its money are one commit. What may have reached the target is charged; what surely has not is given
// back.
import { releaseHold, settleHolds } from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import { rideOut } from '../../../db/ride-out.ts';
import type { Services } from '../../../kit/services.ts';
import { CALL } from '../limits.ts';
import { type CallEnd, saveCallEnd } from './store.ts';

/** What the idempotency key of a call answers whose outcome nobody knows: the target is not asked twice. */
export const LOST_ANSWER = '{"is_lost":true}';

export interface OpenHold {
  readonly accountId: string;
  readonly callId: string;
  readonly holdId: string;
  /** What is held. */
  readonly nanos: bigint;
}

/** `answer`: what the key of the call answers from now on, JSON text. */
export type Charged = CallEnd & { readonly isCharged: true; readonly answer: string };

export type Ended = Charged | (CallEnd & { readonly isCharged: false });

type EndServices = Pick<Services, 'db' | 'prices'>;

/** Unless another one has ended it. */
export function endCall(services: EndServices, open: OpenHold, ended: Ended): Promise<void> {
  const { accountId, callId, holdId } = open;
  if (ended.isCharged) return chargeCalls(services, accountId, [[open, ended]]);
  return rideOut(() =>
    services.db.transaction(async (tx) => {
      if (await saveCallEnd(tx, accountId, callId, ended)) await releaseHold(tx, accountId, holdId);
    }, accountId),
  );
}

/** Ends calls of one account that were made, in one commit. Those that another one has ended stay as they are. */
export function chargeCalls(
  { db, prices }: EndServices,
  accountId: string,
  ends: readonly (readonly [OpenHold, Charged])[],
): Promise<void> {
  return rideOut(() =>
    db.transaction(async (tx) => {
      const saved = await Promise.all(ends.map(([{ callId }, ended]) => saveCallEnd(tx, accountId, callId, ended)));
      const ours = ends.filter((_, i) => saved[i]);
      if (ours.length === 0) return;
      const captures = ours.map(([{ holdId, nanos }, { answer: text }]) => {
        const capture = { capturedNanos: nanos, units: 1n, priceVersion: prices.version, answer: { text } };
        return [holdId, capture] as const;
      });
      const [settled] = await Promise.all([
        settleHolds(tx, accountId, captures),
        countAccepted(tx, [{ accountId, capability: CALL, units: BigInt(ours.length) }]),
      ]);
      for (const [i, [{ callId }]] of ours.entries()) {
        if (settled[i]?.settledNow !== true)
          throw new Error(`the hold of ${callId} is ${settled[i]?.status ?? 'gone'}`);
      }
    }, accountId),
  );
}
