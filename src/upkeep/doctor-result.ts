// Result of the doctor's last check of the whole deployment, for the operator. Only the command line runs that check.

import { clockNow } from '../core/database-clock.ts';
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { iso } from '../lib/time.ts';

export interface DoctorResult {
  readonly at: string;
  readonly accounts: number;
  readonly findings: number;
}

const NAME = 'doctor_result';

const keep = statement(
  'doctor_keep_result',
  `INSERT INTO core.setting (name, value) VALUES ('${NAME}', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
);
const find = statement('doctor_find_result', `SELECT s.value FROM core.setting s WHERE s.name = '${NAME}'`);

export async function keepDoctorResult(db: Queryable, counted: Omit<DoctorResult, 'at'>): Promise<void> {
  const result: DoctorResult = { at: iso(await clockNow(db)), ...counted };
  await db.query(keep, [JSON.stringify(result)]);
}

/** Null: it has never looked. */
export async function lastDoctorResult(db: Queryable): Promise<DoctorResult | null> {
  const { rows } = await db.query<{ value: string }>(find, []);
  return rows[0] === undefined ? null : JSON.parse(rows[0].value);
}
