// Hourly charge for stored bytes, to the byte and the millisecond. A remainder below one nano-USD carries over to the next hour.
import { dueTable } from '../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { openTurn } from '../../core/background/turns.ts';
import { chargeWork } from '../../core/wallet/charge/charge-work.ts';
import { countAccepted } from '../../core/wallet/ledger/accepted-units.ts';
import { openWallet } from '../../core/wallet/open-wallet.ts';
import { textArray } from '../../db/arrays.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Services } from '../../kit/services.ts';
import { DAY_MS } from '../../lib/time.ts';
import { HELD_WORK, type HeldRow, heldUntil, readHeld, saveHeld } from '../../objects/held.ts';
import { BYTE_MS_PER_NANO, HELD_PRICE, HOUR_MS } from '../../objects/limits.ts';
import { removeObjects } from '../../objects/remove.ts';
import type { StorageSettings } from './settings.ts';

const LEASE_MS = 30_000;
/** An hour that was not paid is tried again so soon. */
const UNPAID_AGAIN_MS = 60_000;

const due = dueTable({ table: 'storage.held', key: 'held_id', leaseMs: LEASE_MS });

const REMOVED_AT_ONCE = 500;
const selectSome = statement(
  'storage_select_some_objects',
  `SELECT o.bucket, o.key FROM storage.object o WHERE o.account_id = $1 ORDER BY o.bucket, o.key LIMIT ${REMOVED_AT_ONCE}`,
);

/** The loop of one process. */
export function heldLoop(core: Services, { debtDays }: StorageSettings): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: HELD_WORK,
    places: 4,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job) => chargeHeld(core, job.accountId, debtDays),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

/**
 * Charges what was held up to now. Whoever comes second finds nothing that is not charged. `debtDays`: what was not paid for so long is deleted, some
 * objects each time; 0: nothing is.
 */
export function chargeHeld({ db, prices }: Services, accountId: string, debtDays = 0): Promise<void> {
  return db.transaction(async (tx) => {
    const opened = await openWallet(tx, accountId);
    const row = (await readHeld(tx, textArray([accountId]))).get(accountId);
    if (opened === null || row === undefined) return;
    const { nowMs } = opened;
    const until = heldUntil(row, nowMs);
    const units = until.byte_ms / BYTE_MS_PER_NANO;
    const work = { capability: HELD_PRICE, keyId: row.key_id, units, isUncapped: true };
    const verdict = units === 0n ? null : (await chargeWork(tx, opened, prices, [work]))[0];
    const after =
      verdict === null || verdict?.charged === true ? paidRow(until, units, nowMs) : unpaidRow(until, nowMs);
    await saveHeld(tx, [after]);
    if (after.unpaid_since === null) await countAccepted(tx, [{ accountId, capability: HELD_PRICE, units }]);
    const isOverdue = debtDays > 0 && after.unpaid_since !== null && nowMs - after.unpaid_since > debtDays * DAY_MS;
    if (isOverdue) await removeSome(tx, accountId, nowMs);
    if (after.due_at !== null) await openTurn(tx, accountId, HELD_WORK, after.due_at, { later: true });
  }, accountId);
}

async function removeSome(tx: Transaction, accountId: string, nowMs: number): Promise<void> {
  const { rows } = await tx.query<{ bucket: string; key: Buffer }>(selectSome, [accountId]);
  for (const [bucket, objects] of Map.groupBy(rows, (row) => row.bucket)) {
    await removeObjects(tx, { accountId, bucket, keys: objects.map(({ key }) => key), keyId: null }, nowMs);
  }
}

function paidRow(row: HeldRow, units: bigint, nowMs: number): HeldRow {
  const byte_ms = row.byte_ms - units * BYTE_MS_PER_NANO;
  return { ...row, byte_ms, unpaid_since: null, due_at: row.bytes === 0n ? null : nowMs + HOUR_MS };
}

function unpaidRow(row: HeldRow, nowMs: number): HeldRow {
  return { ...row, unpaid_since: row.unpaid_since ?? nowMs, due_at: nowMs + UNPAID_AGAIN_MS };
}
