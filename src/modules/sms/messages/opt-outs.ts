// Opt-outs: pairs of sender and recipient numbers that take no more messages. On carriers a pair applies to every account that sends from our
// number; in the sandbox each account has its own.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { problem } from '../../../problems/problem.ts';
import type { OptWord } from '../words.ts';

export interface Pair {
  /** Null: on carriers. */
  readonly sandboxOf: string | null;
  readonly ours: string;
  readonly theirs: string;
}

const insertOwn = statement(
  'sms_opt_out',
  `INSERT INTO sms.opt_out (account_id, our_number, their_number, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (account_id, our_number, their_number) DO NOTHING`,
);
const deleteOwn = statement(
  'sms_opt_in',
  'DELETE FROM sms.opt_out WHERE account_id = $1 AND our_number = $2 AND their_number = $3',
);
const findOwn = statement(
  'sms_opted_out',
  `SELECT o.our_number FROM sms.opt_out o WHERE o.account_id = $1 AND o.our_number = ANY($2::text[]) AND o.their_number = $3`,
);
const insertCarrier = statement(
  'sms_carrier_opt_out',
  `INSERT INTO sms.carrier_opt_out (our_number, their_number, created_at) VALUES ($1, $2, $3)
       ON CONFLICT (our_number, their_number) DO NOTHING`,
);
const deleteCarrier = statement(
  'sms_carrier_opt_in',
  'DELETE FROM sms.carrier_opt_out WHERE our_number = $1 AND their_number = $2',
);
const findCarrier = statement(
  'sms_carrier_opted_out',
  `SELECT o.our_number FROM sms.carrier_opt_out o WHERE o.our_number = ANY($1::text[]) AND o.their_number = $2`,
);

/** What the person asked for. */
export async function saveOptWord(db: Queryable, { sandboxOf, ours, theirs }: Pair, word: OptWord, nowMs: number) {
  const [insert, remove] = sandboxOf === null ? [insertCarrier, deleteCarrier] : [insertOwn, deleteOwn];
  const key = sandboxOf === null ? [ours, theirs] : [sandboxOf, ours, theirs];
  if (word === 'stop') await db.query(insert, [...key, timestamp(nowMs)]);
  else await db.query(remove, key);
}

/** Those of our numbers that the person wants nothing from. */
export async function stoppedFrom(
  db: Queryable,
  sandboxOf: string | null,
  ours: readonly string[],
  theirs: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await (sandboxOf === null
    ? db.query<{ our_number: string }>(findCarrier, [textArray(ours), theirs])
    : db.query<{ our_number: string }>(findOwn, [sandboxOf, textArray(ours), theirs]));
  return new Set(rows.map(({ our_number }) => our_number));
}

export function optOutProblem(from: string) {
  const message = `The number has sent STOP to ${from}. It gets messages again once it sends START.`;
  return problem('RECIPIENT_SUPPRESSED', { param: 'to', message });
}
