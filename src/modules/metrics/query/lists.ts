// Lists of series, of labels, and of the values of a label, as JSON.
import { signature } from '../promql/labels.ts';
import type { ChosenSeries } from './chosen.ts';
import { labelsText } from './result.ts';

export type ListKind =
  | { readonly of: 'series' }
  | { readonly of: 'labels' }
  | { readonly of: 'values'; readonly label: string };

export interface ListText {
  /** A JSON array. */
  readonly list: string;
  /** There are more than the limit. */
  readonly isCut: boolean;
}

export function listText(kind: ListKind, series: readonly ChosenSeries[], limit: number): ListText {
  const entries = entriesOf(kind, series).sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return {
    list: `[${entries
      .slice(0, limit)
      .map(([, text]) => text)
      .join(',')}]`,
    isCut: entries.length > limit,
  };
}

/** Each once: what it is sorted by, and its JSON. */
function entriesOf(kind: ListKind, series: readonly ChosenSeries[]): (readonly [string, string])[] {
  if (kind.of === 'series') return [...new Map(series.map(({ labels }) => [signature(labels), labelsText(labels)]))];
  const found = new Set<string>();
  for (const { labels } of series) {
    if (kind.of === 'values') {
      const value = labels.get(kind.label);
      if (value !== undefined) found.add(value);
    } else for (const label of labels.keys()) found.add(label);
  }
  return Array.from(found, (text) => [text, JSON.stringify(text)] as const);
}
