// Retention of sign-in data: ended sessions, unused mails, and request counters.

import type { Sweep } from '../core/background/sweeper/sweep.ts';
import { clockNow } from '../core/database-clock.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { timestamp } from '../db/types.ts';
import { DAY_MS, MINUTE_MS } from '../lib/time.ts';
import { forgetAsked } from './asked.ts';
import { forgetOldSessions } from './sessions/sessions.ts';

const deleteSignIns = statement('mail_sign_in_delete_old', 'DELETE FROM core.mail_sign_in WHERE expires_at <= $1');

export function peopleRetention(db: Database): Sweep {
  return {
    name: 'people.retention',
    intervalMs: MINUTE_MS,
    run: async () => {
      const nowMs = await clockNow(db);
      await forgetOldSessions(db, nowMs);
      await forgetAsked(db, nowMs - DAY_MS);
      await db.query(deleteSignIns, [timestamp(nowMs)]);
      return false;
    },
  };
}
