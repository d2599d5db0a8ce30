// Retention of received mail: 30 days. Its inbox counts what it holds, so rows and count change together.
import { mendEach, type Sweep } from '../../../core/background/sweeper/sweep.ts';
import { textArray } from '../../../db/arrays.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { RECEIVED_DAYS } from './limits.ts';
import { INBOUND } from './source.ts';

const PER_RUN = 1_000;

const findOld = statement(
  'email_find_old_received',
  `/* fan-out: received mail past its time, the oldest first */
   SELECT r.account_id, r.inbox_id, r.inbound_id FROM email.received r
    WHERE r.received_at <= core.clock_now() - interval '${RECEIVED_DAYS} days' ORDER BY r.received_at LIMIT $1`,
);
const lock = statement(
  'email_lock_inbox_of_old',
  'SELECT i.inbox_id FROM email.inbox i WHERE i.account_id = $1 AND i.inbox_id = $2 FOR UPDATE',
);
const remove = statement(
  'email_remove_old_received',
  `DELETE FROM email.received
    WHERE account_id = $1 AND inbox_id = $2 AND inbound_id = ANY($3::text[])
      AND received_at <= core.clock_now() - interval '${RECEIVED_DAYS} days'`,
);
const uncount = statement(
  'email_uncount_received',
  'UPDATE email.inbox SET message_count = message_count - $3 WHERE account_id = $1 AND inbox_id = $2',
);

interface OldMail {
  readonly account_id: string;
  readonly inbox_id: string;
  readonly inbound_id: string;
}

export function receivedSweeps(core: Services): Sweep[] {
  return [
    { name: 'email.received', intervalMs: 10 * 60_000, run: (signal) => removeOld(core, signal) },
    {
      // Sources in the asset store, also those whose rows went with their inbox or account.
      name: 'email.received_sources',
      intervalMs: HOUR_MS,
      run: (signal) =>
        core.assets.removeOld({ prefix: INBOUND, beforeMs: Date.now() - (RECEIVED_DAYS + 1) * DAY_MS }, signal),
    },
  ];
}

async function removeOld({ db }: Services, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<OldMail>(findOld, [PER_RUN]);
  const inboxes = [...Map.groupBy(rows, ({ account_id, inbox_id }) => `${account_id}\n${inbox_id}`).values()];
  const finished = await mendEach(inboxes, signal, async (mails) => {
    const { account_id: accountId, inbox_id: inboxId } = mails[0] as OldMail;
    await db.transaction(async (tx) => {
      await tx.query(lock, [accountId, inboxId]);
      const ids = textArray(mails.map(({ inbound_id }) => inbound_id));
      const { count } = await tx.query(remove, [accountId, inboxId, ids]);
      await tx.query(uncount, [accountId, inboxId, count]);
    });
  });
  return finished && rows.length === PER_RUN;
}
