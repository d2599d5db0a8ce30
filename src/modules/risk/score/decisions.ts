// Reads of stored decisions: an account's decisions, and the record of one key.
import { clockNow } from '../../../core/database-clock.ts';
import { int8Array } from '../../../db/arrays.ts';
import type { Database, Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { ListBounds } from '../../../kit/resource.ts';
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

interface DecisionRow {
  readonly seq: bigint;
  readonly keys: Buffer;
  readonly answer: string;
}

type Decision = Verdict & { readonly risk_id: string; readonly signals: Signals };

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
/** Behind all numbers that there will be. */
const LAST_SEQ = 2n ** 63n - 1n;

/** Newest first, those before the number `after`; of one action but `allow`, or of all. */
export async function listDecisions(
  db: Queryable,
  { accountId }: { readonly accountId: string },
  { after, limit, filters }: ListBounds,
): Promise<readonly DecisionRow[]> {
  const page = [accountId, after === null ? LAST_SEQ : BigInt(after), limit];
  const action = filters?.action ?? null;
  if (action === null) return (await db.query<DecisionRow>(selectPage, page)).rows;
  return (await db.query<DecisionRow>(selectPageOf, [...page, action])).rows;
}

export const decisionOf = ({ answer }: DecisionRow): Decision => JSON.parse(answer);

/** As lists show it. */
export function decisionRecord(row: DecisionRow) {
  const { signals, ...verdict } = decisionOf(row);
  const { keys } = row;
  return {
    ...verdict,
    event: signals.event,
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
  const [nowMs, { rows }] = await Promise.all([
    clockNow(db),
    db.query<DecisionRow>(selectSome, [accountId, int8Array(seqs)]),
  ]);
  const linked = KINDS.map(({ many }, i) => {
    const keys = partners.keysSince(i + 1, nowMs / 1_000 - KEEP_SECONDS).slice(0, LINKED_KEYS);
    return [many, { count: series.total(i + 1, WINDOWS.length - 1, nowMs), keys: keys.map(keyText) }];
  });
  return {
    key: keyText(key),
    kind: kindOf(key),
    last_seen_at: seqs[0] === undefined ? null : iso(sequenceMs(seqs[0])),
    counts: Object.fromEntries(WINDOWS.map(({ name }, i) => [`count_${name}`, series.total(SIGHTINGS, i, nowMs)])),
    linked: Object.fromEntries(linked),
    decisions: rows.map(decisionRecord),
  };
}
