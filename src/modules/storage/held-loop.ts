// What is held is charged by the hour, to the byte and the millisecond; what does not make a whole nano-USD waits for the next hour.
import { dueTable } from '../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { openTurn } from '../../core/background/turns.ts';
import type { Core } from '../../core/context.ts';
import { HELD_WORK, type HeldRow, heldUntil, readHeld, saveHeld } from '../../core/objects/held.ts';
import { BYTE_MS_PER_NANO, HELD_PRICE, HOUR_MS } from '../../core/objects/limits.ts';
import { chargeWork } from '../../core/wallet/charge/charge-work.ts';
import { countAccepted } from '../../core/wallet/ledger/accepted-units.ts';
import { openWallet } from '../../core/wallet/open-wallet.ts';
import { textArray } from '../../db/arrays.ts';

const LEASE_MS = 30_000;
/** An hour that was not paid is tried again so soon. */
const UNPAID_AGAIN_MS = 60_000;

const due = dueTable({ table: 'storage.held', key: 'held_id', leaseMs: LEASE_MS });

/** The loop of one process. */
export function heldLoop(core: Core): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: HELD_WORK,
    places: 4,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job) => chargeHeld(core, job.accountId),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

/** Charges what was held up to now. Whoever comes second finds nothing that is not charged. */
export function chargeHeld({ db, prices }: Core, accountId: string): Promise<void> {
  return db.transaction(async (tx) => {
    const opened = await openWallet(tx, accountId);
    const row = (await readHeld(tx, textArray([accountId]))).get(accountId);
    if (opened === null || row === undefined) return;
    const { nowMs } = opened;
    const until = heldUntil(row, nowMs);
    const units = until.byte_ms / BYTE_MS_PER_NANO;
    const work = { capability: HELD_PRICE, keyId: row.key_id, units, isUncapped: true };
    const verdict = units === 0n ? null : (await chargeWork(tx, opened, prices, [work]))[0];
    const after = verdict === null || verdict?.charged === true ? paid(until, units, nowMs) : owed(until, nowMs);
    await saveHeld(tx, [after]);
    if (after.unpaid_since === null) await countAccepted(tx, [{ accountId, capability: HELD_PRICE, units }]);
    if (after.due_at !== null) await openTurn(tx, accountId, HELD_WORK, after.due_at, { later: true });
  });
}

function paid(row: HeldRow, units: bigint, nowMs: number): HeldRow {
  const byte_ms = row.byte_ms - units * BYTE_MS_PER_NANO;
  return { ...row, byte_ms, unpaid_since: null, due_at: row.bytes === 0n ? null : nowMs + HOUR_MS };
}

function owed(row: HeldRow, nowMs: number): HeldRow {
  return { ...row, unpaid_since: row.unpaid_since ?? nowMs, due_at: nowMs + UNPAID_AGAIN_MS };
}
