// Queue messages for the mail of an inbox with a queue. Each mail is published as a call of the account, at the price of queue.publish. If that
// cannot be paid, or the queue is gone, the mail stays in its inbox alone.

import { dueTable } from '../../../core/background/due-table.ts';
import { type DueWork, dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { statement } from '../../../db/statement.ts';
import type { Services } from '../../../kit/services.ts';
import { Problem } from '../../../problems/problem.ts';
import { QUEUEING } from './limits.ts';

const table = dueTable({ table: 'email.received', key: 'inbound_id', leaseMs: 60_000 });

interface QueuedMail {
  readonly inbox_id: string;
  readonly from_header: string;
  readonly subject: string;
  readonly queue: string | null;
}

const find = statement(
  'email_find_queued_mail',
  `SELECT r.inbox_id, r.from_header, r.subject, i.queue
     FROM email.received r JOIN email.inbox i ON i.account_id = $1 AND i.inbox_id = r.inbox_id
    WHERE r.account_id = $1 AND r.inbound_id = $2`,
);

/** Failures that a later try would meet again. */
const FINAL = new Set([
  'INSUFFICIENT_CREDIT',
  'QUEUE_NOT_FOUND',
  'ACCOUNT_SUSPENDED',
  'NOT_FOUND',
  'PAYLOAD_TOO_LARGE',
]);

export function queueMessages(core: Services): JobLoop {
  return dueWork(core, workOf(core));
}

function workOf(core: Services): DueWork<LeasedJob> {
  return {
    name: QUEUEING,
    places: 8,
    claim: table.claim,
    putBack: table.setDue,
    async run(job) {
      const { rows } = await core.db.query<QueuedMail>(find, [job.accountId, job.id]);
      const mail = rows[0];
      if (mail?.queue !== undefined && mail.queue !== null) await publish(core, job, mail, mail.queue);
      await table.setDue(core.db, job, null);
    },
  };
}

async function publish(
  { calls }: Services,
  { accountId, id }: LeasedJob,
  mail: QueuedMail,
  queue: string,
): Promise<void> {
  const payload = { inbound_id: id, inbox_id: mail.inbox_id, from: mail.from_header, subject: mail.subject };
  const input = { queue, payload };
  try {
    await calls.make(accountId, { capability: 'queue.publish', input, idempotencyKey: id, bookedUnder: mail.inbox_id });
  } catch (error) {
    if (!(error instanceof Problem) || !FINAL.has(error.code)) throw error;
  }
}
