// Applies a selector's matchers to its candidates. Regular expressions run here: in a thread, unless they are few.
import type { Expressions } from '../promql/expressions.ts';
import { type Labels, labelsOf } from '../promql/labels.ts';
import { matcherOf, matchesAll } from '../promql/matchers.ts';
import { NAME_LABEL, SERIES_ID_BYTES } from '../series/identity.ts';
import type { PlainMatcher, SeriesPage } from './candidates.ts';

export interface ChosenSeries {
  readonly id: string;
  readonly labels: Labels;
}

export function* seriesIn(pages: readonly SeriesPage[]): Generator<ChosenSeries> {
  for (const { ids, names, labels } of pages) {
    const all = Buffer.from(ids.buffer, ids.byteOffset, ids.length).toString('latin1');
    const [nameTexts, labelTexts] = [names.split('\n'), labels.split('\n')];
    for (const [i, name] of nameTexts.entries()) {
      const pairs = Object.entries(JSON.parse(labelTexts[i] as string) as Record<string, string>);
      const id = all.slice(i * SERIES_ID_BYTES, (i + 1) * SERIES_ID_BYTES);
      yield { id, labels: labelsOf([[NAME_LABEL, name], ...pairs]) };
    }
  }
}

/** Throws what `expressions` throws. */
export function chosenOf(
  pages: readonly SeriesPage[],
  matchers: readonly PlainMatcher[],
  expressions: Expressions,
): ChosenSeries[] {
  const compiled = matchers.map(({ label, op, value }) => matcherOf(label, op, value, expressions));
  const series = [...seriesIn(pages)];
  for (const { label, reckon } of compiled) reckon?.(series.map(({ labels }) => labels.get(label) ?? ''));
  return series.filter(({ labels }) => matchesAll(compiled, labels));
}
