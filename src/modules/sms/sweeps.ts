// Retention: messages, their parts and verifications go after 30 days; when codes were sent, after a day.
import { removeOldRows, type Sweep } from '../../core/background/sweeper/sweep.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { KEEP_DAYS } from './limits.ts';

const old = `created_at <= core.clock_now() - interval '${KEEP_DAYS} days'`;
const kept = (table: string, key: string, also = 'true') => ({
  find: statement(
    `${table.replace('.', '_')}_find_old`,
    `/* fan-out: rows older than ${KEEP_DAYS} days */
   SELECT t.account_id, t.${key} AS id FROM ${table} t WHERE t.${old} AND ${also} ORDER BY t.created_at LIMIT $1`,
  ),
  remove: statement(
    `${table.replace('.', '_')}_remove_old`,
    `DELETE FROM ${table} AS t WHERE t.account_id = $1 AND t.${key} = ANY($2::text[]) AND t.${old} AND ${also}`,
  ),
});
const messages = kept('sms.message', 'sms_id', 'due_at IS NULL');
const parts = kept('sms.part', 'sms_id');
const verifications = kept('sms.verification', 'verification_id');
const forgetCodes = statement(
  'sms_forget_codes',
  `DELETE FROM sms.code_sent WHERE last_at <= core.clock_now() - interval '1 day'`,
);

export function smsSweeps(db: Database): Sweep[] {
  const sweep = (name: string, { find, remove }: { find: Statement; remove: Statement }): Sweep => ({
    ...{ name, intervalMs: 30_000 },
    run: removeOldRows<{ account_id: string; id: string }>(db, {
      ...{ find, remove },
      keys: (rows) => [textArray(rows.map(({ id }) => id))],
    }),
  });
  const codes: Sweep = {
    ...{ name: 'sms.codes', intervalMs: 3_600_000 },
    async run() {
      await db.query(forgetCodes, []);
      return false;
    },
  };
  return [sweep('sms.messages', messages), sweep('sms.parts', parts), sweep('sms.verifications', verifications), codes];
}
