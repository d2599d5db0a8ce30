// Decisions as they are read back: those of an account, and what is known of one key.
import { clockNow } from '../../../core/database-clock.ts';
import { int8Array } from '../../../db/arrays.ts';
import type { Database, Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import { KEEP_SECONDS, LINKED_KEYS } from '../limits.ts';
import type { Verdict } from '../rules/rule-set.ts';
import type { Signals } from '../signals/facts.ts';
import { KEY_BYTES, KINDS, keyText, kindOf } from '../signals/keys.ts';
import { Partners } from '../signals/partners.ts';
import { Series, SIGHTINGS, WINDOWS } from '../signals/series.ts';
import { findWindow } from './store.ts';
import { recentSeqs } from './tally.ts';

export interface DecisionRow {
  readonly seq: bigint;
  readonly keys: Buffer;
  readonly answer: string;
}

export interface Decision extends Verdict {
  readonly risk_id: string;
  readonly signals: Signals;
}

const selectPage = statement(
  'risk_decisions_page',
  `SELECT d.seq, d.keys, d.answer FROM risk.decision d
    WHERE d.account_id = $1 AND d.seq < $2 ORDER BY d.seq DESC LIMIT $3`,
);
const selectPageOf = statement(
  'risk_decisions_page_of_action',
  `SELECT d.seq, d.keys, d.answer FROM risk.decision d
    WHERE d.account_id = $1 AND d.action = $4 AND d.action <> 'allow' AND d.seq < $2 ORDER BY d.seq DESC LIMIT $3`,
);
const selectSome = statement(
  'risk_decisions_some',
  `SELECT d.seq, d.keys, d.answer FROM risk.decision d
    WHERE d.account_id = $1 AND d.seq = ANY($2::bigint[]) ORDER BY d.seq DESC`,
);
const LONGEST = WINDOWS.length - 1;
/** Behind all numbers that there will be. */
export const LAST_SEQ = 2n ** 63n - 1n;

/** Newest first, those before the number `before`. */
export async function listDecisions(
  db: Queryable,
  accountId: string,
  { before, limit, action = null }: { before: bigint; limit: number; action?: string | null },
): Promise<readonly DecisionRow[]> {
  const page = [accountId, before, limit];
  const found =
    action === null ? db.query<DecisionRow>(selectPage, page) : db.query<DecisionRow>(selectPageOf, [...page, action]);
  return (await found).rows;
}

export const decisionOf = ({ answer }: DecisionRow): Decision => JSON.parse(answer);

/** As lists show it. */
export function decisionRecord(row: DecisionRow) {
  const { signals, ...verdict } = decisionOf(row);
  const { keys } = row;
  return {
    ...{ ...verdict, event: signals.event },
    keys: Array.from({ length: keys.length / KEY_BYTES }, (_, i) =>
      keyText(keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES)),
    ),
    created_at: iso(sequenceMs(row.seq)),
  };
}

/** How often a key was seen, with what, and its latest decisions. */
export async function subjectRecord(db: Database, accountId: string, key: Buffer) {
  const row = await findWindow(db, { account_id: accountId, key });
  const series = row === undefined ? Series.empty() : Series.decode(row.series);
  const partners = new Partners(row?.partners);
  const seqs = row === undefined ? [] : recentSeqs(row.recent);
  const [nowMs, decisions] = await Promise.all([
    clockNow(db),
    db.query<DecisionRow>(selectSome, [accountId, int8Array(seqs)]),
  ]);
  const linked = KINDS.map(({ many }, i) => {
    const keys = partners.keysSince(i + 1, nowMs / 1_000 - KEEP_SECONDS).slice(0, LINKED_KEYS);
    return [many, { count: series.total(i + 1, LONGEST, nowMs), keys: keys.map(keyText) }];
  });
  return {
    ...{ key: keyText(key), kind: kindOf(key), last_seen_at: seqs[0] === undefined ? null : iso(sequenceMs(seqs[0])) },
    counts: Object.fromEntries(WINDOWS.map(({ name }, i) => [`count_${name}`, series.total(SIGHTINGS, i, nowMs)])),
    linked: Object.fromEntries(linked),
    decisions: decisions.rows.map(decisionRecord),
  };
}
