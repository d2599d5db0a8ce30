// Lists of series, of label names, and of the values of a label, as JSON.
import { signature, sortedByLabels } from '../promql/labels.ts';
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
  const entries = entriesOf(kind, series);
  return { list: `[${entries.slice(0, limit).join(',')}]`, isCut: entries.length > limit };
}

/** Each once, sorted, as JSON. */
function entriesOf(kind: ListKind, series: readonly ChosenSeries[]): string[] {
  if (kind.of === 'series') {
    const distinct = new Map(series.map((each) => [signature(each.labels), each]));
    return sortedByLabels([...distinct.values()]).map(({ labels }) => labelsText(labels));
  }
  const found = new Set<string>();
  for (const { labels } of series) {
    if (kind.of === 'values') {
      const value = labels.get(kind.label);
      if (value !== undefined) found.add(value);
    } else for (const label of labels.keys()) found.add(label);
  }
  return [...found].sort().map((text) => JSON.stringify(text));
}
