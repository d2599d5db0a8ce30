// Tables in the spirit of Prometheus' own test files (promql/promqltest/testdata: literals, operators, aggregators, functions, histograms, selectors,
// staleness, range_queries) and of promql-compliance's queries: series in its notation (`0+10x5`, `_` for no sample, `stale`), an expression, what it
// answers. Series, expressions and numbers are ours; each answer here is that of Prometheus, which test/metrics/promql-peer asks at random.
import { describe, expect, it } from 'vitest';
import { Problem } from '../../../../problems/problem.ts';
import { labelsText } from '../labels.ts';
import { parseQuery } from '../parse.ts';
import { answerAt, answerOf, load, MINUTE_MS, near, table } from './notation.fixture.ts';

describe('counters', () => {
  const counters = load(
    5 * MINUTE_MS,
    `hits{way="steady"} 0+12x10
     hits{way="reset"} 0+12x4 0+12x5
     hits{way="from12"} 12+12x10
     hits{way="from1"} 1+12x10`,
  );
  table(counters, 50, [
    // All samples are in the window: nothing is added at its ends.
    ['increase(hits{way="steady"}[50m])', { '{way="steady"}': 120 }],
    ['increase(hits{way="reset"}[50m])', { '{way="reset"}': 108 }],
    ['rate(hits{way="steady"}[50m])', { '{way="steady"}': 0.04 }],
    // Half an interval is added before the first sample, unless the counter began at zero within it.
    ['increase(hits{way="steady"}[100m])', { '{way="steady"}': 120 }],
    // As Prometheus 2.42 does; from 3.0 on it adds half an interval at most, which makes 126 of it.
    ['increase(hits{way="from12"}[100m])', { '{way="from12"}': 132 }],
    ['increase(hits{way="from1"}[100m])', { '{way="from1"}': 121 }],
    ['irate(hits{way="steady"}[50m])', { '{way="steady"}': 0.04 }],
    ['rate(hits{way="steady"}[4m])', {}],
    ['rate(hits{way="steady"}[10m] offset 5m)', { '{way="steady"}': 0.04 }],
  ]);
});

describe('gauges over time', () => {
  const gauges = load(MINUTE_MS, `temp{room="a"} 2 4 9 -1 6\ntemp{room="b"} 5 _ _ 7 NaN\nflag 1 1 1 1 1`);
  table(gauges, 4, [
    ['avg_over_time(temp{room="a"}[10m])', { '{room="a"}': 4 }],
    ['min_over_time(temp{room="a"}[10m])', { '{room="a"}': -1 }],
    ['max_over_time(temp[10m])', { '{room="a"}': 9, '{room="b"}': 7 }],
    ['sum_over_time(temp[10m])', { '{room="a"}': 20, '{room="b"}': Number.NaN }],
    ['count_over_time(temp[10m])', { '{room="a"}': 5, '{room="b"}': 3 }],
    ['last_over_time(temp{room="a"}[10m])', { 'temp{room="a"}': 6 }],
    ['present_over_time(temp[10m])', { '{room="a"}': 1, '{room="b"}': 1 }],
    ['stdvar_over_time(temp{room="a"}[10m])', { '{room="a"}': 11.6 }],
    ['stddev_over_time(temp{room="a"}[10m])', { '{room="a"}': near(Math.sqrt(11.6)) }],
    ['quantile_over_time(0.5, temp{room="a"}[10m])', { '{room="a"}': 4 }],
    ['quantile_over_time(0.75, temp{room="a"}[10m])', { '{room="a"}': 6 }],
    ['quantile_over_time(-1, temp{room="a"}[10m])', { '{room="a"}': -Infinity }],
    ['delta(temp{room="a"}[4m])', { '{room="a"}': 4 }],
    ['delta(flag[4m])', { '{}': 0 }],
    ['ceil(temp{room="a"} / 4)', { '{room="a"}': 2 }],
    ['floor(temp{room="a"} / 4)', { '{room="a"}': 1 }],
    ['round(temp{room="a"} / 4)', { '{room="a"}': 2 }],
    ['round(-temp{room="a"} / 4)', { '{room="a"}': -1 }],
    ['round(temp{room="a"}, 4)', { '{room="a"}': 8 }],
    ['clamp(temp{room="a"}, 0, 5)', { '{room="a"}': 5 }],
    ['clamp(temp{room="a"}, 5, 0)', {}],
    ['clamp_min(temp{room="a"}, 7)', { '{room="a"}': 7 }],
    ['clamp_max(temp{room="a"}, NaN)', { '{room="a"}': Number.NaN }],
    ['label_replace(flag, "to", "$1-$2", "none", "(.*)(.*)")', { 'flag{to="-"}': 1 }],
    ['label_replace(temp{room="a"}, "floor", "f$1", "room", "(.)")', { 'temp{floor="fa", room="a"}': 6 }],
    ['label_replace(temp{room="a"}, "floor", "x", "room", "b")', { 'temp{room="a"}': 6 }],
    ['label_replace(temp{room="a"}, "room", "", "room", "a")', { 'temp{}': 6 }],
  ]);
});

