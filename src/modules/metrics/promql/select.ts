// Data that a query reads: the matchers and the time range of each selector.
import { type Modified, type Node, partsOf, type Query, type Subquery } from './query.ts';

/** Steps from `startMs` to `endMs`, both included; an instant query is a range of one step. */
export interface QueryRange {
  readonly startMs: number;
  readonly endMs: number;
  /** Above 0. */
  readonly stepMs: number;
}

export interface Selection {
  readonly matchers: Query['selectors'][number]['matchers'];
  /** Both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** A sample stands for so long, unless a marker says that its series has ended. */
export const LOOKBACK_MS = 5 * 60_000;

interface Span {
  /** Both included. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** In the order in which `evaluate` takes their series. */
export function selectionsOf({ root, selectors }: Pick<Query, 'root' | 'selectors'>, range: QueryRange): Selection[] {
  const spans = new Map<number, Span>();
  addSpans(root, { fromMs: range.startMs, toMs: range.endMs }, range, spans);
  return selectors.map(({ matchers, place }) => ({ matchers, ...(spans.get(place) as Span) }));
}

/** The times that are looked at of each selector, where the node is evaluated from `span.fromMs` to `span.toMs`. */
function addSpans(node: Node, span: Span, range: QueryRange, spans: Map<number, Span>): void {
  if (node.kind !== 'selector' && node.kind !== 'subquery') {
    for (const part of partsOf(node)) addSpans(part, span, range, spans);
    return;
  }
  const fixedMs = fixedTime(node, range);
  const { fromMs, toMs } = fixedMs === null ? span : { fromMs: fixedMs, toMs: fixedMs };
  const own = { fromMs: fromMs - node.offsetMs - (node.rangeMs ?? LOOKBACK_MS), toMs: toMs - node.offsetMs };
  if (node.kind === 'selector') spans.set(node.place, own);
  else addSpans(node.of, own, range, spans);
}

/** The time that `@` names; null without one. */
export function fixedTime({ at }: Pick<Modified, 'at'>, range: QueryRange): number | null {
  if (at === 'start') return range.startMs;
  return at === 'end' ? range.endMs : at;
}

/** The steps of a subquery: multiples of its step, from its range before the first step outside to the last one. `query`: of the whole query. */
export function innerRange(node: Subquery, outer: QueryRange, query: QueryRange): QueryRange {
  const { stepMs, rangeMs, offsetMs } = node;
  const lastMs = outer.startMs + Math.max(0, stepsOf(outer) - 1) * outer.stepMs;
  const fixedMs = fixedTime(node, query);
  const earliestMs = (fixedMs ?? outer.startMs) - offsetMs - rangeMs;
  const startMs = Math.ceil(earliestMs / stepMs) * stepMs;
  return { startMs, endMs: (fixedMs ?? lastMs) - offsetMs, stepMs };
}

export function stepsOf({ startMs, endMs, stepMs }: QueryRange): number {
  return endMs < startMs ? 0 : Math.floor((endMs - startMs) / stepMs) + 1;
}
