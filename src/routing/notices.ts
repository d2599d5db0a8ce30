// system.vendor.down events: noted in the transaction that opens a vendor's breaker, at most every ten minutes per vendor. A sweep tells every
// account with a webhook for it, one account per transaction. If a process dies, the next run continues, and repeats at most one page.

import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import { sendEvents } from '../core/events/outbox.ts';
import type { Database, Queryable, Transaction } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { iso } from '../lib/time.ts';

export const VENDOR_DOWN_EVENT = 'system.vendor.down';

const ACCOUNTS_PER_PAGE = 100;

interface DownRow {
  readonly capability: string;
  readonly reason: string;
  readonly since: number;
  readonly retry_at: number;
}

interface NoticeRow {
  readonly vendor: string;
  readonly data: string;
  readonly told_through: string;
}

const selectDown = statement(
  'vendor_read_down',
  `SELECT capability, reason, since, retry_at FROM core.vendor_health WHERE vendor = $1 AND state <> 'closed' ORDER BY capability`,
);
const upsertNotice = statement(
  'vendor_note_down',
  `INSERT INTO core.vendor_notice AS n (vendor, noticed_at, data, told_through) VALUES ($1, core.clock_now(), $2, '')
       ON CONFLICT (vendor) DO UPDATE SET noticed_at = excluded.noticed_at, data = excluded.data, told_through = ''
    WHERE n.noticed_at <= core.clock_now() - interval '10 minutes'`,
);
const selectNotices = statement(
  'vendor_read_notices',
  'SELECT vendor, data, told_through FROM core.vendor_notice WHERE told_through IS NOT NULL',
);
const saveNotice = statement(
  'vendor_save_notice',
  'UPDATE core.vendor_notice SET told_through = $3 WHERE vendor = $1 AND data = $2',
);
const findSubscribers = statement(
  'vendor_find_subscribers',
  `/* fan-out: accounts with a webhook for one kind of event */
   SELECT DISTINCT w.account_id FROM core.webhook w
    WHERE w.account_id > $1 AND w.status = 'enabled' AND $2 = ANY(w.events)
    ORDER BY w.account_id LIMIT $3`,
);

/** In the transaction that has opened it. */
export async function noteDown(tx: Queryable, vendor: string): Promise<void> {
  const { rows } = await tx.query<DownRow>(selectDown, [vendor]);
  const [first] = rows;
  if (first === undefined) return;
  const data = {
    vendor,
    capabilities: rows.map(({ capability }) => capability),
    reason: first.reason,
    since: iso(Math.min(...rows.map(({ since }) => since))),
    retry_at: iso(Math.min(...rows.map(({ retry_at }) => retry_at))),
  };
  await tx.query(upsertNotice, [vendor, JSON.stringify(data)]);
}

/** `regionOf`: that of the vendor by the file of this process. */
export function vendorNotices(db: Database, regionOf: (vendor: string) => string): Sweep {
  return {
    name: 'vendors.notices',
    intervalMs: 1_000,
    async run(signal) {
      const { rows } = await db.query<NoticeRow>(selectNotices, []);
      for (const notice of rows) {
        if (signal.aborted) return true;
        await tellSome(db, notice, regionOf(notice.vendor));
      }
      return rows.length > 0;
    },
  };
}

async function tellSome(db: Database, { vendor, data, told_through }: NoticeRow, region: string): Promise<void> {
  const { rows } = await db.query<{ account_id: string }>(findSubscribers, [
    told_through,
    VENDOR_DOWN_EVENT,
    ACCOUNTS_PER_PAGE,
  ]);
  const object = { ...JSON.parse(data), region };
  for (const { account_id } of rows) await db.transaction((tx) => tell(tx, account_id, object));
  const last = rows.length < ACCOUNTS_PER_PAGE ? null : (rows.at(-1)?.account_id ?? null);
  await db.query(saveNotice, [vendor, data, last]);
}

async function tell(tx: Transaction, accountId: string, object: object): Promise<void> {
  const event = { accountId, type: VENDOR_DOWN_EVENT, data: { object }, requestId: null };
  sendEvents(tx, [event], await clockNow(tx));
}
