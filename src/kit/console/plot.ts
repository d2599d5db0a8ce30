// Plots, each a table in the page: the script draws it, and without scripts the table is open. A plot covers the part of its period that has
// figures, and says in words which part has none.
import { type Html, html } from '../../lib/html.ts';
import { exactMoney, figure, moneyText } from './text.ts';

const SERIES_MAX = 8;
/** A plot is not cut to fewer buckets. */
const BUCKETS_MIN = 24;

export interface Series {
  readonly label: string;
  /** One for each instant; null: unknown, a gap in a line. */
  readonly values: readonly (number | null)[];
  /** Its color where it means something: what succeeded is green, what failed red, what waits amber; absent: one of the colors of plots. */
  readonly tone?: 'good' | 'warning' | 'critical' | undefined;
}

export interface Plot {
  readonly caption: string;
  /** `USD`, or what is counted, in the plural: `calls`, `messages`. */
  readonly unit: string;
  /** Starts of the buckets, ISO 8601, evenly apart. The last one is still running when `isRunning`. */
  readonly instants: readonly string[];
  readonly series: readonly Series[];
  readonly isRunning: boolean;
  /** Levels, such as a queue's depth, as lines; absent: stacked bars. */
  readonly isLine?: boolean;
  /** Why there is nothing; absent: that there is nothing in the period. */
  readonly empty?: Html | string;
}

/** Up to eight series and `other`. */
export function plot(whole: Plot): Html {
  const { caption, unit, empty } = whole;
  const range = shownRange(whole);
  if (range !== null) return plotTable(whole, range);
  return html`<figure class="plot"><figcaption>${caption}</figcaption><p class="empty">${empty ?? nothing(unit)}</p></figure>`;
}

/** Plots that share a time axis. It covers the part of the period in which at least one plot has a figure. Null when no plot has any. */
export function plots(all: readonly Plot[]): Html | null {
  const [first] = all;
  const range = first === undefined ? null : shownRange({ ...first, series: all.flatMap(({ series }) => series) });
  if (range === null) return null;
  const left = range.left === '' ? '' : html`<p class="quiet small">There was ${range.left}.</p>`;
  return html`${left}<div class="plots">${all.map((each) => plotTable(each, { ...range, left: '' }))}</div>`;
}

function plotTable(
  { caption, unit, series, isLine = false }: Plot,
  { from, end, instants, isRunning, left }: Shown,
): Html {
  const cut = series.map(({ label, values, tone }) => ({ label, tone, values: values.slice(from, end) }));
  const shown = isLine ? cut : withOther(cut);
  const text = unit === 'USD' ? moneyText : figure;
  const exactText = (value: number) => (unit === 'USD' ? exactMoney(value) : `${figure(value)} ${unit}`);
  const head = shown.map(
    ({ label, tone }) =>
      html`<th scope="col" class="number"${tone === undefined ? '' : html` data-tone="${tone}"`}>${label}</th>`,
  );
  const cell = (value: number | null) =>
    value === null
      ? html`<td class="number">unknown</td>`
      : html`<td class="number" data-value="${value}" data-told="${exactText(value)}">${text(value)}</td>`;
  const rows = instants.map(
    (instant, i) =>
      html`<tr><th scope="row"><time datetime="${instant}">${minute(instant)}</time></th>${shown.map(({ values }) => cell(values[i] ?? null))}</tr>\n`,
  );
  return html`<figure class="plot" data-unit="${unit}"${isRunning ? html` data-running` : ''}${isLine ? html` data-line` : ''}><figcaption>${caption}${left === '' ? '' : html` <span class="quiet">${left}</span>`}</figcaption>
${placeOf(shown)}
<details open><summary>Figures</summary><div class="scroll" role="region" aria-label="Figures of ${caption}" tabindex="0"><table class="rows"><caption class="unseen">${caption}, in ${unit}; times are UTC</caption><thead><tr><th scope="col">From</th>${head}</tr></thead><tbody>${rows}</tbody></table></div></details></figure>`;
}

function nothing(unit: string): string {
  return unit === 'USD' ? 'Nothing was spent in this period.' : `No ${unit} in this period.`;
}

interface Shown extends Pick<Plot, 'instants' | 'isRunning'> {
  readonly from: number;
  readonly end: number;
  /** What was left out, in words. */
  readonly left: string;
}

/** From just before the first figure to just after the last one; null: there is none. */
function shownRange({ instants, series, isRunning }: Plot): Shown | null {
  const isSome = (_: string, i: number) => series.some(({ values }) => (values[i] ?? 0) !== 0);
  const first = instants.findIndex(isSome);
  if (first === -1) return null;
  const last = instants.findLastIndex(isSome);
  const margin = Math.ceil((last - first + 1) / 10);
  const end = Math.min(instants.length, Math.max(last + 1 + margin, Math.max(0, first - margin) + BUCKETS_MIN));
  const from = Math.max(0, Math.min(first - margin, end - BUCKETS_MIN));
  const parts = [
    ...(from > 0 ? [`before ${minute(instants[from] as string)}`] : []),
    ...(end < instants.length ? [`after ${minute(instants[end] as string)}`] : []),
  ];
  return {
    from,
    end,
    instants: instants.slice(from, end),
    isRunning: isRunning && end === instants.length,
    left: parts.length === 0 ? '' : `nothing ${parts.join(' or ')} UTC`,
  };
}

function minute(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}

/** Where the script draws, as high as what it draws: nothing below moves when it comes. Hidden where no script runs. */
function placeOf(shown: readonly Series[]): Html {
  const row = ({ label }: Series) =>
    html`<tr class="u-series"><th><div class="u-marker"></div><div class="u-label">${label}</div></th></tr>`;
  return html`<div class="drawn" aria-hidden="true"><div class="uplot"><div class="space"></div><table class="u-legend u-inline"><tbody>${shown.map(row).toReversed()}</tbody></table></div></div>`;
}

/** The largest eight; what is beyond is one more. */
function withOther(series: readonly Series[]): readonly Series[] {
  const sum = ({ values }: Series) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
  const sorted = [...series].sort((left, right) => sum(right) - sum(left));
  if (sorted.length <= SERIES_MAX) return sorted;
  const rest = sorted.slice(SERIES_MAX);
  const values = (rest[0] as Series).values.map((_, i) =>
    rest.reduce((total, each) => total + (each.values[i] ?? 0), 0),
  );
  return [...sorted.slice(0, SERIES_MAX), { label: `other (${rest.length})`, values }];
}