describe('histograms', () => {
  const histograms = load(
    5 * MINUTE_MS,
    `wait_bucket{le="0.1", way="in"} 0+5x10
     wait_bucket{le="0.5", way="in"} 0+15x10
     wait_bucket{le="2", way="in"} 0+20x10
     wait_bucket{le="+Inf", way="in"} 0+25x10
     wait_bucket{le="1", way="out"} 0+10x10
     wait_bucket{le="Inf", way="out"} 0+10x10
     wait_bucket{le="3", way="endless"} 0+10x10
     wait_bucket{le="-1", way="below"} 0+4x10
     wait_bucket{le="+Inf", way="below"} 0+8x10
     wait_bucket{le="nonsense", way="wrong"} 0+8x10`,
  );
  table(histograms, 50, [
    ['histogram_quantile(0.5, wait_bucket{way="in"})', { '{way="in"}': 0.4 }],
    ['histogram_quantile(0.1, wait_bucket{way="in"})', { '{way="in"}': 0.05 }],
    ['histogram_quantile(0, wait_bucket{way="in"})', { '{way="in"}': 0 }],
    // Beyond the last bound nothing is known.
    ['histogram_quantile(0.99, wait_bucket{way="in"})', { '{way="in"}': 2 }],
    ['histogram_quantile(1, wait_bucket{way="in"})', { '{way="in"}': 2 }],
    ['histogram_quantile(-0.1, wait_bucket{way="in"})', { '{way="in"}': -Infinity }],
    ['histogram_quantile(1.1, wait_bucket{way="in"})', { '{way="in"}': Infinity }],
    ['histogram_quantile(NaN, wait_bucket{way="in"})', { '{way="in"}': Number.NaN }],
    ['histogram_quantile(0.5, wait_bucket{way="out"})', { '{way="out"}': 0.5 }],
    ['histogram_quantile(0.5, wait_bucket{way="endless"})', { '{way="endless"}': Number.NaN }],
    ['histogram_quantile(0.1, wait_bucket{way="below"})', { '{way="below"}': -1 }],
    ['histogram_quantile(0.5, wait_bucket{way="wrong"})', {}],
    ['histogram_quantile(0.5, rate(wait_bucket{way="in"}[20m]))', { '{way="in"}': 0.4 }],
    ['histogram_quantile(0.5, sum by (le) (rate(wait_bucket{way=~"in"}[20m])))', { '{}': 0.4 }],
  ]);
});

describe('selectors', () => {
  const services = load(
    MINUTE_MS,
    `up{job="api", zone="eu-1"} 1\nup{job="api-canary", zone="eu-2"} 1\nup{job="web"} 1\nother:sum{job="api"} 2`,
  );
  const ups = (text: string) => Object.keys(answerAt(text, services, 0) as object).sort();
  it.each([
    ['up{job="api"}', ['up{job="api", zone="eu-1"}']],
    ['up{job!="api"}', ['up{job="api-canary", zone="eu-2"}', 'up{job="web"}']],
    // Whole values are matched.
    ['up{job=~"api"}', ['up{job="api", zone="eu-1"}']],
    ['up{job=~"api.*"}', ['up{job="api", zone="eu-1"}', 'up{job="api-canary", zone="eu-2"}']],
    ['up{job!~"api.*"}', ['up{job="web"}']],
    ['up{job=~"web|api"}', ['up{job="api", zone="eu-1"}', 'up{job="web"}']],
    ['up{job=~"(?i)API"}', ['up{job="api", zone="eu-1"}']],
    // A label that is not there is empty.
    ['up{zone=""}', ['up{job="web"}']],
    ['up{zone!=""}', ['up{job="api", zone="eu-1"}', 'up{job="api-canary", zone="eu-2"}']],
    ['up{zone=~"|eu-1"}', ['up{job="api", zone="eu-1"}', 'up{job="web"}']],
    ['{__name__=~"other.+"}', ['other:sum{job="api"}']],
    ['other:sum', ['other:sum{job="api"}']],
    ['{job="api", __name__!="up"}', ['other:sum{job="api"}']],
    ['up{job="api", job!="api"}', []],
    ['up{job="api",}', ['up{job="api", zone="eu-1"}']],
  ])('%s', (text, due) => expect(ups(text)).toEqual(due));
});

