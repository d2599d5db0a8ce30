// What a look makes of a rule: the state of each series, and what changed. Pure.
import type { AlertSeries } from '../../../kit/alert-source.ts';
import { SERIES_LABELS_MAX, SERIES_MAX, VALUE_CHARACTERS_MAX } from '../limits.ts';
import type { SeriesState } from '../rules/row.ts';
import type { State } from '../schemas.ts';

/** When a value holds, and how long it must. */
export interface Condition {
  readonly above: number | null;
  readonly below: number | null;
  readonly forMs: number;
  /** How long a series that fires goes on to once it does not hold any more. */
  readonly keepMs: number;
  readonly by: readonly string[];
  /** Of a source whose series all fire where there is no bound. */
  readonly firesWhenThere: boolean;
}

export interface SeriesChange {
  readonly labels: Readonly<Record<string, string>>;
  readonly before: SeriesState['state'];
  readonly state: SeriesState['state'];
  readonly value: number | null;
  /** Somebody was told that it fires. */
  readonly told: boolean;
}

export interface Judged {
  readonly state: Exclude<State, 'unknown'>;
  readonly value: number | null;
  readonly series: readonly SeriesState[];
  /** Beyond those that have a state. */
  readonly more: number;
  readonly changes: readonly SeriesChange[];
}

/** `before`: the series as the last look left them. A clock that went back begins no series in the future. */
export function judge(
  before: readonly SeriesState[],
  found: readonly AlertSeries[],
  condition: Condition,
  atMs: number,
): Judged {
  const known = new Map(before.map((series) => [keyOf(series.labels), series]));
  const now = boundedSeries(gather(found, condition), known, condition);
  const series: SeriesState[] = [];
  const changes: SeriesChange[] = [];
  for (const [key, { labels, value }] of now.kept) {
    const earlier = known.get(key) ?? null;
    known.delete(key);
    const next = nextState(earlier, labels, value, condition, atMs);
    series.push(next);
    const was = earlier?.state ?? 'ok';
    if (was !== next.state) changes.push(changeOf(next, was, earlier?.told ?? false));
  }
  // What is not there any more has ended, unless there was no room to look at it.
  for (const gone of known.values()) {
    const kept = firingOn(gone, condition, atMs);
    if (kept !== null && series.length < SERIES_MAX) {
      series.push({ ...kept, value: null });
      continue;
    }
    if (gone.state !== 'ok') changes.push(changeOf({ ...gone, state: 'ok', value: null }, gone.state, gone.told));
  }
  const state = stateOf(series);
  return { state, value: decidingValue(series, state, condition), series: inOrder(series), more: now.more, changes };
}

/** Of its series: firing if one fires, else pending if one is. */
export function stateOf(series: readonly SeriesState[]): Judged['state'] {
  if (series.some(({ state }) => state === 'firing')) return 'firing';
  return series.some(({ state }) => state === 'pending') ? 'pending' : 'ok';
}

export function holds(value: number, { above, below, firesWhenThere }: Condition): boolean {
  if (above !== null) return value > above;
  if (below !== null) return value < below;
  return firesWhenThere || value > 0;
}

/** The same text for the same labels. */
export function keyOf(labels: SeriesState['labels']): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nextState(
  earlier: SeriesState | null,
  labels: SeriesState['labels'],
  value: number,
  condition: Condition,
  atMs: number,
): SeriesState {
  const shown = Number.isFinite(value) ? value : null;
  const was = earlier?.state ?? 'ok';
  const sinceMs = Math.min(earlier?.sinceMs ?? atMs, atMs);
  if (!holds(value, condition)) {
    const kept = firingOn(earlier, condition, atMs);
    if (kept !== null) return { ...kept, value: shown };
    return { labels, state: 'ok', sinceMs: was === 'ok' ? sinceMs : atMs, value: shown, told: false };
  }
  if (was === 'firing') return { labels, state: 'firing', sinceMs, value: shown, told: earlier?.told ?? false };
  const heldSinceMs = was === 'pending' ? sinceMs : atMs;
  if (atMs - heldSinceMs >= condition.forMs)
    return { labels, state: 'firing', sinceMs: atMs, value: shown, told: false };
  return { labels, state: 'pending', sinceMs: heldSinceMs, value: shown, told: false };
}

/** A series that does not hold any more and fires on; null: it does not fire, or not any more. */
function firingOn(earlier: SeriesState | null, { keepMs }: Condition, atMs: number): SeriesState | null {
  if (earlier?.state !== 'firing') return null;
  const clearSinceMs = Math.min(earlier.clearSinceMs ?? atMs, atMs);
  return atMs - clearSinceMs < keepMs ? { ...earlier, clearSinceMs } : null;
}

const changeOf = (
  { labels, state, value }: Pick<SeriesState, 'labels' | 'state' | 'value'>,
  before: SeriesState['state'],
  told: boolean,
): SeriesChange => ({ labels, before, state, value, told });

interface Gathered {
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** A series for each value of the labels of `by`: the one that decides of those that have the same. */
function gather(found: readonly AlertSeries[], condition: Condition): Map<string, Gathered> {
  const all = new Map<string, Gathered>();
  for (const { labels, value } of found) {
    const own = boundedLabels(labels, condition.by);
    const key = keyOf(own);
    const other = all.get(key);
    if (other === undefined || isWorse(value, other.value, condition)) all.set(key, { labels: own, value });
  }
  return all;
}

function boundedLabels(labels: AlertSeries['labels'], by: readonly string[]): Record<string, string> {
  const entries = by.length === 0 ? Object.entries(labels) : by.map((name) => [name, labels[name] ?? ''] as const);
  return Object.fromEntries(
    entries
      .slice(0, SERIES_LABELS_MAX)
      .map(([name, value]) => [name, value.slice(0, VALUE_CHARACTERS_MAX).toWellFormed()]),
  );
}

/** A value that is no number is the last to decide. */
function isWorse(value: number, than: number, { below }: Condition): boolean {
  if (Number.isNaN(than)) return true;
  return below === null ? value > than : value < than;
}

/** Those that fire or may soon stay, then those that begin to; of equals the first in the order of their labels, so always the same ones. */
function boundedSeries(
  all: ReadonlyMap<string, Gathered>,
  known: ReadonlyMap<string, SeriesState>,
  condition: Condition,
) {
  if (all.size <= SERIES_MAX) return { kept: [...all], more: 0 };
  const rank = ([key, { value }]: readonly [string, Gathered]) => {
    const state = known.get(key)?.state ?? 'ok';
    if (state !== 'ok') return 0;
    return holds(value, condition) ? 1 : 2;
  };
  const sorted = [...all].sort((a, b) => rank(a) - rank(b) || (a[0] < b[0] ? -1 : 1));
  return { kept: sorted.slice(0, SERIES_MAX), more: all.size - SERIES_MAX };
}

/** Those that fire first, then those that may soon. */
function inOrder(series: readonly SeriesState[]): SeriesState[] {
  const rank = { firing: 0, pending: 1, ok: 2 } as const;
  return series.toSorted((a, b) => rank[a.state] - rank[b.state]);
}

function decidingValue(series: readonly SeriesState[], state: Judged['state'], condition: Condition): number | null {
  const values = series.flatMap((each) => (each.state === state && each.value !== null ? [each.value] : []));
  if (values.length === 0) return null;
  return values.reduce((worst, value) => (isWorse(value, worst, condition) ? value : worst));
}
