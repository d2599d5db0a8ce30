// Candidate series of a selector, from the database: by name, by labels that must be equal, and by the time of their samples. Rows arrive as a
// few long texts, since thousands go on to a thread, which applies the rest of the selector.

import { textArray } from '../../../db/arrays.ts';
import type { Database } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import type { Matcher } from '../promql/query.ts';
import { tooComplex } from '../promql/too-complex.ts';
import { bucketOf, idBytes, NAME_LABEL, nameHash, nameMark, SERIES_ID_BYTES } from '../series/identity.ts';
import { hourOf } from '../series/store.ts';

/** A matcher as it is sent to a thread. */
export type PlainMatcher = Pick<Matcher, 'label' | 'op' | 'value'>;

export interface SeriesPage {
  readonly count: number;
  /** IDs one behind the other. */
  readonly ids: Uint8Array;
  /** Separated by newlines. */
  readonly names: string;
  readonly labels: string;
}

const PAGE_ROWS = 5_000;
/** Of one question, before expressions are looked at. */
export const CANDIDATES_MAX = 50_000;

const selectCandidates = statement(
  'metrics_select_candidates',
  `SELECT count(*)::integer AS count, string_agg(c.series_id, ''::bytea ORDER BY c.series_id) AS ids,
          string_agg(c.name, E'\\n' ORDER BY c.series_id) AS names, string_agg(c.labels, E'\\n' ORDER BY c.series_id) AS labels
     FROM (SELECT s.series_id, s.name, s.labels FROM metrics.series s
            WHERE s.account_id = $1 AND s.series_id > $2 AND s.series_id < $3 AND s.first_hour <= $5 AND s.last_hour >= $4
              AND ($6::text IS NULL OR s.name = $6)
              AND NOT EXISTS (SELECT 1 FROM unnest($7::text[]) p(pair) WHERE strpos(s.labels, p.pair) = 0)
            ORDER BY s.series_id LIMIT $8) c`,
);

interface PageRow {
  readonly count: number;
  readonly ids: Buffer | null;
  readonly names: string | null;
  readonly labels: string | null;
}

/** Throws VALIDATION_FAILED (`too_complex`) when there are more than CANDIDATES_MAX. */
export async function candidatesOf(
  db: Database,
  accountId: string,
  matchers: readonly PlainMatcher[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<SeriesPage[]> {
  const equal = matchers.filter(({ op, value }) => op === '=' && value !== '');
  const name = nameOf(matchers);
  const pairs = equal
    .filter(({ label }) => label !== NAME_LABEL)
    .map(({ label, value }) => `${JSON.stringify(label)}:${JSON.stringify(value)}`);
  const [first, end] = idsOf(name);
  const pages: SeriesPage[] = [];
  let [after, total] = [first, 0];
  while (true) {
    const { rows } = await db.query<PageRow>(selectCandidates, [
      ...[accountId, after, end, hourOf(Math.max(0, fromMs)), hourOf(toMs), name, textArray(pairs), PAGE_ROWS],
    ]);
    const { count, ids, names, labels } = rows[0] as PageRow;
    if (ids === null || names === null || labels === null) return pages;
    pages.push({ count, ids, names, labels });
    total += count;
    if (total > CANDIDATES_MAX) {
      throw tooComplex(`A selector has more than ${CANDIDATES_MAX} series to look at. Name the metric, or a label.`);
    }
    if (count < PAGE_ROWS) return pages;
    after = ids.subarray(-SERIES_ID_BYTES);
  }
}

/** The metric that a selector is of; null: of any. */
export function nameOf(matchers: readonly PlainMatcher[]): string | null {
  return matchers.find(({ label, op }) => label === NAME_LABEL && op === '=')?.value ?? null;
}

/** IDs of series of a name lie between these. */
function idsOf(name: string | null): readonly [Buffer, Buffer] {
  const begin = name === null ? '' : nameHash(name);
  const last = '\xff'.repeat(SERIES_ID_BYTES + 1 - begin.length);
  return [idBytes(begin), idBytes(begin + last)];
}

/** The buckets that series of these pages are in, as one ID of each. */
export function sampleIds(pages: readonly SeriesPage[]): string[] {
  const found = new Map<number, string>();
  for (const { ids } of pages) {
    for (let at = 0; at < ids.length; at += SERIES_ID_BYTES) {
      const id = String.fromCharCode(ids[at] as number);
      found.set(bucketOf(id), id);
    }
  }
  return [...found.values()];
}

export function marksOf(names: readonly (string | null)[]): string[] {
  const [name, ...others] = new Set(names);
  return name === undefined || name === null || others.length > 0 ? [] : [nameMark(name)];
}
