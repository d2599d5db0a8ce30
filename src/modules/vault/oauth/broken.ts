// A connection whose tokens cannot be refreshed any more: its status, the message to its queue and the event are one commit.
import { openTurn } from '../../../core/background/turns.ts';
import { lockAccount } from '../../../core/callers/lock.ts';
import { rideOut } from '../../../db/ride-out.ts';
import { tellEvent } from '../../../kit/event-kind.ts';
import { queueNotices } from '../../../kit/queue-notices.ts';
import type { Services } from '../../../kit/services.ts';
import { newId } from '../../../lib/ids.ts';
import { iso } from '../../../lib/time.ts';
import { NOTICES } from '../limits.ts';
import { connectionBroken } from './broken-event.ts';
import { breakConnection, type Named, sendNotice } from './refresh-store.ts';

export const noticeLoop = queueNotices({ table: 'vault.notice', work: NOTICES });

export interface Refused {
  /** Of the lease under which it was asked. */
  readonly number: bigint;
  /** The sealed pair that was sent. */
  readonly used: Buffer;
  readonly reason: string;
}

/** Whether it is broken now by this. No pair is deleted. */
export function breakBy(
  { db }: Pick<Services, 'db'>,
  named: Named,
  { number, used, reason }: Refused,
): Promise<boolean> {
  const { accountId, connection } = named;
  return rideOut(() =>
    db.transaction(async (tx) => {
      const nowMs = await lockAccount(tx, accountId);
      if (nowMs === null) return false;
      const broken = await breakConnection(tx, named, { number, used, reason, nowMs });
      if (broken === null) return false;
      const object = { connection, reason, at: iso(nowMs) };
      tellEvent(tx, connectionBroken, { accountId, requestId: null }, { object }, nowMs);
      if (broken.notify_queue !== null) {
        const payload = JSON.stringify({ type: connectionBroken.type, ...object });
        const keyId = broken.last_used_by ?? accountId;
        sendNotice(tx, accountId, {
          noticeId: newId('vno_', nowMs),
          queue: broken.notify_queue,
          payload,
          keyId,
          dueMs: nowMs,
        });
        await openTurn(tx, accountId, NOTICES, nowMs);
      }
      return true;
    }),
  );
}
