// Retention: messages, their parts and verifications are removed after 30 days; records of sent codes after one day.
import { removerOf, type Sweep } from '../../core/background/sweeper/sweep.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { KEEP_DAYS } from './limits.ts';

const removers = {
  'sms.messages': removerOfOld('sms.message', 'sms_id', 'due_at IS NULL'),
  'sms.parts': removerOfOld('sms.part', 'sms_id'),
  'sms.verifications': removerOfOld('sms.verification', 'verification_id'),
};
const forgetCodes = statement(
  'sms_forget_codes',
  `DELETE FROM sms.code_sent WHERE last_at <= core.clock_now() - interval '1 day'`,
);

export function smsSweeps(db: Database): Sweep[] {
  const old = Object.entries(removers).map(([name, of]): Sweep => ({ name, intervalMs: 30_000, run: of(db) }));
  const codes: Sweep = {
    name: 'sms.codes',
    intervalMs: 3_600_000,
    async run() {
      await db.query(forgetCodes, []);
      return false;
    },
  };
  return [...old, codes];
}

function removerOfOld(table: string, key: string, when?: string): ReturnType<typeof removerOf> {
  return removerOf({ table, key, at: 'created_at', keepDays: KEEP_DAYS, ...(when && { when }) });
}
