// What is known of one key: how often it was seen, with what, and its latest decisions.

import { clockNow } from '../../../core/database-clock.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { isoOrNull } from '../../../lib/time.ts';
import { LINKED_KEYS } from '../limits.ts';
import { KINDS, keyText, placeOf } from '../signals/keys.ts';
import { lineOf, Series, SIGHTINGS, WINDOWS } from '../signals/series.ts';
import type { RiskState } from '../state.ts';
import { decisionRecord, findDecisions } from './decisions.ts';
import { recentSeqs } from './tally.ts';

interface SubjectRow {
  readonly series: Buffer;
  readonly recent: Buffer;
  readonly last_at: number;
}

const select = statement(
  'risk_subject_find',
  'SELECT w.series, w.recent, w.last_at FROM risk.window w WHERE w.account_id = $1 AND w.key = $2',
);
const selectAbove = statement(
  'risk_subject_linked_above',
  'SELECT p.b AS key FROM risk.pair p WHERE p.account_id = $1 AND p.a = $2 AND p.b >= $3 AND p.b < $4 ORDER BY p.b LIMIT $5',
);
const selectBelow = statement(
  'risk_subject_linked_below',
  'SELECT p.a AS key FROM risk.pair p WHERE p.account_id = $1 AND p.b = $2 AND p.a >= $3 AND p.a < $4 ORDER BY p.a LIMIT $5',
);
const LONGEST = WINDOWS.length - 1;

export async function subjectOf({ core, ids }: RiskState, accountId: string, key: Buffer) {
  const { rows } = await core.db.query<SubjectRow>(select, [accountId, key]);
  const row = rows[0];
  const [nowMs, decisions, linkedKeys] = await Promise.all([
    clockNow(core.db),
    row === undefined ? [] : findDecisions(core.db, accountId, recentSeqs(row.recent)),
    Promise.all(KINDS.map((_, place) => findLinked(core.db, accountId, key, place))),
  ]);
  const series = row === undefined ? Series.empty() : Series.decode(row.series);
  const linked = KINDS.map(({ many }, place) => {
    const keys = linkedKeys[place] ?? [];
    return [many, { count: series.total(lineOf(place), LONGEST, nowMs), keys: keys.map(keyText) }];
  });
  return {
    key: keyText(key),
    kind: KINDS[placeOf(key)]?.kind,
    last_seen_at: isoOrNull(row?.last_at ?? null),
    counts: Object.fromEntries(WINDOWS.map(({ name }, i) => [`count_${name}`, series.total(SIGHTINGS, i, nowMs)])),
    linked: Object.fromEntries(linked),
    decisions: decisions.map((decision) => decisionRecord(ids, accountId, decision)),
  };
}

/** Keys of one kind that were seen with `key`. */
async function findLinked(db: Queryable, accountId: string, key: Buffer, place: number): Promise<Buffer[]> {
  const own = placeOf(key);
  if (place === own) return [];
  const range = [Buffer.from([place + 1]), Buffer.from([place + 2]), LINKED_KEYS] as const;
  const { rows } = await db.query<{ key: Buffer }>(place > own ? selectAbove : selectBelow, [accountId, key, ...range]);
  return rows.map((row) => row.key);
}
