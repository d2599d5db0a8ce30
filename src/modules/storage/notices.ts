// Object notifications to queues. Each is written in the commit of its change, and published as one message of the account's queue. A notice is
// dropped if the queue refuses it for good, or after 300 attempts.
import { dueTable } from '../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { statement } from '../../db/statement.ts';
import type { Services } from '../../kit/services.ts';
import { JsonText } from '../../lib/json-text.ts';
import { NOTICE_WORK } from '../../objects/changes.ts';
import { Problem } from '../../problems/problem.ts';

const LEASE_MS = 30_000;
/** With pauses of up to a quarter of an hour: some three days. */
const ATTEMPTS_MAX = 300;
/** What waiting does not mend. */
const IN_VAIN: ReadonlySet<string> = new Set([
  'QUEUE_NOT_FOUND',
  'VALIDATION_FAILED',
  'MESSAGE_TOO_LARGE',
  'NOT_FOUND',
  'INVALID_API_KEY',
]);

const due = dueTable({ table: 'storage.notice', key: 'notice_id', leaseMs: LEASE_MS });
const selectNotice = statement(
  'storage_select_notice',
  'SELECT n.queue, n.payload, n.key_id FROM storage.notice n WHERE n.account_id = $1 AND n.notice_id = $2',
);
const deleteNotice = statement(
  'storage_delete_notice',
  'DELETE FROM storage.notice WHERE account_id = $1 AND notice_id = $2',
);

/** The loop of one process. */
export function noticeLoop(core: Services): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: NOTICE_WORK,
    places: 16,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job) => publish(core, job),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

/** A repeat after a crash has the same idempotency key. Throws what a later attempt may mend. */
async function publish({ db, calls, log }: Services, { accountId, id, attempt }: LeasedJob): Promise<void> {
  const { rows } = await db.query<{ queue: string; payload: string; key_id: string }>(selectNotice, [accountId, id]);
  const [notice] = rows;
  if (notice === undefined) return;
  const { queue, payload, key_id: bookedUnder } = notice;
  const input = { queue, payload: new JsonText(payload) };
  try {
    await calls.make(accountId, { capability: 'queue.publish', input, idempotencyKey: id, bookedUnder });
  } catch (error) {
    if (!(error instanceof Problem) || !(IN_VAIN.has(error.code) || attempt >= ATTEMPTS_MAX)) throw error;
    log.warn({ accountId, queue, code: error.code }, 'a queue was not told of an object');
  }
  await db.query(deleteNotice, [accountId, id]);
}
