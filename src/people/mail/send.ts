// Sends mail through the configured server, with growing pauses after failures. Without a server, mail stays in the outbox, and is logged
// where the service serves only this machine. A mail may be sent twice, but never changed, and never after a day.

import { JobLoop } from '../../core/background/job-loop.ts';
import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import type { Core } from '../../core/core.ts';
import { clockNow } from '../../core/database-clock.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { type Backoff, backoffMs } from '../../lib/backoff.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/time.ts';
import type { Mail } from '../../vendors/mail/port.ts';
import type { PeoplePart } from '../terms.ts';
import { deleteMailBefore, MAIL_HINT } from './mail.ts';

const AT_ONCE = 4;
const INTERVAL_MS = 1_000;
// Longer than a server may take to answer.
const LEASE_MS = 2 * MINUTE_MS;
const BACKOFF: Backoff = { firstMs: 5_000, maxMs: 15 * MINUTE_MS };

const findDue = statement(
  'mail_find_due',
  `SELECT m.mail_id, m.attempt, m.recipient, m.subject, m.body_text, m.body_html
     FROM core.mail m
    WHERE m.due_at <= core.clock_now()
    ORDER BY m.due_at
    LIMIT $1`,
);
const leaseMail = statement(
  'mail_lease',
  'UPDATE core.mail SET due_at = $3, attempt = attempt + 1 WHERE mail_id = $1 AND attempt = $2 AND due_at IS NOT NULL',
);
const putOff = statement(
  'mail_put_off',
  'UPDATE core.mail SET due_at = $3 WHERE mail_id = $1 AND attempt = $2 AND due_at IS NOT NULL',
);
const deleteSent = statement('mail_delete_sent', 'DELETE FROM core.mail WHERE mail_id = $1');

interface DueRow {
  readonly mail_id: string;
  readonly attempt: number;
  readonly recipient: string;
  readonly subject: string;
  readonly body_text: string;
  readonly body_html: string;
}

interface DueMail extends Mail {
  /** The number of the attempt that holds the lease. */
  readonly attempt: number;
}

type MailCore = Pick<Core, 'db' | 'log' | 'baseUrl'> & Pick<PeoplePart, 'mailServer'>;

/** The loop of one process. */
export function mailSending(core: MailCore, intervalMs = INTERVAL_MS): JobLoop<DueMail> {
  const loop = new JobLoop<DueMail>({
    name: 'mail',
    log: core.log,
    concurrency: AT_ONCE,
    intervalMs,
    take: (room) => leaseDue(core.db, room),
    run: (mail) => send(core, mail),
    onStop: async () => deafen(),
  });
  const deafen = core.db.onHint(MAIL_HINT, () => loop.wake());
  return loop;
}

export function mailRetention(db: Database): Sweep {
  return {
    name: 'mail.retention',
    intervalMs: MINUTE_MS,
    run: async () => {
      await deleteMailBefore(db, (await clockNow(db)) - DAY_MS);
      return false;
    },
  };
}

/** Of several processes that see a mail due, the one whose attempt counts has it. */
async function leaseDue(db: Database, limit: number): Promise<DueMail[]> {
  const [{ rows }, nowMs] = await Promise.all([db.query<DueRow>(findDue, [limit]), clockNow(db)]);
  const leased = await Promise.all(
    rows.map(async (row) => {
      const { count } = await db.query(leaseMail, [row.mail_id, row.attempt, timestamp(nowMs + LEASE_MS)]);
      return count === 1 ? [mailOf(row)] : [];
    }),
  );
  return leased.flat();
}

function mailOf({ mail_id: id, attempt, recipient: to, subject, body_text: text, body_html: html }: DueRow): DueMail {
  return { id, to, subject, text, html, attempt: attempt + 1 };
}

async function send(core: MailCore, mail: DueMail): Promise<void> {
  const { db, mailServer } = core;
  if (mailServer === null) return keep(core, mail);
  try {
    if ((await mailServer.send(mail)) === 'sent') await db.query(deleteSent, [mail.id]);
    else await recordRefusal(core, mail);
  } catch (error) {
    const pauseMs = backoffMs(BACKOFF, mail.attempt);
    await db.query(putOff, [mail.id, mail.attempt, timestamp((await clockNow(db)) + pauseMs)]);
    throw error;
  }
}

async function keep({ db, log, baseUrl }: MailCore, { id, attempt, to, subject, text }: DueMail): Promise<void> {
  if (isLoopback(new URL(baseUrl).hostname)) log.info({ to, subject, text }, 'mail that stands in the outbox');
  await db.query(putOff, [id, attempt, null]);
}

async function recordRefusal({ db, log }: MailCore, { id, attempt }: DueMail): Promise<void> {
  log.warn({ mail: id }, 'the mail server will not take a mail');
  await db.query(putOff, [id, attempt, null]);
}
