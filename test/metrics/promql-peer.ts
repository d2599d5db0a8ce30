// Random series and random queries of all that we evaluate, asked of Prometheus and of ourselves.

import { evaluate } from '../../src/modules/metrics/promql/evaluate.ts';
import { labelsOf, signature } from '../../src/modules/metrics/promql/labels.ts';
import { matchesAll } from '../../src/modules/metrics/promql/matchers.ts';
import { parseQuery } from '../../src/modules/metrics/promql/parse.ts';
import { type QueryRange, selectionsOf } from '../../src/modules/metrics/promql/select.ts';
import type { Series } from '../../src/modules/metrics/promql/values.ts';
import { Problem } from '../../src/problems/problem.ts';
import type { Prometheus } from './prometheus.ts';

type Random = (below: number) => number;
const HOUR_MS = 3_600_000;
const staleBits = Buffer.from([2, 0, 0, 0, 0, 0, 0xf0, 0x7f]);

/** An hour of samples before `endMs`: counters with resets, gauges with every kind of value, histograms; with gaps and ends. */
export function randomSeries(random: Random, endMs: number, isPlain = false): Series[] {
  const made = new Map<string, Series>();
  const jobs = ['a', 'b', 'c'];
  for (const name of ['requests_total', 'queue_length', 'latency_bucket', 'info']) {
    for (const job of jobs.slice(0, 1 + random(3))) {
      for (let instance = 0; instance < 1 + random(3); instance += 1) {
        const bounds = name === 'latency_bucket' ? ['0.1', '0.5', '1', '+Inf'] : [''];
        for (const le of bounds) {
          const pairs: [string, string][] = [
            ['__name__', name],
            ['job', job],
            ['instance', `i${instance}`],
            ['le', le],
          ];
          if (random(3) === 0) pairs.push(['zone', `z${random(2)}`]);
          const labels = labelsOf(pairs);
          made.set(signature(labels), {
            labels,
            ...samples(random, isPlain ? 'plain' : name, endMs, Number(le === '' ? 1 : bounds.indexOf(le) + 1)),
          });
        }
      }
    }
  }
  return [...made.values()];
}

function samples(random: Random, name: string, endMs: number, factor: number): Pick<Series, 'times' | 'values'> {
  const stepMs = [5_000, 15_000, 60_000][random(3)] as number;
  const times: number[] = [];
  let time = endMs - HOUR_MS + random(60_000);
  // How long a sample stands for is a thing of its own in victoria-metrics: series for it have no gaps.
  const isPlain = name === 'plain';
  while (time < endMs - (!isPlain && random(8) === 0 ? random(HOUR_MS) : 0)) {
    // Its windows leave out their beginning: there is never a sample.
    times.push(isPlain ? time - (time % 2) + 1 : time);
    time += stepMs + random(300) + (!isPlain && random(40) === 0 ? 400_000 : 0);
  }
  const values = new Float64Array(times.length);
  const bytes = Buffer.from(values.buffer);
  let counter = random(1_000);
  for (let i = 0; i < times.length; i += 1) {
    counter = random(50) === 0 ? random(5) : counter + random(20) * factor;
    const gauge = random(100_000_000) / 8_192 - 4_000;
    values[i] = name === 'queue_length' ? gauge : name === 'info' ? 1 : counter;
    if (name === 'queue_length' && random(60) === 0)
      values[i] = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][random(3)] as number;
    if (name !== 'latency_bucket' && !isPlain && random(60) === 0) staleBits.copy(bytes, i * 8);
  }
  return { times: Float64Array.from(times), values };
}

const names = ['requests_total', 'queue_length', 'latency_bucket', 'info'];
const windows = ['rate', 'irate', 'increase', 'delta'];
const overTime = ['avg', 'min', 'max', 'sum', 'count', 'last', 'present', 'stddev', 'stdvar'];

