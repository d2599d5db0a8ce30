import { describe, expect, it } from 'vitest';
import { threadMsOf } from '../../../../test/support/thread-time.ts';
import { Problem } from '../../../problems/problem.ts';
import { evaluate } from './evaluate.ts';
import { labelsOf, labelsText, sortedByLabels } from './labels.ts';
import { matchesAll } from './matchers.ts';
import { parseQuery } from './parse.ts';
import { selectionsOf } from './select.ts';
import type { Series } from './values.ts';

const MINUTE_MS = 60_000;
/** Samples a minute apart, the last one at the time of the question. */
function series(labels: Readonly<Record<string, string>>, values: readonly number[]): Series {
  const times = values.map((_, i) => (i - values.length + 1) * MINUTE_MS + NOW_MS);
  return {
    labels: labelsOf(Object.entries(labels)),
    times: Float64Array.from(times),
    values: Float64Array.from(values),
  };
}
const NOW_MS = 1_790_000_000_000;
const bounds = { deadlineMs: Number.POSITIVE_INFINITY, samplesMax: 1e6, seriesMax: 1_000 };
const range = { startMs: NOW_MS, endMs: NOW_MS, stepMs: 1 };
const all = [
  series({ __name__: 'up', job: 'a', instance: '1' }, [1, 1, 1]),
  series({ __name__: 'up', job: 'b', instance: '2' }, [0, 0, 0]),
  series({ __name__: 'requests', job: 'a', code: '200' }, [0, 60, 120]),
  series({ __name__: 'requests', job: 'a', code: '500' }, [10, 4, 10]),
];

function asked(text: string, own = bounds, data = all) {
  const query = parseQuery(text);
  const selected = selectionsOf(query, range).map(({ matchers }) =>
    data.filter(({ labels }) => matchesAll(matchers, labels)),
  );
  const answer = evaluate(query, range, selected, own);
  if (answer.type === 'string') return answer.value;
  if (answer.type === 'scalar') return answer.values[0];
  return Object.fromEntries(
    answer.series.map(({ labels, values }) => [labelsText(labels), values.length === 1 ? values[0] : [...values]]),
  );
}

function failure(text: string, own = bounds): Problem {
  return failureOf(() => asked(text, own));
}

