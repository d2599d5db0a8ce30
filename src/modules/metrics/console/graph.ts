// The answer of a query over a time as lines.
import { plot } from '../../../kit/console/plot.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { Range } from './range.ts';

/** As the plot has colours. */
const LINES_MAX = 8;
const LABEL_CHARACTERS_MAX = 60;

export interface Shown {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [seconds: number, value: string])[];
  readonly last: string;
}

/** Of a matrix; of anything else none. */
export function seriesOf(result: unknown): Shown[] {
  const list = result as readonly Omit<Shown, 'last'>[];
  return list.map(({ metric, values }) => ({ metric, values, last: values.at(-1)?.[1] ?? '' }));
}

export function graphOf(
  series: readonly Shown[],
  { startMs, endMs, stepMs }: Range,
  { caption = 'Over time', unit = '' }: { readonly caption?: string; readonly unit?: string } = {},
): Html {
  const steps = Math.floor((endMs - startMs) / stepMs) + 1;
  const instants = Array.from({ length: steps }, (_, i) => new Date(startMs + i * stepMs).toISOString());
  const lines = series
    .slice(0, LINES_MAX)
    .map((each) => ({ label: nameOf(each), values: slots(each, startMs, stepMs, steps) }));
  const note =
    series.length > LINES_MAX
      ? html`<p class="quiet">The first ${String(LINES_MAX)} of ${String(series.length)} series are drawn.</p>`
      : '';
  return html`${plot({
    caption: unit === '' ? caption : `${caption}, ${unit}`,
    unit: unit === '' ? 'values' : unit,
    instants,
    series: lines,
    isRunning: false,
    isLine: true,
    empty: series.length === 0 ? 'No values in this time.' : 'Only zeros in this time.',
  })}${note}`;
}

/** The values by their steps; null where there is none. */
export function slots(
  { values }: Pick<Shown, 'values'>,
  startMs: number,
  stepMs: number,
  steps: number,
): (number | null)[] {
  const filled = new Array<number | null>(steps).fill(null);
  for (const [seconds, value] of values) {
    const number = Number(value);
    if (Number.isFinite(number)) filled[Math.round((seconds * 1_000 - startMs) / stepMs)] = number;
  }
  return filled;
}

function nameOf({ metric }: Shown): string {
  const { __name__: name = '', ...others } = metric;
  const pairs = Object.entries(others).map(([label, value]) => `${label}=${value}`);
  const text = [name, ...pairs].filter((part) => part !== '').join(' ');
  return text === '' ? 'all' : text.slice(0, LABEL_CHARACTERS_MAX);
}