export function randomQuery(random: Random, depth = 3): string {
  const pick = <T>(of: readonly T[]) => of[random(of.length)] as T;
  const labels = () => pick(['job', 'instance', 'job, instance', 'zone', '', 'job, zone']);
  const matcher = () =>
    pick(['job="a"', 'job!="a"', 'job=~"a|b"', 'instance!~"i[01]"', 'zone=""', 'zone=~".+"', 'instance=~"i.*"']);
  const offset = () => {
    const parts = [
      ...(random(5) === 0 ? [`offset ${pick(['1m', '7m', '-2m'])}`] : []),
      ...(random(8) === 0 ? [`@ ${pick(['start()', 'end()', '0', '1e9'])}`] : []),
    ];
    return parts.length === 0 ? '' : ` ${(random(2) === 0 ? parts : parts.reverse()).join(' ')}`;
  };
  const selector = () =>
    `${pick(names)}${random(2) === 0 ? `{${[matcher(), matcher()].slice(0, 1 + random(2)).join(', ')}}` : ''}`;
  const span = () => pick(['30s', '1m', '5m', '17m']);
  const range = () =>
    random(6) === 0
      ? `(${vector(random(2))})[${span()}:${pick(['', '20s', '1m', '7m'])}]${offset()}`
      : `${selector()}[${span()}]${offset()}`;
  const number = () => pick(['2', '0.5', '-1', '1e3', '7', '0', 'Inf', '-Inf', 'NaN']);
  const vector = (left: number): string => {
    if (left === 0) return `${selector()}${offset()}`;
    const within = () => vector(left - 1);
    switch (random(16)) {
      case 0:
        return `${pick(windows)}(${range()})`;
      case 1:
        return `${pick(overTime)}_over_time(${range()})`;
      case 2:
        return `quantile_over_time(${pick(['0', '0.3', '0.99', '1.5'])}, ${range()})`;
      case 3:
        return `${pick(['sum', 'avg', 'min', 'max', 'count', 'group', 'stddev', 'stdvar'])} ${pick(['by', 'without'])} (${labels()}) (${within()})`;
      case 4:
        // Of equal values either may be chosen: these are hardly ever equal, without infinities.
        return `${pick(['topk', 'bottomk'])}(${pick(['1', '2', '5'])}, queue_length${offset()} < 1e9 > -1e9)`;
      case 5:
        return `quantile by (${labels()}) (${pick(['0.5', '0.9', '-1', '2'])}, ${within()})`;
      case 6:
        return `histogram_quantile(${pick(['0.5', '0.9', '0', '1', '2'])}, sum by (le, job) (rate(latency_bucket[${pick(['1m', '5m'])}])))`;
      case 7:
        return `(${within()}) ${pick(['+', '-', '*', '/', '^', '==', '!=', '>', '<', '>=', '<=', '> bool', '== bool'])} ${number()}`;
      case 8:
        return `${number()} ${pick(['+', '-', '*', '/', '>', '<= bool', '!='])} (${within()})`;
      case 9:
        return `(${within()}) ${pick(['+', '-', '/', '==', '> bool', 'and', 'or', 'unless'])} ${pick(['', 'on (job, instance)', 'ignoring (zone, le)', 'on (job) group_left ()', 'on (instance) group_right (zone)', 'ignoring (zone) group_left (zone)'])} (${within()})`;
      case 10:
        // Of what was computed, the last bit may differ by the order of series: a whole number would make that large.
        return `${pick(['ceil', 'floor', 'round'])}(${selector()}${offset()})`;
      case 11:
        return `${pick(['idelta', 'changes', 'resets', 'deriv', 'absent_over_time'])}(${range()})`;
      case 12:
        return pick([
          // Over a range Prometheus 2.42 answers it with @ at the first step alone.
          () => `predict_linear(${selector()}[${span()}], ${pick(['60', '-30', '3600'])})`,
          () => `holt_winters(${range()}, ${pick(['0.1', '0.5', '1'])}, ${pick(['0.3', '0.9'])})`,
          () => `count_values by (${labels()}) ("value", ${pick(['info', 'floor(queue_length)', 'requests_total'])})`,
        ])();
      case 13:
        return pick([
          () => `absent(${pick([selector(), within()])})`,
          () => `vector(scalar(${within()}))`,
          () => `(${within()}) > scalar(${selector()})`,
          () => `vector(${pick(['time()', 'pi()', '2 ^ 0.5'])})`,
          // As predict_linear.
          () => `(timestamp(${pick([selector(), `${selector()} offset 1m`])}) % 512)`,
          () => `${pick(['sort', 'sort_desc'])}(${within()})`,
        ])();
      case 14: {
        const name = pick([
          'minute',
          'hour',
          'day_of_month',
          'day_of_week',
          'day_of_year',
          'days_in_month',
          'month',
          'year',
        ]);
        return `${name}(${pick(['', 'requests_total * 1e6', 'vector(time())', `timestamp(${selector()})`])})`;
      }
      case 15:
        return pick([
          () => `${pick(['abs', 'sgn', 'sqrt', 'exp', 'ln', 'log2', 'log10'])}(${within()})`,
          () => `${pick(['sin', 'cos', 'tan', 'rad', 'deg'])}(requests_total)`,
          () => `${pick(['asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh'])}(info / 2)`,
          () => `label_join(${within()}, "${pick(['new', 'job'])}", "${pick(['-', ''])}", "job", "zone", "none")`,
          () => `(${within()}) atan2 ${pick(['(info)', '2'])}`,
        ])();
      default:
        return pick([
          () => `clamp(${within()}, ${number()}, ${number()})`,
          () => `clamp_${pick(['min', 'max'])}(${within()}, ${number()})`,
          () => `histogram_quantile(${pick(['0.5', '0.9'])}, latency_bucket)`,
          () => `round(${selector()}, ${pick(['0.1', '5', '0.25'])})`,
          () => `label_replace(${within()}, "zone", "$1-x", "instance", "i(.*)")`,
          () =>
            `label_replace(${within()}, "${pick(['new', 'job'])}", "\${1}", "job", "${pick(['(a|b)', '.*', '(c)?.*'])}")`,
          () => `${selector()} % ${number()}`,
          () => `-(${within()})`,
        ])();
    }
  };
  return vector(depth);
}

