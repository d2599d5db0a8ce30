// Upper bound of a query's cost, computed before evaluation: the values of each part, step and series. It decides where the query is evaluated:
// costly queries never run on the event loop's thread.
import type { Node, Selector, Subquery } from './query.ts';
import { innerRange, type QueryRange, stepsOf } from './select.ts';
import { typeOf } from './types.ts';

export interface CostSource {
  readonly range: QueryRange;
  /** Of the whole query, where `range` is that of a subquery. */
  readonly query?: QueryRange;
  /** Of each selector, by its place. */
  readonly series: readonly number[];
  /** Of all series together. */
  readonly samples: number;
}

interface Part {
  readonly cost: number;
  /** Series that it has at most. */
  readonly series: number;
}

/** A function over a range passes over so many samples in the time of a value; quantile_over_time sorts them. */
const SAMPLES_A_VALUE = 10;

/** Values, or what takes as long. */
export function costOf(root: Node, source: CostSource): number {
  return partOf(root, source).cost;
}

function partOf(node: Node, source: CostSource): Part {
  const steps = stepsOf(source.range);
  switch (node.kind) {
    case 'number':
    case 'string':
      return { cost: steps, series: 1 };
    case 'selector':
      return selectorPart(node, source, steps, SAMPLES_A_VALUE);
    case 'subquery':
      return subqueryPart(node, source, steps, SAMPLES_A_VALUE);
    case 'negated': {
      const { cost, series } = partOf(node.of, source);
      return { cost: cost + series * steps, series };
    }
    case 'aggregation': {
      const { cost, series } = partOf(node.of, source);
      const param = node.param === null ? 0 : partOf(node.param, source).cost;
      return { cost: cost + param + series * steps, series };
    }
    case 'call': {
      const perValue = node.name === 'quantile_over_time' ? 1 : SAMPLES_A_VALUE;
      const parts = node.args.map((arg) =>
        arg.kind === 'selector'
          ? selectorPart(arg, source, steps, perValue)
          : arg.kind === 'subquery'
            ? subqueryPart(arg, source, steps, perValue)
            : partOf(arg, source),
      );
      const series = Math.max(1, ...parts.map((each) => each.series));
      return { cost: parts.reduce((sum, { cost }) => sum + cost, series * steps), series };
    }
    case 'binary': {
      const [left, right] = [partOf(node.left, source), partOf(node.right, source)];
      // A join looks at each pair.
      const isJoin = typeOf(node.left) === 'vector' && typeOf(node.right) === 'vector';
      const series = isJoin
        ? Math.max(left.series * right.series, left.series + right.series)
        : Math.max(left.series, right.series);
      return { cost: left.cost + right.cost + series * steps, series };
    }
  }
}

function selectorPart(
  { place, rangeMs }: Selector,
  { range, series, samples }: CostSource,
  steps: number,
  perValue: number,
): Part {
  const own = series[place] ?? 0;
  // Each sample lies in so many windows.
  const windows = rangeMs === null ? 1 : Math.min(steps, Math.ceil(rangeMs / range.stepMs) + 1);
  return { cost: own * steps + (samples * windows) / perValue, series: own };
}

function subqueryPart(node: Subquery, source: CostSource, steps: number, perValue: number): Part {
  const query = source.query ?? source.range;
  const range = innerRange(node, source.range, query);
  const { cost, series } = partOf(node.of, { ...source, range, query });
  const windows = Math.min(steps, Math.ceil(node.rangeMs / source.range.stepMs) + 1);
  return { cost: cost + series * steps + (series * stepsOf(range) * windows) / perValue, series };
}
