// Background steps of messages: recovery of messages whose process died, and receipts of the sandbox.
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import type { Transaction } from '../../../db/database.ts';
import { sandboxReceipt } from '../carriers/sandbox.ts';
import { SMS_WORK, STEPS_AT_ONCE } from '../limits.ts';
import { VERIFY_START, verificationIdOf, verificationRecord } from '../verify/row.ts';
import { verificationTable } from '../verify/store.ts';
import { sealedText } from './compose.ts';
import { type HandOverHost, handOver } from './hand-over.ts';
import { saveHandOver } from './outcome.ts';
import { takeReceipt } from './receipts.ts';
import { chainOf, type MessageRow, smsRecord } from './row.ts';
import { messageDue, messageTable } from './store.ts';

export function messageLoop(host: HandOverHost): JobLoop {
  const { core } = host;
  return dueWork<LeasedJob>(core, {
    name: SMS_WORK,
    places: STEPS_AT_ONCE,
    claim: (tx, accountId, wanted) => messageDue.claim(tx, accountId, wanted),
    run: (job, signal) => step(host, job, signal),
    async putBack(tx, job, dueMs) {
      await messageDue.setDue(tx, job, dueMs);
      await openTurn(tx, job.accountId, SMS_WORK, dueMs);
    },
  });
}

async function step(host: HandOverHost, { accountId, id, attempt }: LeasedJob, signal: AbortSignal): Promise<void> {
  const { core } = host;
  const row = await messageTable.find(core.db, { accountId }, id);
  if (row === null || row.attempt !== attempt) return;
  if (row.status === 'sent') await takeReceipt(core, accountId, id, sandboxReceipt(row.to_number));
  if (row.status !== 'queued') return;
  const came = row.sending
    ? ({ kind: 'unknown', link: linkAtWork(row), failover: null } as const)
    : await handOver(host, row, sealedText(core.secrets, row), signal);
  await saveHandOver(core, row, came, answerOfCall);
}

/** What the call would have answered. */
async function answerOfCall(tx: Transaction, row: MessageRow) {
  if (row.capability !== VERIFY_START) return smsRecord(row);
  const found = await verificationTable.find(tx, { accountId: row.account_id }, verificationIdOf(row.sms_id));
  return found === null ? smsRecord(row) : verificationRecord(found);
}

/** The carrier that may have it. */
function linkAtWork(row: MessageRow) {
  const chain = chainOf(row);
  return chain.find(({ vendor, from }) => vendor === row.vendor && from === row.from_number) ?? chain[0];
}
