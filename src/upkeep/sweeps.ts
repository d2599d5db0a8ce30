// The core's background tasks: metrics and heartbeats for this process; events, expiry and retention for the deployment.

import { findOldApprovals, removeOldApprovals } from '../approvals/store.ts';
import type { AssetsPart } from '../assets/assets.ts';
import type { JobLoop } from '../core/background/job-loop.ts';
import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { mendEach } from '../core/background/sweeper/sweep.ts';
import type { Core } from '../core/core.ts';
import { clockNow } from '../core/database-clock.ts';
import { findOldKeys, removeOldKeys } from '../core/keys/retention.ts';
import { spareMemorySweep } from '../core/spare-memory.ts';
import { usageFolding } from '../core/usage/fold.ts';
import { expireGrants, warnExpiring } from '../core/wallet/grants.ts';
import type { Database, Transaction } from '../db/database.ts';
import { makePartitionsAhead } from '../db/partitions.ts';
import { type Statement, statement } from '../db/statement.ts';
import { madeFilesSweep } from '../files/sweep.ts';
import { paymentChecks } from '../payments/checks.ts';
import { rechargeLoop } from '../payments/recharge/work.ts';
import type { PaymentsPart } from '../payments/terms.ts';
import { absorptionSweep } from '../people/absorbing/absorb.ts';
import { deviceRetention } from '../people/devices/devices.ts';
import { mailRetention, mailSending } from '../people/mail/send.ts';
import { peopleRetention } from '../people/retention.ts';
import type { PeoplePart } from '../people/terms.ts';
import type { RoutingPart } from '../routing/vendors.ts';
import { Deliverer } from '../webhooks/deliveries/deliverer.ts';
import { eventJobs } from '../webhooks/event-jobs.ts';
import { deleteStrayLines, findStrayLines } from '../webhooks/turns/waiting-lines.ts';
import { purgeSweep } from './deletion/purge.ts';
import { ledgerRetention } from './ledger-retention.ts';
import { retentionSweeps } from './retention.ts';

const BEAT_MS = 2_500;
const ACCOUNTS_PER_RUN = 200;
const ROWS_PER_TRANSACTION = 1_000;

type UpkeepServices = Core & AssetsPart & PaymentsPart & PeoplePart & RoutingPart;

const findExpired = statement(
  'sweep_find_expired_grants',
  `/* fan-out: accounts with credit that has expired */
   SELECT account_id FROM core.credit_grant
    WHERE NOT spent AND expires_at IS NOT NULL AND expires_at <= core.clock_now() AND remaining_nanos > reserved_nanos
    GROUP BY account_id LIMIT $1`,
);
const findExpiring = statement(
  'sweep_find_expiring_grants',
  `/* fan-out: accounts with credit that expires within 7 days or 1 day, not told yet */
   SELECT account_id FROM core.credit_grant
    WHERE NOT spent AND expires_at IS NOT NULL
      AND expires_at > core.clock_now() AND expires_at <= core.clock_now() + interval '7 days'
      AND (   (warned_days IS NULL AND expires_at > core.clock_now() + interval '1 day' AND created_at <= expires_at - interval '7 days')
           OR ((warned_days IS NULL OR warned_days > 1)
               AND expires_at <= core.clock_now() + interval '1 day' AND created_at <= expires_at - interval '1 day'))
    GROUP BY account_id LIMIT $1`,
);
/** Everything that the core does in the background. */
export function coreSweeps(core: UpkeepServices, ledgerDays: number): Sweep[] {
  const { db } = core;
  return [
    { name: 'usage.flush', intervalMs: 4_000, perProcess: true, run: once(() => core.usage.flush()) },
    {
      name: 'requests.flush',
      intervalMs: 1_000,
      perProcess: true,
      run: once(async () => {
        await core.requests.flush();
        await core.requests.flushShort('due');
        await core.requests.readRecording();
      }),
    },
    {
      name: 'process.heartbeat',
      intervalMs: BEAT_MS,
      // Whoever drops a key must see this process again as soon as it can be seen.
      backoffMaxMs: BEAT_MS,
      perProcess: true,
      run: once(() => core.processes.beat()),
    },
    { name: 'wallet.grant_expiry', intervalMs: 2_000, run: perAccount(db, findExpired, expireGrants) },
    { name: 'wallet.grant_warning', intervalMs: 5_000, run: perAccount(db, findExpiring, warnExpiring) },
    { name: 'wallet.hold_expiry', intervalMs: 2_000, run: (signal) => core.holds.expireOverdue(signal) },
    {
      name: 'keys.retention',
      intervalMs: 60_000,
      run: perAccount(db, findOldKeys, (tx, accountId) => removeOldKeys(tx, accountId, ROWS_PER_TRANSACTION)),
    },
    {
      name: 'approvals.retention',
      intervalMs: 60_000,
      run: perAccount(db, findOldApprovals, (tx, accountId) => removeOldApprovals(tx, accountId, ROWS_PER_TRANSACTION)),
    },
    { name: 'webhooks.lines', intervalMs: 60_000, run: perAccount(db, findStrayLines, removing(deleteStrayLines)) },
    {
      name: 'storage.partitions',
      intervalMs: 60_000,
      run: once(async () => makePartitionsAhead(db, await clockNow(db))),
    },
    ...core.vendors.sweeps(db),
    madeFilesSweep(core),
    absorptionSweep(core),
    purgeSweep(core),
    spareMemorySweep(),
    usageFolding(db),
    ledgerRetention(db, ledgerDays),
    ...retentionSweeps(db),
    mailRetention(db),
    peopleRetention(db),
    deviceRetention(db),
  ];
}

function once(work: () => Promise<void>): Sweep['run'] {
  return async () => {
    await work();
    return false;
  };
}

/** Find, then fix: one read over all accounts, then one transaction for each that has work. `fix` answers how many rows it mended. */
function perAccount(
  db: Database,
  find: Statement,
  fix: (tx: Transaction, accountId: string) => Promise<number>,
): Sweep['run'] {
  return async (signal) => {
    const { rows } = await db.query<{ account_id: string }>(find, [ACCOUNTS_PER_RUN]);
    let full = rows.length === ACCOUNTS_PER_RUN;
    const finished = await mendEach(rows, signal, async ({ account_id }) => {
      const mended = await db.transaction((tx) => fix(tx, account_id));
      full ||= mended === ROWS_PER_TRANSACTION;
    });
    return finished && full;
  };
}

/** A bounded bite of an account's old rows; what is left is found again. */
function removing(remove: Statement): (tx: Transaction, accountId: string) => Promise<number> {
  return async (tx, accountId) => (await tx.query(remove, [accountId, ROWS_PER_TRANSACTION])).count;
}

// The background jobs that the core itself runs.

export function coreJobs(core: UpkeepServices): JobLoop[] {
  return [
    eventJobs(core),
    new Deliverer(core).loop as JobLoop,
    rechargeLoop(core),
    ...paymentChecks(core),
    mailSending(core) as JobLoop,
  ];
}
