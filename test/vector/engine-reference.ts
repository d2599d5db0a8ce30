// What an exact engine must answer, as plainly as it can be written: every row, in f64, sorted.
import { expect } from 'vitest';
import type { Condition, Filter, Match, Metric, Search, SearchResult } from '../../src/modules/vector/engine/port.ts';

export interface ReferenceRow {
  readonly id: string;
  readonly vector: Float32Array;
  readonly metadata: unknown;
  readonly version: number;
}

export function referenceScore(metric: Metric, row: Float32Array, query: Float32Array): number {
  let product = 0;
  let distance = 0;
  let rowSquares = 0;
  let querySquares = 0;
  for (let i = 0; i < query.length; i += 1) {
    const x = row[i] as number;
    const q = query[i] as number;
    product += x * q;
    distance += (x - q) ** 2;
    rowSquares += x * x;
    querySquares += q * q;
  }
  if (metric === 'dotproduct') return product;
  if (metric === 'euclidean') return -Math.sqrt(distance);
  return product / (Math.sqrt(rowSquares) * Math.sqrt(querySquares));
}

const isText = (value: unknown): value is string => typeof value === 'string';

function compareByCodePoint(a: string, b: string): number {
  const x = [...a].map((character) => character.codePointAt(0) as number);
  const y = [...b].map((character) => character.codePointAt(0) as number);
  for (let i = 0; i < Math.min(x.length, y.length); i += 1)
    if (x[i] !== y[i]) return (x[i] as number) - (y[i] as number);
  return x.length - y.length;
}

function passesOne(condition: Condition, metadata: unknown): boolean {
  const fields = typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : {};
  const has = Object.hasOwn(fields, condition.key);
  const stored = has ? fields[condition.key] : undefined;
  const elements = Array.isArray(stored) ? stored : has ? [stored] : [];
  switch (condition.op) {
    case 'eq':
      return elements.some((element) => element === condition.value);
    case 'ne':
      return !elements.some((element) => element === condition.value);
    case 'in':
      return elements.some((element) => condition.values.some((value) => value === element));
    case 'exists':
      return has === condition.value;
  }
  const { op, value } = condition;
  return elements.some((element) => {
    let order: number;
    if (typeof element === 'number' && typeof value === 'number')
      order = element < value ? -1 : element > value ? 1 : 0;
    else if (isText(element) && isText(value)) order = compareByCodePoint(element, value);
    else return false;
    return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op];
  });
}

export function referencePasses(filter: Filter | null, metadata: unknown): boolean {
  return (filter ?? []).every((condition) => passesOne(condition, metadata));
}

export function referenceMatches(rows: Iterable<ReferenceRow>, metric: Metric, search: Search): Match[] {
  const matches: Match[] = [];
  for (const { id, vector, metadata, version } of rows)
    if (referencePasses(search.filter, metadata))
      matches.push({ id, score: referenceScore(metric, vector, search.vector), version });
  return matches.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
}

/** Scores agree within 1e-9 (of their size, when that is above one); ids wherever no neighbour's score is as close. */
export function expectExact(result: SearchResult, rows: Iterable<ReferenceRow>, metric: Metric, search: Search): void {
  const all = referenceMatches(rows, metric, search);
  const wanted = all.slice(0, search.topK);
  expect(result.rowsMatched).toBe(all.length);
  expect(result.matches.length).toBe(wanted.length);
  const close = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
  const scoreOf = new Map(all.map(({ id, score, version }) => [id, { score, version }]));
  const differing = wanted.findIndex((match, i) => {
    const got = result.matches[i] as Match;
    const own = scoreOf.get(got.id);
    const fits = own !== undefined && own.version === got.version && close(own.score, got.score);
    return !fits || !close(got.score, match.score);
  });
  if (differing !== -1) expect(result.matches[differing], `match ${differing}`).toEqual(wanted[differing]);
  expect(new Set(result.matches.map(({ id }) => id)).size).toBe(wanted.length);
}
