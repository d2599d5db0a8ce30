// Removal of mails and bounces past retention, and of contents in the asset store that no mail names.
import { mendEach, removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { textArray } from '../../db/arrays.ts';
import { statement } from '../../db/statement.ts';
import type { Services } from '../../kit/services.ts';
import { HOUR_MS } from '../../lib/time.ts';
import { BOUNCE_DAYS, KEEP_DAYS } from './limits.ts';
import { SOURCES, sourceKey } from './messages/source.ts';
import { findMessage } from './messages/store.ts';

const PER_RUN = 500;

const findOld = statement(
  'email_find_old_messages',
  `/* fan-out: mails past their time */
   SELECT m.account_id, m.email_id, m.source_stored FROM email.message m
    WHERE m.due_at IS NULL AND m.created_at <= core.clock_now() - interval '${KEEP_DAYS} days' ORDER BY m.created_at LIMIT $1`,
);
const removeRecipients = statement(
  'email_remove_recipients',
  `DELETE FROM email.recipient WHERE account_id = $1 AND email_id = ANY($2::text[])`,
);
const removeMessages = statement(
  'email_remove_messages',
  `DELETE FROM email.message WHERE account_id = $1 AND email_id = ANY($2::text[]) AND due_at IS NULL`,
);
const findBounces = statement(
  'email_find_old_bounces',
  `/* fan-out: bounces that count no more */
   SELECT b.account_id, b.address, b.email_id FROM email.bounce b
    WHERE b.bounced_at <= core.clock_now() - interval '${BOUNCE_DAYS} days' ORDER BY b.bounced_at LIMIT $1`,
);
const removeBounces = statement(
  'email_remove_old_bounces',
  `DELETE FROM email.bounce AS b USING unnest($2::text[], $3::text[]) u(address, email_id)
    WHERE b.account_id = $1 AND b.address = u.address AND b.email_id = u.email_id`,
);

export function emailSweeps(core: Services): Sweep[] {
  const from = { after: '' };
  return [
    { name: 'email.messages', intervalMs: 600_000, run: (signal) => removeMails(core, signal) },
    {
      name: 'email.bounces',
      intervalMs: HOUR_MS,
      run: removeOldRows<{ account_id: string; address: string; email_id: string }>(core.db, {
        find: findBounces,
        remove: removeBounces,
        keys: (rows) => [
          textArray(rows.map(({ address }) => address)),
          textArray(rows.map(({ email_id }) => email_id)),
        ],
      }),
    },
    { name: 'email.orphans', intervalMs: HOUR_MS, run: (signal) => removeOrphans(core, from, signal) },
  ];
}

interface OldMail {
  readonly account_id: string;
  readonly email_id: string;
  readonly source_stored: boolean;
}

async function removeMails({ db, assets }: Services, signal: AbortSignal): Promise<boolean> {
  const { rows } = await db.query<OldMail>(findOld, [PER_RUN]);
  const accounts = [...Map.groupBy(rows, ({ account_id }) => account_id)];
  const finished = await mendEach(accounts, signal, async ([accountId, mails]) => {
    for (const { email_id } of mails.filter((mail) => mail.source_stored))
      await assets.remove(sourceKey(accountId, email_id));
    const ids = textArray(mails.map(({ email_id }) => email_id));
    await db.transaction(async (tx) => {
      await Promise.all([tx.query(removeRecipients, [accountId, ids]), tx.query(removeMessages, [accountId, ids])]);
    });
  });
  return finished && rows.length === PER_RUN;
}

/** What a process that died has put there for a mail that never began. */
function removeOrphans({ assets, db }: Services, from: { after: string }, signal: AbortSignal): Promise<boolean> {
  const isNamed = async (key: string) => {
    const [accountId = '', emailId = ''] = key.slice(SOURCES.length).split('/');
    return (await findMessage(db, accountId, emailId)) !== null;
  };
  return assets.removeOrphans({ prefix: SOURCES, beforeMs: Date.now() - HOUR_MS, from, isNamed }, signal);
}
