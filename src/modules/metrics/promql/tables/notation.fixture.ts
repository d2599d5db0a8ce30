// Series in the notation of Prometheus' test files (`0+10x5`, `_` for no sample, `stale`), and what an expression answers over them.
import { expect, it } from 'vitest';
import { evaluate } from '../evaluate.ts';
import { labelsOf, labelsText } from '../labels.ts';
import { matchesAll } from '../matchers.ts';
import { parseQuery } from '../parse.ts';
import { selectionsOf } from '../select.ts';
import type { Series } from '../values.ts';

export const MINUTE_MS = 60_000;
const bounds = { deadlineMs: Number.POSITIVE_INFINITY, samplesMax: 1e6, seriesMax: 1_000 };
const stale = new Float64Array(new BigUint64Array([0x7ff0000000000002n]).buffer);

/** `name{label="value"} values`, a sample each `stepMs` from time 0 on. */
export function load(stepMs: number, lines: string): Series[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', labels = '', values = ''] = /^\s*([\w:]+)(?:\{(.*)\})?\s+(.*)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]);
      const samples = values.trim().split(/\s+/).flatMap(valuesOf);
      const kept = samples.flatMap((value, i) => (value === null ? [] : [[i * stepMs, value] as const]));
      const bytes = new Float64Array(kept.length);
      for (const [i, [, value]] of kept.entries()) {
        if (value === 'stale') bytes.set(stale, i);
        else bytes[i] = value;
      }
      return {
        labels: labelsOf([['__name__', name], ...(pairs as [string, string][])]),
        times: Float64Array.from(kept, ([time]) => time),
        values: bytes,
      };
    });
}

function valuesOf(word: string): (number | 'stale' | null)[] {
  if (word === '_') return [null];
  if (word === 'stale') return ['stale'];
  const series = /^(-?[\d.]+)([+-][\d.]+)x(\d+)$/.exec(word);
  if (series === null) return [numberOf(word)];
  const [first, step, times] = series.slice(1).map(Number) as [number, number, number];
  return Array.from({ length: times + 1 }, (_, i) => first + step * i);
}

function numberOf(word: string): number {
  return word === 'Inf' || word === '+Inf' ? Infinity : word === '-Inf' ? -Infinity : Number(word);
}

interface Range {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export function answerOf(text: string, data: readonly Series[], range: Range) {
  const query = parseQuery(text);
  const selected = selectionsOf(query, range).map(({ matchers }) =>
    data.filter(({ labels }) => matchesAll(matchers, labels)),
  );
  return evaluate(query, range, selected, bounds);
}

/** Numbers as they are near: the last bits are those of the order of additions. */
export const near = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(12)) + 0 : value);

/** At minute `at`: a number, or values by labels. */
export function answerAt(text: string, data: readonly Series[], at: number): unknown {
  const answer = answerOf(text, data, { startMs: at * MINUTE_MS, endMs: at * MINUTE_MS, stepMs: 1 });
  if (answer.type === 'string') return answer.value;
  if (answer.type === 'scalar') return near(answer.values[0] as number);
  return Object.fromEntries(answer.series.map(({ labels, values }) => [labelsText(labels), near(values[0] as number)]));
}

export function table(data: readonly Series[], at: number, rows: readonly (readonly [string, unknown])[]): void {
  it.each(rows)('%s', (text, due) => expect(answerAt(text, data, at)).toEqual(due));
}
