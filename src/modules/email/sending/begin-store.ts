// Reads and counts for the commit of new mails, over all of its accounts at once.
import { int8Array, textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { MINUTE_MS } from '../../../lib/time.ts';
import type { MessageRow, RecipientRow } from '../messages/row.ts';

const selectVerified = statement(
  'email_verified_among',
  `SELECT d.account_id, d.domain
     FROM unnest($2::text[], $3::text[]) u(account_id, domain)
     JOIN email.domain d ON d.account_id = u.account_id AND d.domain = u.domain
    WHERE d.account_id = ANY($1::text[]) AND d.status = 'verified'`,
);
const selectMinutes = statement(
  'email_select_minutes',
  `SELECT m.account_id, m.minute, m.recipients, core.clock_now() AS now FROM email.minute m WHERE m.account_id = ANY($1::text[])`,
);
const addRecipients = statement(
  'email_add_to_minute',
  `INSERT INTO email.minute AS m (account_id, minute, recipients)
   SELECT w.account_id, $4::timestamptz, u.recipients
     FROM core.wallet w, unnest($2::text[], $3::bigint[]) u(account_id, recipients)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id
       ON CONFLICT (account_id) DO UPDATE
      SET recipients = CASE WHEN m.minute = excluded.minute THEN m.recipients + excluded.recipients ELSE excluded.recipients END,
          minute = excluded.minute`,
);

/** Those that are proved, as `account\ndomain`. */
export async function verifiedAmong(
  tx: Queryable,
  wanted: readonly { readonly accountId: string; readonly domain: string }[],
): Promise<ReadonlySet<string>> {
  if (wanted.length === 0) return new Set();
  const accounts = wanted.map(({ accountId }) => accountId);
  const { rows } = await tx.query<{ account_id: string; domain: string }>(selectVerified, [
    textArray([...new Set(accounts)].sort()),
    textArray(accounts),
    textArray(wanted.map(({ domain }) => domain)),
  ]);
  return new Set(rows.map((row) => `${row.account_id}\n${row.domain}`));
}

interface MinuteRow {
  readonly account_id: string;
  readonly minute: number;
  readonly recipients: bigint;
  readonly now: number;
}

export async function readMinutes(tx: Queryable, accountIds: readonly string[]): Promise<readonly MinuteRow[]> {
  return (await tx.query<MinuteRow>(selectMinutes, [textArray([...new Set(accountIds)].sort())])).rows;
}

/** Recipients of this minute, with those of the calls that are judged together. */
export class MinuteCounts {
  readonly #counts = new Map<string, { recipients: number; leftMs: number }>();

  constructor(rows: readonly MinuteRow[]) {
    for (const { account_id, minute, recipients, now } of rows) {
      const isNow = Math.floor(now / MINUTE_MS) * MINUTE_MS === minute;
      const leftMs = MINUTE_MS - (now % MINUTE_MS);
      this.#counts.set(account_id, { recipients: isNow ? Number(recipients) : 0, leftMs });
    }
  }

  /** Null: there is room, and it is taken; else when there will be. */
  take(accountId: string, count: number, max: number): number | null {
    const known = this.#counts.get(accountId) ?? { recipients: 0, leftMs: MINUTE_MS };
    if (known.recipients + count > max) return known.leftMs;
    this.#counts.set(accountId, { ...known, recipients: known.recipients + count });
    return null;
  }
}

/** Sends the sums without awaiting them; in one order everywhere. */
export function sendMinutes(
  tx: Queryable,
  begun: readonly { readonly row: MessageRow; readonly recipients: readonly RecipientRow[] }[],
  nowMs: number,
): void {
  const sums = new Map<string, bigint>();
  for (const { row, recipients } of begun) {
    const left = BigInt(recipients.filter(({ status }) => status !== 'suppressed').length);
    sums.set(row.account_id, (sums.get(row.account_id) ?? 0n) + left);
  }
  const accounts = [...sums.keys()].sort();
  void tx.query(addRecipients, [
    textArray(accounts),
    textArray(accounts),
    int8Array(accounts.map((accountId) => sums.get(accountId) as bigint)),
    timestamp(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS),
  ]);
}