describe('staleness', () => {
  const gone = load(MINUTE_MS, `seen 1 2 stale\nlate 7\nagain 1 stale 3`);
  it.each([
    ['seen', 1, { 'seen{}': 2 }],
    ['seen', 2, {}],
    ['seen', 3, {}],
    ['again', 1, {}],
    ['again', 2, { 'again{}': 3 }],
    ['seen offset 1m', 2, { 'seen{}': 2 }],
    ['count_over_time(seen[5m])', 3, { '{}': 2 }],
    // A sample stands for less than five minutes.
    ['late', 4, { 'late{}': 7 }],
    ['late', 6, {}],
    ['late offset 2m', 6, { 'late{}': 7 }],
  ] as const)('%s at minute %i', (text, at, due) => expect(answerAt(text, gone, at)).toEqual(due));
});

describe('ranges', () => {
  const range = { startMs: 0, endMs: 8 * MINUTE_MS, stepMs: 2 * MINUTE_MS };
  const data = load(MINUTE_MS, `n{k="a"} 0+1x8\nn{k="b"} _ _ _ 5 stale`);
  const points = (text: string) => {
    const answer = answerOf(text, data, range);
    if (answer.type === 'scalar') return [...answer.values];
    if (answer.type === 'string') return answer.value;
    return Object.fromEntries(
      answer.series.map(({ labels, times, values }) => [
        labelsText(labels),
        Array.from(times, (time, i) => [time / MINUTE_MS, near(values[i] as number)]),
      ]),
    );
  };
  const evens = [0, 2, 4, 6, 8];
  it.each([
    ['n{k="a"}', { 'n{k="a"}': evens.map((at) => [at, at]) }],
    ['n{k="b"}', {}],
    ['n{k="b"} offset 1m', { 'n{k="b"}': [[4, 5]] }],
    ['sum(n)', { '{}': evens.map((at) => [at, at]) }],
    [
      'n{k="a"} > 4',
      {
        'n{k="a"}': [
          [6, 6],
          [8, 8],
        ],
      },
    ],
    [
      'n{k="a"} % 4 == 0',
      {
        '{k="a"}': [
          [0, 0],
          [4, 0],
          [8, 0],
        ],
      },
    ],
    ['3', [3, 3, 3, 3, 3]],
    [
      'sum_over_time(n{k="a"}[90s])',
      {
        '{k="a"}': [
          [0, 0],
          [2, 3],
          [4, 7],
          [6, 11],
          [8, 15],
        ],
      },
    ],
  ])('%s', (text, due) => expect(points(text)).toEqual(due));
});

describe('what is not evaluated is UNSUPPORTED_QUERY', () => {
  const functions = `double_exponential_smoothing histogram_avg histogram_count histogram_fraction histogram_stddev histogram_stdvar
    histogram_sum info mad_over_time sort_by_label sort_by_label_desc ts_of_first_over_time ts_of_max_over_time`;
  const others = ['limitk(1, up)', 'limit_ratio(0.1, up)', 'rate(up[5m]) + 5m'];
  const code = (text: string) => {
    try {
      parseQuery(text);
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    }
    return 'answered';
  };
  it.each([...functions.split(/\s+/).map((name) => `${name}(up)`), ...others])('%s', (text) => {
    expect(code(text)).toBe('UNSUPPORTED_QUERY');
  });
});
