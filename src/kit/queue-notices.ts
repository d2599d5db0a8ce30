// What a module tells a queue of its account. A notice is written in the commit of what it tells, and published as one message. It is dropped if
// the queue refuses it for good, or after 300 attempts. Its table has notice_id, queue, payload, key_id, due_at and attempt.
import { dueTable } from '../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../core/background/due-work.ts';
import type { JobLoop } from '../core/background/job-loop.ts';
import { statement } from '../db/statement.ts';
import { JsonText } from '../lib/json-text.ts';
import { Problem } from '../problems/problem.ts';
import type { Services } from './services.ts';

const LEASE_MS = 30_000;
/** With pauses of up to a quarter of an hour: some three days. */
const ATTEMPTS_MAX = 300;
const PLACES = 16;
/** What waiting does not mend. */
const IN_VAIN: ReadonlySet<string> = new Set([
  'QUEUE_NOT_FOUND',
  'VALIDATION_FAILED',
  'MESSAGE_TOO_LARGE',
  'NOT_FOUND',
  'INVALID_API_KEY',
]);

export interface NoticeShape {
  /** With its schema: `storage.notice`. */
  readonly table: string;
  /** Of the background work: whoever writes a notice opens a turn of it. */
  readonly work: string;
}

/** The loop of one process. `shape`: called once, at import. */
export function queueNotices({ table, work }: NoticeShape): (core: Services) => JobLoop {
  const due = dueTable({ table, key: 'notice_id', leaseMs: LEASE_MS });
  const name = (what: string) => `kit_${table.replace('.', '_')}_${what}`;
  const select = statement(
    name('select'),
    `SELECT n.queue, n.payload, n.key_id FROM ${table} n WHERE n.account_id = $1 AND n.notice_id = $2`,
  );
  const remove = statement(name('delete'), `DELETE FROM ${table} WHERE account_id = $1 AND notice_id = $2`);

  /** A repeat after a crash has the same idempotency key. Throws what a later attempt may mend. */
  async function publish({ db, calls, log }: Services, { accountId, id, attempt }: LeasedJob): Promise<void> {
    const { rows } = await db.query<{ queue: string; payload: string; key_id: string }>(select, [accountId, id]);
    const [notice] = rows;
    if (notice === undefined) return;
    const { queue, payload, key_id: bookedUnder } = notice;
    const input = { queue, payload: new JsonText(payload) };
    try {
      await calls.make(accountId, { capability: 'queue.publish', input, idempotencyKey: id, bookedUnder });
    } catch (error) {
      if (!(error instanceof Problem) || !(IN_VAIN.has(error.code) || attempt >= ATTEMPTS_MAX)) throw error;
      log.warn({ accountId, queue, code: error.code, work }, 'a queue was not told');
    }
    await db.query(remove, [accountId, id]);
  }

  return (core) =>
    dueWork<LeasedJob>(core, {
      name: work,
      places: PLACES,
      claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
      run: (job) => publish(core, job),
      putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
    });
}
