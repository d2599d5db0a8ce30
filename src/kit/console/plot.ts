// A plot is a table that stands in the page: the script draws it, and without scripts the table is open to be read.
import { type Html, html } from '../../lib/html.ts';
import { count, moneyText } from './text.ts';

const SERIES_MAX = 8;

export interface Series {
  readonly label: string;
  /** One for each instant. */
  readonly values: readonly number[];
}

export interface Plot {
  readonly caption: string;
  readonly unit: 'USD' | 'calls' | 'events';
  /** Starts of the buckets, ISO 8601. The last one is still running when `isRunning`. */
  readonly instants: readonly string[];
  readonly series: readonly Series[];
  readonly isRunning: boolean;
}

/** Stacked bars of up to eight series and `other`. */
export function plot({ caption, unit, instants, series, isRunning }: Plot): Html {
  const shown = withOther(series);
  const text = unit === 'USD' ? moneyText : count;
  const head = shown.map(({ label }) => html`<th scope="col" class="number">${label}</th>`);
  const rows = instants.map(
    (instant, i) =>
      html`<tr><th scope="row"><time datetime="${instant}">${instant.slice(0, 16).replace('T', ' ')}</time></th>${shown.map(({ values }) => html`<td class="number" data-value="${values[i] ?? 0}">${text(values[i] ?? 0)}</td>`)}</tr>\n`,
  );
  return html`<figure class="plot" data-unit="${unit}"${isRunning ? html` data-running` : ''}><figcaption>${caption}${unit === 'USD' ? ', USD' : ''}</figcaption>
${placeOf(shown)}
<details open><summary>Figures</summary><div class="scroll" role="region" aria-label="Figures of ${caption}" tabindex="0"><table class="rows"><caption class="unseen">${caption}, in ${unit}; times are UTC</caption><thead><tr><th scope="col">From</th>${head}</tr></thead><tbody>${rows}</tbody></table></div></details></figure>`;
}

/** Where the script draws, as high as what it draws: nothing below moves when it comes. Hidden where no script runs. */
function placeOf(shown: readonly Series[]): Html {
  const row = (label: string, value: string) =>
    html`<tr class="u-series"><th><div class="u-marker"></div><div class="u-label">${label}</div></th><td class="u-value">${value}</td></tr>`;
  const rows = shown.map(({ label }) => row(label, '')).toReversed();
  return html`<div class="drawn" aria-hidden="true"><div class="uplot"><div class="space"></div><table class="u-legend u-inline u-live"><tbody>${row('Time', 'point at a bar')}${rows}</tbody></table></div></div>`;
}

/** The largest eight; what is beyond is one more. */
function withOther(series: readonly Series[]): readonly Series[] {
  const sum = ({ values }: Series) => values.reduce((total, value) => total + value, 0);
  const sorted = [...series].sort((left, right) => sum(right) - sum(left));
  if (sorted.length <= SERIES_MAX) return sorted;
  const rest = sorted.slice(SERIES_MAX);
  const values = (rest[0] as Series).values.map((_, i) =>
    rest.reduce((total, each) => total + (each.values[i] ?? 0), 0),
  );
  return [...sorted.slice(0, SERIES_MAX), { label: `other (${rest.length})`, values }];
}