function failureOf(act: () => unknown): Problem {
  try {
    act();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it is answered');
}

describe('a query is answered', () => {
  const cases: [string, unknown][] = [
    ['1 + 2 * 3 ^ 2 ^ 0.5', 1 + 2 * 3 ** (2 ** 0.5)],
    ['-1 ^ 2', -1],
    ['"a\\tb"', 'a\tb'],
    ['up', { 'up{instance="1", job="a"}': 1, 'up{instance="2", job="b"}': 0 }],
    ['up == 1', { 'up{instance="1", job="a"}': 1 }],
    ['sum(up)', { '{}': 1 }],
    ['requests{code="200"}[2m]', { 'requests{code="200", job="a"}': [0, 60, 120] }],
    ['rate(requests{code="200"}[2m])', { '{code="200", job="a"}': 1 }],
    ['increase(requests{code="500"}[2m])', { '{code="500", job="a"}': 10 }],
    [
      'sum by (code) (requests) / on () group_left () sum(requests)',
      { '{code="200"}': 120 / 130, '{code="500"}': 10 / 130 },
    ],
    ['requests offset 1m', { 'requests{code="200", job="a"}': 60, 'requests{code="500", job="a"}': 4 }],
    ['up and on (job) requests', { 'up{instance="1", job="a"}': 1 }],
    ['topk(1, requests)', { 'requests{code="200", job="a"}': 120 }],
    ['label_replace(up{job="a"}, "job", "${1}x", "instance", "(.+)")', { 'up{instance="1", job="1x"}': 1 }],
    ['nothing', {}],
    ['requests{code="200"} / requests{code="200"} offset 1m', { '{code="200", job="a"}': 2 }],
    ['-requests{code="200"} offset 1m', { '{code="200", job="a"}': -60 }],
    ['up{job="a"} offset 1m or requests{code="200"} offset -10m', { 'up{instance="1", job="a"}': 1 }],
    ['requests{code="200"} + requests{code="200"} offset 1m * 2', { '{code="200", job="a"}': 240 }],
    ['sum(requests OFFSET 1m) - 4', { '{}': 60 }],
    ['increase(requests{code="200"}[1m] offset 1m)', { '{code="200", job="a"}': 60 }],
    ['{job="offset 1m"}', {}],
    ['# all of them (\nsum( # inside\nup) # behind', { '{}': 1 }],
    ['count({job="a#b"}) # of none', {}],
    ['2. + 2.e1', 22],
    ['requests{code="200"} * 2.', { '{code="200", job="a"}': 240 }],
  ];
  it.each(cases)('%s', (text, due) => expect(asked(text)).toEqual(due));
});

describe('series come in the order of Prometheus 2.42', () => {
  const own = sortedByLabels(
    [1, 2, 2, Number.NaN, 2, 3, 1, 2, Number.NaN, 3].map((value, i) =>
      series({ __name__: 'x', i: String(i + 5), parity: i % 2 === 0 ? 'even' : 'odd' }, [value]),
    ),
  );
  const order = (text: string) => {
    const query = parseQuery(text);
    const selected = selectionsOf(query, range).map(() => own);
    const answer = evaluate(query, range, selected, bounds);
    if (answer.type !== 'vector') throw new Error('no vector');
    return answer.series
      .map(({ labels, values }) => `${labels.get('i') ?? labels.get('parity')}=${values[0]}`)
      .join(' ');
  };
  // The answers of Prometheus itself, which was sent the same series.
  it.each([
    ['x', '10=3 11=1 12=2 13=NaN 14=3 5=1 6=2 7=2 8=NaN 9=2'],
    ['topk(3, x)', '10=3 14=3 12=2'],
    ['topk(4, x)', '14=3 10=3 12=2 6=2'],
    ['topk(6, x)', '10=3 14=3 7=2 12=2 6=2 9=2'],
    ['topk(10, x)', '10=3 14=3 9=2 12=2 6=2 7=2 5=1 11=1 13=NaN 8=NaN'],
    ['topk(0.5, x)', ''],
    ['bottomk(1, x)', '11=1'],
    ['bottomk(3, x)', '11=1 5=1 12=2'],
    ['bottomk(5, x)', '11=1 5=1 6=2 7=2 12=2'],
    ['bottomk(9, x)', '5=1 11=1 12=2 7=2 6=2 9=2 10=3 14=3 13=NaN'],
    ['topk by (parity) (2, x)', '10=3 14=3 7=2 9=2'],
    ['topk(5, x) * 2', '10=6 14=6 6=4 7=4 12=4'],
    ['topk(2, -x)', '11=-1 5=-1'],
    ['count by (parity) (x > 1)', 'odd=4 even=2'],
  ])('%s', (text, due) => expect(order(text)).toBe(due));

  it('labels are compared as bytes, and fewer come first', () => {
    const names = ['a', 'a1', 'b', 'é', '\uffee', '𝒳'];
    const mixed = names.toReversed().map((job) => series({ job }, [1]));
    expect(
      sortedByLabels([...mixed, series({ job: 'a', k: 'v' }, [1])]).map(({ labels }) => [...labels.values()]),
    ).toEqual([['a'], ['a', 'v'], ...names.slice(1).map((name) => [name])]);
  });
});

describe('what is not supported is named', () => {
  const cases: [string, string][] = [
    ['mad_over_time(up[5m])', 'the function mad_over_time'],
    ['limitk(2, up)', 'the aggregation limitk'],
    ['up[300]', 'the duration 300'],
    ['up + fill(0) up', 'the modifier fill'],
    ['up + on (job) fill_left(1) up', 'the modifier fill_left'],
    ['up / on (job) group_left fill_right (2) up', 'the modifier fill_right'],
    ['up offset 5', 'this form of offset'],
    ['up @ Inf', 'the modifier @'],
  ];
  it.each(cases)('%s', (text, name) => {
    const { code, message, param } = failure(text);
    expect([code, param]).toEqual(['UNSUPPORTED_QUERY', 'query']);
    expect(message.toLowerCase()).toContain(`${name.toLowerCase()} is not supported`);
  });
});

describe('what is no PromQL, or cannot be answered, is refused', () => {
  const cases: [string, RegExp][] = [
    ['', /empty/],
    ['sum(', /character 5 .* no PromQL/],
    ['rate(up)', /gives rate an instant vector; it takes a range vector/],
    ['sum(1)', /takes an instant vector/],
    ['up[5m] + 1', /between what are not/],
    ['1 == 1', /without bool/],
    ['up + bool 1', /compares nothing/],
    ['up and 1', /beside a number/],
    ['{job=~".*"}', /chooses every series/],
    ['up{job=~"("}', /expression that cannot be used/],
    ['up{__name__="x"}', /names the metric twice/],
    ['label_replace(up, "a b", "", "job", "")', /"a b" is no name/],
    ['label_replace(up, "a", "", "job", "(")', /expression that cannot be used/],
    ['clamp(up, 1)', /gives clamp 2 arguments/],
    ['requests + on (job) up * 0 + on (job) requests', /match/],
    ['up * on (job) group_left (job) up', /in on and in the group/],
    ['label_replace(label_replace(up, "job", "x", "", ""), "instance", "y", "", "")', /two series with the labels/],
    ['"\\q"', /escape/],
    ['sum(up) offset 5m', /character 9 .* behind what is neither/],
    ['(up) offset 5m', /behind what is neither/],
    ['up offset 5m offset 1m', /second modifier/],
    ['up @ 5 offset 1m @ 6', /second modifier/],
    ['sum(up) @ 5', /behind what is neither/],
    ['up + up[5m:1m]', /needs parentheses/],
    ['1[5m:1m]', /takes an instant vector/],
    ['up[5m:0s]', /empty duration/],
    ['vector(1)[100y:1ms]', /steps; at most/],
    ['holt_winters(requests[5m], 1, 0.5)', /smoothing factor/],
    ['count_values("a b", up)', /"a b" is no name/],
    ['label_join(up, "x", "-", "a b")', /"a b" is no name/],
    ['time(up)', /gives time 1 arguments/],
  ];
  it.each(cases)('%s', (text, due) => {
    const { code, message } = failure(text);
    expect(code).toBe('VALIDATION_FAILED');
    expect(message).toMatch(due);
  });
});

describe('a hostile query costs little', () => {
  const within = (text: string, own = bounds) => {
    let code: string | undefined;
    const refuse = () => {
      code = failure(text, own).code;
    };
    expect(threadMsOf(refuse)).toBeLessThan(1_000);
    return code;
  };
  it.each([
    ['too long', `up{a="${'x'.repeat(100_000)}"}`],
    ['nested brackets', `${'('.repeat(4_000)}1${')'.repeat(4_000)}`],
    ['nested signs', `${'-'.repeat(8_000)}up`],
    ['nested calls', `${'ceil('.repeat(1_500)}up${')'.repeat(1_500)}`],
    ['a long chain', Array.from({ length: 1_500 }, () => 'up').join('+')],
    ['an expression that unfolds', 'up{a=~"((a{100}){100}){100}"}'],
    ['many large expressions', `up{${Array.from({ length: 200 }, () => 'a=~"((a*)*){900}"').join(',')}}`],
  ])('%s', (_, text) => expect(within(text)).toBe('VALIDATION_FAILED'));

  it('backtracks in no expression', () => {
    const own = [series({ __name__: 'up', a: `${'a'.repeat(50_000)}!` }, [1])];
    const ask = () => expect(asked('up{a=~"(a+)+"}', bounds, own)).toEqual({});
    expect(threadMsOf(ask)).toBeLessThan(1_000);
  });

  it('looks at no text for which its expressions are too large', () => {
    const own = Array.from({ length: 40 }, (_, i) => series({ __name__: 'up', v: `${'a'.repeat(1_000)}${i}b` }, [1]));
    const replaced = 'label_replace(up, "x", "$1", "v", "((a*)*){900}[0-9]+")';
    let refused: Problem | undefined;
    const refuse = () => {
      refused = failureOf(() => asked(replaced, bounds, own));
    };
    // One text alone takes a second: none is looked at.
    expect(threadMsOf(refuse)).toBeLessThan(900);
    expect(refused).toMatchObject({ code: 'VALIDATION_FAILED', param: 'query', detail: 'too_complex' });
    const few = own.slice(0, 1).map((each) => ({ ...each, labels: labelsOf([['v', 'aab1']]) }));
    expect(asked('label_replace({v!=""}, "x", "$1", "v", "(a*)b1")', bounds, few)).toEqual({ '{v="aab1", x="aa"}': 1 });
  });

  it('makes no labels without end', () => {
    const own = [series({ __name__: 'up', v: 'a'.repeat(1_000) }, [1])];
    const longer = (of: string) => `label_replace(${of}, "v", "${'$1'.repeat(300)}", "v", "(.*)")`;
    expect(failureOf(() => asked(longer(longer(longer('up'))), bounds, own))).toMatchObject({ detail: 'too_complex' });
  });

  it('joins no more pairs than its bounds allow', () => {
    const many = Array.from({ length: 1_200 }, (_, i) => series({ __name__: 'up', i: String(i) }, [1]));
    const join = 'up * on () group_left () label_replace(up, "i", "", "", "")';
    expect(() => asked(join, bounds, many)).toThrow(Problem);
    expect(() => asked('up', { ...bounds, seriesMax: 1_000 }, many)).toThrow('at most 1000');
    expect(() => asked('up + up', { ...bounds, samplesMax: 2_000 }, many)).toThrow('more than 2000 values');
  });

  it('keeps label names that objects of JavaScript know', () => {
    const own = [series({ __name__: 'up', __proto__x: '1', constructor: 'c' }, [1])];
    expect(asked('sum by (constructor) (up)', bounds, own)).toEqual({ '{constructor="c"}': 1 });
  });
});
