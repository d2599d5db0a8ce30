// Retention: that a solution has counted is forgotten once its challenge has expired, and the counts of a day after 30 days.
import { removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { STATS_DAYS } from './limits.ts';

const findExpired = statement(
  'captcha_find_expired',
  `/* fan-out: solutions of expired challenges */
   SELECT s.account_id, s.challenge_id FROM captcha.spent s WHERE s.expires_at <= core.clock_now() ORDER BY s.expires_at LIMIT $1`,
);
const removeExpired = statement(
  'captcha_remove_expired',
  `DELETE FROM captcha.spent AS s
    WHERE s.account_id = $1 AND s.challenge_id = ANY($2::text[]) AND s.expires_at <= core.clock_now()`,
);

const old = `t.day <= core.clock_now() - interval '${STATS_DAYS + 1} days'`;
const findOldDays = statement(
  'captcha_find_old_days',
  `/* fan-out: counts of old days */
   SELECT t.account_id, t.day FROM captcha.tally t WHERE ${old} ORDER BY t.day LIMIT $1`,
);
const removeOldDays = statement(
  'captcha_remove_old_days',
  `DELETE FROM captcha.tally AS t WHERE t.account_id = $1 AND ${old}`,
);

export function captchaSweeps(db: Database): Sweep[] {
  const spent = removeOldRows<{ account_id: string; challenge_id: string }>(db, {
    ...{ find: findExpired, remove: removeExpired },
    keys: (rows) => [textArray(rows.map(({ challenge_id }) => challenge_id))],
  });
  const days = removeOldRows<{ account_id: string }>(db, { find: findOldDays, remove: removeOldDays, keys: () => [] });
  return [
    { name: 'captcha.spent', intervalMs: 60_000, run: spent },
    { name: 'captcha.tally', intervalMs: 3_600_000, run: days },
  ];
}