/** What victoria-metrics answers as Prometheus does: not rates, which it does not extrapolate, nor names, which it keeps elsewhere. */
export function randomSharedQuery(random: Random): string {
  const pick = <T>(of: readonly T[]) => of[random(of.length)] as T;
  const selector = () => `${pick(names)}{${pick(['job=~"a|b"', 'job!="b"', 'instance!~"i[01]"', 'zone=~".+"'])}}`;
  const vector = (depth: number): string => {
    if (depth === 0) return selector();
    switch (random(5)) {
      case 0:
        return `${pick(['avg', 'min', 'max', 'sum', 'count', 'stdvar'])}_over_time(${selector()}[${pick(['2m', '5m', '17m'])}])`;
      case 1:
        return `(${vector(depth - 1)}) ${pick(['+', '*', '-', '>', '<='])} ${pick(['2', '0.5', '1e3'])}`;
      case 2:
        return `${pick(['ceil', 'floor'])}(${selector()})`;
      case 3:
        return `${pick(['sum', 'min', 'max', 'avg', 'count', 'quantile'])} by (job, instance) ${'('}${vector(depth - 1)})`.replace(
          'quantile by (job, instance) (',
          'quantile by (job, instance) (0.5, ',
        );
      default:
        return selector();
    }
  };
  return `${pick(['sum', 'max'])} by (job, instance, zone, le) (${vector(2)})`;
}

interface Plain {
  readonly labels: string;
  readonly samples: readonly (readonly [number, number])[];
}

/** Null: it refuses the query. */
export async function theirAnswer(prometheus: Prometheus, query: string, range: QueryRange): Promise<Plain[] | null> {
  const isInstant = range.startMs === range.endMs;
  const seconds = (ms: number) => String(ms / 1_000);
  const said = isInstant
    ? await prometheus.ask('query', { query, time: seconds(range.startMs) })
    : await prometheus.ask('query_range', {
        query,
        start: seconds(range.startMs),
        end: seconds(range.endMs),
        step: seconds(range.stepMs),
      });
  if (said.status !== 'success') return null;
  const { result } = said.data as {
    result: { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }[];
  };
  return result
    .map(({ metric, value, values }) => ({
      labels: signature(labelsOf(Object.entries(metric))),
      samples: (values ?? [value as [number, string]]).map(([time, text]): [number, number] => [
        Math.round(time * 1_000),
        numberOf(text),
      ]),
    }))
    .sort(byLabels);
}

const byLabels = (a: Plain, b: Plain) => (a.labels < b.labels ? -1 : 1);
const numberOf = (text: string) =>
  text === '+Inf' ? Number.POSITIVE_INFINITY : text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);

export function ourAnswer(series: readonly Series[], text: string, range: QueryRange): Plain[] | null {
  try {
    const query = parseQuery(text);
    const data = selectionsOf(query, range).map(({ matchers }) =>
      series.filter(({ labels }) => matchesAll(matchers, labels)),
    );
    const answer = evaluate(query, range, data, {
      deadlineMs: performance.now() + 60_000,
      samplesMax: 1e8,
      seriesMax: 1e5,
    });
    if (answer.type !== 'vector' && answer.type !== 'range') throw new Error('no vector');
    return answer.series
      .map(({ labels, times, values }) => ({
        labels: signature(labels),
        samples: Array.from(times, (time, i): [number, number] => [time, values[i] as number]),
      }))
      .sort(byLabels);
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALIDATION_FAILED') return null;
    throw error;
  }
}

/** What differs, in words; null: nothing does. */
export function difference(theirs: Plain[] | null, ours: Plain[] | null): string | null {
  if (theirs === null || ours === null)
    return theirs === ours
      ? null
      : `theirs ${theirs === null ? 'refuses' : 'answers'}, ours ${ours === null ? 'refuses' : 'answers'}`;
  if (theirs.length !== ours.length) return `theirs has ${theirs.length} series, ours ${ours.length}`;
  for (const [i, their] of theirs.entries()) {
    const our = ours[i] as Plain;
    if (their.labels !== our.labels) return `labels ${JSON.stringify(their.labels)} and ${JSON.stringify(our.labels)}`;
    if (their.samples.length !== our.samples.length)
      return `theirs has ${their.samples.length} samples, ours ${our.samples.length}`;
    for (const [n, [time, value]] of their.samples.entries()) {
      const [ourTime, ourValue] = our.samples[n] as readonly [number, number];
      if (time !== ourTime || !near(value, ourValue)) return `at ${time} ${value}, ours at ${ourTime} ${ourValue}`;
    }
  }
  return null;
}

function near(a: number, b: number): boolean {
  return Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b));
}
