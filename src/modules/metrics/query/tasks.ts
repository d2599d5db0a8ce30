// Thread tasks of queries: parse a query, evaluate it over blocks, and list series and labels. Each answers finished JSON.
import type { ScanTask, StoredBlock } from '../../../blocks/block.ts';
import type { ProblemEntry } from '../../../problems/catalogue.ts';
import { invalidField, Problem, type ProblemOptions } from '../../../problems/problem.ts';
import { ANSWER_SERIES_MAX, SELECTED_SAMPLES_MAX } from '../limits.ts';
import { evaluate } from '../promql/evaluate.ts';
import { Expressions, NeedsThread } from '../promql/expressions.ts';
import { sortedByLabels } from '../promql/labels.ts';
import { parseQuery } from '../promql/parse.ts';
import type { Expression } from '../promql/query.ts';
import { type QueryRange, selectionsOf } from '../promql/select.ts';
import { tooComplex } from '../promql/too-complex.ts';
import type { Series } from '../promql/values.ts';
import { chunksIn, samplesOf } from '../samples/kind.ts';
import type { PlainMatcher, SeriesPage } from './candidates.ts';
import { chosenOf } from './chosen.ts';
import { type ListKind, listText } from './lists.ts';
import { type ResultText, resultText } from './result.ts';

/** A Problem without its class, which it loses on the way from a thread. */
export type Told<Answer> =
  | { readonly answer: Answer }
  /** The query has what only a thread may do. */
  | { readonly needsThread: true }
  | { readonly failure: readonly [code: string, entry: ProblemEntry, options: ProblemOptions] };

function answerTask<Args extends Where, Answer>(
  id: string,
  run: (blocks: readonly StoredBlock[], args: Args) => Answer,
): ScanTask<Args, Told<Answer>> {
  return {
    source: import.meta.url,
    id,
    run(blocks, args) {
      try {
        return { answer: run(blocks, args) };
      } catch (error) {
        if (error instanceof NeedsThread) return { needsThread: true };
        if (!(error instanceof Problem)) throw error;
        const { code, entry, message, detail, param, errors } = error;
        return { failure: [code, entry, { message, detail, param, errors } as ProblemOptions] };
      }
    },
  };
}

/** Where it runs: `here`, on the thread of the event loop, no expression is compiled. */
export interface Where {
  readonly here: boolean;
}

const expressionsFor = ({ here }: Where) => (here ? Expressions.none() : new Expressions());

export interface PlainSelection {
  readonly matchers: readonly PlainMatcher[];
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Asked extends Where {
  readonly query: string;
  readonly range: QueryRange;
  /** `selector`: it must be one alone. */
  readonly as: 'instant' | 'range' | 'selector';
}

export interface ReadQuery {
  readonly expression: Expression;
  /** What its selectors read, in the order of their places. */
  readonly selections: readonly PlainSelection[];
  readonly hasExpressions: boolean;
}

export const readQuery = answerTask('readQuery', (_blocks, { query, range, as, here }: Asked): ReadQuery => {
  const read = parseQuery(query, expressionsFor({ here }));
  const { root, type } = read;
  if (as === 'range' && type !== 'vector' && type !== 'scalar') {
    throw invalidField(
      'query',
      'type',
      `A query over a range must answer a number or an instant vector at each step, not a ${type}.`,
    );
  }
  if (
    as === 'selector' &&
    !(root.kind === 'selector' && root.rangeMs === null && root.offsetMs === 0 && root.at === null)
  ) {
    throw invalidField('match', 'type', 'match must be a selector such as up{job="api"}.');
  }
  const selections = selectionsOf(read, range).map(({ matchers, fromMs, toMs }) => ({
    matchers: matchers.map(({ label, op, value }) => ({ label, op, value })),
    fromMs,
    toMs,
  }));
  return { expression: { root, type }, selections, hasExpressions: read.hasExpressions };
});

export interface Evaluated extends Omit<ReadQuery, 'hasExpressions'>, Pick<Asked, 'range' | 'as' | 'here'> {
  /** Of each selection. */
  readonly pages: readonly (readonly SeriesPage[])[];
  readonly leftMs: number;
}

export const evaluateQuery = answerTask('evaluateQuery', (blocks, asked: Evaluated): ResultText => {
  const deadlineMs = performance.now() + asked.leftMs;
  const expressions = expressionsFor(asked);
  const chosen = asked.selections.map(({ matchers }, i) => chosenOf(asked.pages[i] ?? [], matchers, expressions));
  const samples = samplesById(blocks, new Set(chosen.flatMap((series) => series.map(({ id }) => id))), deadlineMs);
  const data = asked.selections.map(({ fromMs, toMs }, i) =>
    sortedByLabels(chosen[i] ?? []).flatMap(({ id, labels }): Series[] => {
      const all = samples.get(id);
      if (all === undefined) return [];
      const from = lowerBound(all.times, fromMs);
      const to = lowerBound(all.times, toMs + 1);
      return from === to
        ? []
        : [{ labels, times: all.times.subarray(from, to), values: all.values.subarray(from, to) }];
    }),
  );
  const bounds = { deadlineMs, samplesMax: SELECTED_SAMPLES_MAX, seriesMax: ANSWER_SERIES_MAX, expressions };
  return resultText(evaluate(asked.expression, asked.range, data, bounds), asked);
});

function samplesById(blocks: readonly StoredBlock[], wanted: ReadonlySet<string>, deadlineMs: number) {
  const chunks = new Map<string, Buffer[]>();
  for (const [id, chunk] of chunksIn(blocks, (each) => wanted.has(each))) {
    const of = chunks.get(id);
    if (of === undefined) chunks.set(id, [chunk]);
    else of.push(chunk);
  }
  let total = 0;
  const samples = new Map<string, Pick<Series, 'times' | 'values'>>();
  for (const [id, of] of chunks) {
    const made = samplesOf(of);
    total += made.times.length;
    if (total > SELECTED_SAMPLES_MAX) {
      throw tooComplex(
        `The query reads more than ${SELECTED_SAMPLES_MAX} samples. Ask for fewer series, or a shorter time.`,
      );
    }
    if (performance.now() > deadlineMs)
      throw tooComplex('The query takes too long. Ask for fewer series, or a shorter time.');
    samples.set(id, made);
  }
  return samples;
}

/** The first place whose time is not before `timeMs`. */
function lowerBound(times: Float64Array, timeMs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface ListAsked extends Where {
  readonly kind: ListKind;
  /** Series that match any of these. */
  readonly selectors: readonly (readonly PlainMatcher[])[];
  readonly pages: readonly (readonly SeriesPage[])[];
  readonly limit: number;
}

export const listSeries = answerTask('listSeries', (_blocks, { kind, selectors, pages, limit, here }: ListAsked) => {
  const expressions = expressionsFor({ here });
  return listText(
    kind,
    selectors.flatMap((matchers, i) => chosenOf(pages[i] ?? [], matchers, expressions)),
    limit,
  );
});
