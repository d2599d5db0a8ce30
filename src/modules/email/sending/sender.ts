// Attempts to send, as background work and in the call that ordered the mail. A claim is a lease on the mail. Mail for busy relays is not
// claimed, so that mail for one never waits behind mail for another.
import { dueWork, type LeasedJob, type Wanted } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import type { IdempotencyKey } from '../../../core/callers/idempotency-key.ts';
import { textArray } from '../../../db/arrays.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { domainStanding } from '../domains/may-send.ts';
import { ATTEMPTS_AT_ONCE, ATTEMPTS_PER_CLAIM, COMPOSE_HERE_BYTES_MAX, LEASE_MS, SENDING } from '../limits.ts';
import { isPending, type MessageRow } from '../messages/row.ts';
import { readSource } from '../messages/source.ts';
import { findMessage, recipientsOf } from '../messages/store.ts';
import { type Attempted, attemptToSend, type SendingHost } from './attempt.ts';
import { maySend } from './marks.ts';
import type { Result } from './outcome.ts';

const BUSY_MS = 500;

const claimDue = statement(
  'email_claim_due',
  `WITH c AS MATERIALIZED (
     SELECT m.email_id, core.clock_now() + $5 * interval '1 millisecond' AS lease_end
       FROM email.message m
      WHERE m.account_id = $1 AND m.due_at <= core.clock_now() AND m.email_id <> ALL($3::text[]) AND m.vendor <> ALL($4::text[])
      ORDER BY m.due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   UPDATE email.message AS m SET due_at = c.lease_end, attempt = m.attempt + 1
     FROM c WHERE m.account_id = $1 AND m.email_id = c.email_id
   RETURNING m.email_id AS id, m.attempt AS attempt`,
);
const nextDue = statement(
  'email_next_due',
  `SELECT m.due_at, core.clock_now() AS now FROM email.message m
    WHERE m.account_id = $1 AND m.due_at IS NOT NULL ORDER BY m.due_at LIMIT 1`,
);
const putBack = statement(
  'email_put_back',
  `UPDATE email.message SET due_at = $4 WHERE account_id = $1 AND email_id = $2 AND attempt = $3 AND due_at IS NOT NULL`,
);

export function sendingLoop(host: SendingHost): JobLoop {
  const { perSecond } = host.settings;
  return dueWork<LeasedJob>(host.core, {
    name: SENDING,
    // What waits for its turn of a second would else outlast its lease.
    places: perSecond === 0 ? ATTEMPTS_AT_ONCE : Math.min(ATTEMPTS_AT_ONCE, perSecond * 10),
    perClaim: ATTEMPTS_PER_CLAIM,
    claim: (tx, accountId, wanted) => claim(tx, accountId, wanted, host.relays.busy),
    async run(job, signal) {
      await makeAttempt(host, job, signal, null);
    },
    async putBack(tx, { accountId, id, attempt }, dueMs) {
      await tx.query(putBack, [accountId, id, attempt, timestamp(dueMs)]);
    },
  });
}

async function claim(tx: Transaction, accountId: string, { limit, underWay }: Wanted, busy: readonly string[]) {
  const [claimed, left] = await Promise.all([
    tx.query<{ id: string; attempt: number }>(claimDue, [
      accountId,
      limit,
      textArray(underWay),
      textArray(busy),
      LEASE_MS,
    ]),
    tx.query<{ due_at: number; now: number }>(nextDue, [accountId]),
  ]);
  const jobs = claimed.rows.map((row) => ({ accountId, ...row }));
  const [next] = left.rows;
  if (next === undefined) return { jobs, nextMs: null };
  // What is due and was not claimed waits for a busy relay, or for a place here.
  const isLeft = jobs.length < limit && next.due_at <= next.now;
  return { jobs, nextMs: isLeft ? next.now + BUSY_MS : next.due_at };
}

export interface Waiter {
  readonly key: IdempotencyKey | null;
}

/** `waiter`: the call that waits for it. `stop`: nothing is handed over any more once it is aborted. Null: another attempt has the mail, or it is over. */
export async function makeAttempt(
  host: SendingHost,
  { accountId, id: emailId, attempt }: LeasedJob,
  stop: AbortSignal | null,
  waiter: Waiter | null,
): Promise<Attempted | null> {
  const { core } = host;
  const [row, recipients] = await Promise.all([
    findMessage(core.db, accountId, emailId),
    recipientsOf(core.db, accountId, [emailId]),
  ]);
  if (row === null || row.due_at === null) return null;
  let left = recipients.get(emailId) ?? [];
  const lost = left.filter((one) => one.sending && isPending(one.status));
  if (lost.length > 0) {
    const detail =
      'The process that handed the mail over died before the relay answered. It is not sent again by itself.';
    const results = lost.map(({ number }) => ({ number, status: 'indeterminate' as const, code: null, detail }));
    const written = await host.outcomes.write(accountId, { emailId, results, from: 'pending', attempt });
    left = written?.recipients ?? [];
    if (!left.some(({ status }) => isPending(status))) return null;
  }
  const refused = waiter === null ? await whyNot(host, row) : null;
  if (refused !== null) {
    const results = left
      .filter(({ status }) => isPending(status))
      .map(({ number }) => ({ number, code: null, ...refused }));
    await host.outcomes.write(accountId, { emailId, results, from: 'pending', attempt });
    return null;
  }
  const send = async () => {
    const packed = await readSource(core, row);
    const waits = waiter !== null;
    return attemptToSend(host, { row, recipients: left, packed, attempt, waits, key: waiter?.key ?? null }, stop);
  };
  // Each holds some three times its bytes.
  return row.source_bytes > COMPOSE_HERE_BYTES_MAX ? host.longMails.run(accountId, null, send) : send();
}

/** What was right when the mail was accepted may not be so when it is sent. Null: it may go. */
async function whyNot(
  { core, settings }: SendingHost,
  row: MessageRow,
): Promise<Pick<Result, 'status' | 'detail'> | null> {
  const { account_id: accountId, from_domain: domain, captured } = row;
  if (!(await maySend(core.db, accountId))) return { status: 'cancelled', detail: 'The account is suspended.' };
  const standing = await domainStanding(core.db, accountId, domain, settings);
  if (standing === 'verified' || standing === 'trusted' || (standing === 'reserved' && captured)) return null;
  return { status: 'failed', detail: `${domain} is not verified any more.` };
}
