// The end of a call: its row in the log and its money are one commit. What may have reached the target is charged; what surely has not is given
// back.
import { releaseHold, settleHold } from '../../../core/wallet/holds/settle-hold.ts';
import { countAccepted } from '../../../core/wallet/ledger/accepted-units.ts';
import type { Transaction } from '../../../db/database.ts';
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

export type Ended =
  /** `answer`: what the key of the call answers from now on, JSON text. */
  (CallEnd & { readonly isCharged: true; readonly answer: string }) | (CallEnd & { readonly isCharged: false });

type EndServices = Pick<Services, 'db' | 'prices'>;

/** False: another one has ended it. */
export function endCall(services: EndServices, open: OpenHold, ended: Ended): Promise<boolean> {
  return rideOut(() => services.db.transaction((tx) => endIn(tx, services, open, ended)));
}

/** Several calls of one account in one commit. */
export function endCalls(services: EndServices, ends: readonly (readonly [OpenHold, Ended])[]): Promise<void> {
  return rideOut(() =>
    services.db.transaction(async (tx) => {
      for (const [open, ended] of ends) await endIn(tx, services, open, ended);
    }),
  );
}

async function endIn(tx: Transaction, { prices }: EndServices, open: OpenHold, ended: Ended): Promise<boolean> {
  const { accountId, callId, holdId, nanos } = open;
  if (!(await saveCallEnd(tx, accountId, callId, ended))) return false;
  if (!ended.isCharged) {
    await releaseHold(tx, accountId, holdId);
    return true;
  }
  await countAccepted(tx, [{ accountId, capability: CALL, units: 1n }]);
  const settled = await settleHold(tx, accountId, holdId, {
    capturedNanos: nanos,
    units: 1n,
    priceVersion: prices.version,
    answer: { text: ended.answer },
  });
  if (settled?.settledNow !== true) throw new Error(`the hold of ${callId} is ${settled?.status ?? 'gone'}`);
  return true;
}
