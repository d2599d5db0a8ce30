// Shard locks for a distributed engine (Citus), where SELECT … FOR UPDATE locks rows but not their shard. An online move can put the shard on
// another node meanwhile. There the rows are unlocked, and a second transaction can change them before the first one writes. A write keeps its
// shard in place until its transaction ends; a locking read gets the same lock, sent just before it.
import { textsOf } from './arrays.ts';
import { type EncodedValue, type Statement, statement } from './statement.ts';

// Mode 5 is SHARE, which a write takes. All tables of an account lie together, and a move locks the shards of all of them: the wallet's is
// enough. Twice, because a split may be what the first lock waits for: then the accounts have other shards. The order avoids deadlocks.
const SHARDS = `ARRAY(SELECT DISTINCT get_shard_id_for_distribution_column('core.wallet', a) FROM unnest($1::text[]) a ORDER BY 1)`;
export const lockShards = statement(
  'shard_lock',
  `SELECT lock_shard_metadata(5, ${SHARDS}), lock_shard_metadata(5, ${SHARDS})`,
);

const LOCKS_ROWS = /\bFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)\b/;
const WRITES = /\b(?:INSERT INTO|UPDATE|DELETE FROM) \w+\.\w/;
const OF_ACCOUNT = /\baccount_id = (?:ANY\()?\$1\b/;
/** Whether a statement is a locking read of an account, by the statement. */
const known = new WeakMap<Statement, boolean>();

/** The accounts whose rows `sent` locks without writing. */
export function lockedAccounts(sent: Statement, [first = null]: readonly EncodedValue[]): readonly string[] {
  let locks = known.get(sent);
  if (locks === undefined) {
    locks = isLockingRead(sent.text) && namesAccountFirst(sent.text);
    known.set(sent, locks);
  }
  if (!locks || first === null) return [];
  return Buffer.isBuffer(first) ? textsOf(first) : [first];
}

export function isLockingRead(sql: string): boolean {
  return LOCKS_ROWS.test(sql) && !WRITES.test(sql);
}

/** Whether the account, or the list of accounts, is the first parameter. */
export function namesAccountFirst(sql: string): boolean {
  return OF_ACCOUNT.test(sql);
}
