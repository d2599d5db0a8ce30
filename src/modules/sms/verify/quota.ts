// Limit of five codes an hour to a number or address, across all accounts, against flooding and against guessing by restarts. In the sandbox
// nobody is reached, so each account has its own count. RATE_LIMITS does not lift it.

import { clockNow } from '../../../core/database-clock.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { problem } from '../../../problems/problem.ts';
import { CODES_PER_HOUR } from '../limits.ts';

// The last five are kept; a sixth waits until the first of them is an hour old.
const take = statement(
  'sms_take_code',
  `INSERT INTO sms.code_sent AS c (address_hash, sent_at, last_at) VALUES ($1, ARRAY[$2::timestamptz], $2)
       ON CONFLICT (address_hash) DO UPDATE
      SET sent_at = (c.sent_at || excluded.sent_at)[greatest(1, cardinality(c.sent_at) - ${CODES_PER_HOUR - 2}):], last_at = excluded.last_at
    WHERE cardinality(c.sent_at) < ${CODES_PER_HOUR} OR c.sent_at[cardinality(c.sent_at) - ${CODES_PER_HOUR - 1}] <= $3`,
);
const giveBack = statement(
  'sms_give_code_back',
  `UPDATE sms.code_sent SET sent_at = array_remove(sent_at, $2) WHERE address_hash = $1`,
);

/** Counts a code to the address, and answers what takes that back. `sandboxOf`: the account, when nothing leaves. Throws RATE_LIMITED. */
export async function takeCode(
  core: Services,
  address: string,
  sandboxOf: string | null,
): Promise<() => Promise<void>> {
  const hash = hashOf(core, address, sandboxOf);
  const nowMs = await clockNow(core.db);
  const { count } = await core.db.query(take, [hash, timestamp(nowMs), timestamp(nowMs - HOUR_MS)]);
  if (count === 0) {
    const message = `${CODES_PER_HOUR} codes were sent to it in the last hour; no more are.`;
    throw problem('RATE_LIMITED', { param: 'to', detail: 'codes_per_hour', message, retryAfterMs: HOUR_MS / 6 });
  }
  return async () => void (await core.db.query(giveBack, [hash, timestamp(nowMs)]));
}

function hashOf({ secrets }: Services, address: string, sandboxOf: string | null): string {
  const normal = address
    .trim()
    .toLowerCase()
    .replace(/\+[^@]*@/, '@');
  return secrets.derive('sms-code-address', 32, `${sandboxOf ?? ''}\n${normal}`).toString('hex');
}
