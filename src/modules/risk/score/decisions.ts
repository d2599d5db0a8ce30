// Decisions as they are read back: of a key, of an account, and with their signals for rules that are tried.
import { int8Array } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { sequenceMs } from '../../../lib/sequence.ts';
import { iso } from '../../../lib/time.ts';
import type { Action } from '../limits.ts';
import type { Reason } from '../rules/rule-set.ts';
import { KEY_BYTES, keyText } from '../signals/keys.ts';
import { Varints } from '../signals/series.ts';
import { type Facts, type Signals, signalsOf } from '../signals/signals.ts';
import type { RiskIds } from './ids.ts';

export interface DecisionRow {
  readonly seq: bigint;
  readonly event: string;
  readonly action: Action;
  readonly score: number;
  readonly keys: Buffer;
  readonly reasons: string;
}

const columns = 'd.seq, d.event, d.action, d.score, d.keys, d.reasons';
const selectPage = statement(
  'risk_decisions_page',
  `SELECT ${columns} FROM risk.decision d WHERE d.account_id = $1 AND d.seq < $2 ORDER BY d.seq DESC LIMIT $3`,
);
const selectPageOf = statement(
  'risk_decisions_page_of_action',
  `SELECT ${columns} FROM risk.decision d
    WHERE d.account_id = $1 AND d.action = $4 AND d.action <> 'allow' AND d.seq < $2 ORDER BY d.seq DESC LIMIT $3`,
);
const selectSome = statement(
  'risk_decisions_some',
  `SELECT ${columns} FROM risk.decision d WHERE d.account_id = $1 AND d.seq = ANY($2::bigint[]) ORDER BY d.seq DESC`,
);
const selectSignals = statement(
  'risk_decisions_with_signals',
  `SELECT d.seq, d.action, d.score, d.reasons, d.facts, d.counts FROM risk.decision d
    WHERE d.account_id = $1 ORDER BY d.seq DESC LIMIT $2`,
);

/** Newest first, those before the number `before`. */
export async function listDecisions(
  db: Queryable,
  accountId: string,
  { before, limit, action }: { before: bigint; limit: number; action: string | null },
) {
  const page = [accountId, before, limit] as const;
  const asked =
    action === null
      ? db.query<DecisionRow>(selectPage, [...page])
      : db.query<DecisionRow>(selectPageOf, [...page, action]);
  return (await asked).rows;
}

export async function findDecisions(db: Queryable, accountId: string, seqs: readonly bigint[]) {
  return (await db.query<DecisionRow>(selectSome, [accountId, int8Array(seqs)])).rows;
}

export interface PastDecision extends Pick<DecisionRow, 'seq' | 'action' | 'score' | 'reasons'> {
  readonly facts: string;
  readonly counts: Buffer;
}

/** The latest ones. */
export async function pastDecisions(db: Queryable, accountId: string, limit: number) {
  return (await db.query<PastDecision>(selectSignals, [accountId, limit])).rows;
}

export function signalsThen({ facts, counts }: PastDecision): Signals {
  const numbers = new Varints(counts);
  return signalsOf(JSON.parse(facts) as Facts, () => numbers.next());
}

export function decisionRecord(ids: RiskIds, accountId: string, row: DecisionRow) {
  const { seq, event, action, score, keys } = row;
  return {
    ...{ risk_id: ids.of(accountId, seq), event, action, score },
    reasons: JSON.parse(row.reasons) as Reason[],
    keys: Array.from({ length: keys.length / KEY_BYTES }, (_, i) =>
      keyText(keys.subarray(i * KEY_BYTES, (i + 1) * KEY_BYTES)),
    ),
    created_at: iso(sequenceMs(seq)),
  };
}
