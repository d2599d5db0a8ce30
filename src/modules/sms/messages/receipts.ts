// Carrier reports: receipts and inbound messages. A receipt may arrive before the hand-over is stored.
import { setTimeout as sleep } from 'node:timers/promises';
import { clockNow } from '../../../core/database-clock.ts';
import type { Services } from '../../../kit/services.ts';
import type { CarrierListener, Receipt } from '../carriers/port.ts';
import { takeInbound } from './inbound.ts';
import { tell } from './outcome.ts';
import { findPartOf, lockMessage, savePartEnd, saveReceipt } from './store.ts';

/** How long a receipt waits for its message, looked for so often. */
const WAIT_MS = 3_000;
const LOOK_MS = 100;

/** Ends a message that was sent. False: there is none, or it is not sent yet. A repeated receipt changes nothing. */
export function takeReceipt(core: Services, accountId: string, smsId: string, receipt: Receipt): Promise<boolean> {
  return core.db.transaction(async (tx) => {
    const row = await lockMessage(tx, accountId, smsId);
    if (row === null || row.status === 'queued') return false;
    const nowMs = await clockNow(tx);
    const after = await saveReceipt(tx, row, receipt, nowMs);
    if (after !== null) tell(tx, after, receipt.status === 'delivered' ? 'sms.delivered' : 'sms.failed', nowMs, null);
    return true;
  });
}

export function carrierListener(core: Services): CarrierListener {
  return {
    receipt: (accountId, smsId, receipt) => patiently(() => takeReceipt(core, accountId, smsId, receipt)),
    receiptOf: (vendor, references, receipt) => patiently(() => takePartReceipt(core, vendor, references, receipt)),
    inbound: (vendor, message) => takeInbound(core, vendor, message),
  };
}

/** A message fails with its first part, and is delivered with its last. */
async function takePartReceipt(
  core: Services,
  vendor: string,
  references: readonly string[],
  receipt: Receipt,
): Promise<boolean> {
  const part = await findPartOf(core.db, vendor, references);
  if (part === null) return false;
  const { account_id: accountId, sms_id: smsId } = part;
  return core.db.transaction(async (tx) => {
    // Receipts of parts of one message come one after the other.
    const row = await lockMessage(tx, accountId, smsId);
    if (row === null) return true;
    const open = await savePartEnd(tx, part, receipt.status);
    if (receipt.status === 'delivered' && open > 0) return true;
    const nowMs = await clockNow(tx);
    const after = await saveReceipt(tx, row, receipt, nowMs);
    if (after !== null) tell(tx, after, receipt.status === 'delivered' ? 'sms.delivered' : 'sms.failed', nowMs, null);
    return true;
  });
}

async function patiently(take: () => Promise<boolean>): Promise<boolean> {
  const untilMs = performance.now() + WAIT_MS;
  for (;;) {
    if (await take()) return true;
    if (performance.now() >= untilMs) return false;
    await sleep(LOOK_MS);
  }
}
