// The explorer: a metric is chosen or a query is written, both stand in the address; the answer is a graph with its figures, and the series
// below narrow the query by their labels.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { table, teach, withQuery } from '../../../kit/console/table.ts';
import { countOf, figure, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { ingest } from '../capabilities/ingest.ts';
import { query } from '../capabilities/query.ts';
import { queryRange } from '../capabilities/query-range.ts';
import { labels } from '../capabilities/series.ts';
import { settings } from '../capabilities/settings.ts';
import { graphOf, type Shown, seriesOf } from './graph.ts';

const NAMES = 1_000;
const STEPS = 120;
const ROWS = 50;
const AGAIN_SECONDS = 30;
const periods: Readonly<Record<string, { readonly label: string; readonly seconds: number }>> = {
  '1h': { label: 'Hour', seconds: 3_600 },
  '6h': { label: '6 hours', seconds: 21_600 },
  '1d': { label: 'Day', seconds: 86_400 },
  '7d': { label: '7 days', seconds: 604_800 },
};

export const metricsPage: ConsolePage = {
  name: 'metrics',
  path: '/metrics',
  needs: query,
  nav: { label: 'Metrics', key: 'M', group: 'observe' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const asked = (visit.query.get('query') ?? '').trim();
  const text = asked === '' ? (visit.query.get('metric') ?? '') : asked;
  const period = periods[visit.query.get('period') ?? ''] === undefined ? '1h' : (visit.query.get('period') as string);
  const names = visit.may(labels) ? await visit.call(labels, { label: '__name__', limit: NAMES }) : null;
  const known = names?.data?.items ?? [];
  const content = html`${title(visit)}
${form(known, text, period)}
${text === '' ? welcome(visit, known) : await answer(visit, text, period)}`;
  return { title: 'Metrics', content, ...(text === '' ? {} : { hasPlots: true, againSeconds: AGAIN_SECONDS }) };
}

function title(visit: Visit): Html {
  const link = visit.may(settings.getSettings) ? html`<a href="${visit.path('/metrics/settings')}">Settings</a>` : '';
  return html`<div class="head"><h1>Metrics</h1><div class="actions">${link}</div></div>`;
}

function form(names: readonly string[], text: string, period: string): Html {
  const options = names.map((name) => html`<option value="${name}"></option>`);
  const each = ([value, { label }]: readonly [string, { readonly label: string }]) =>
    html`<option value="${value}"${value === period ? html` selected` : ''}>${label}</option>`;
  return html`<form method="get" class="row" role="search">
<label>Metric or PromQL <input type="search" name="query" value="${text}" size="60" list="metric-names" placeholder="sum(rate(http_requests_total[5m]))" spellcheck="false"></label>
<datalist id="metric-names">${options}</datalist>
<label>Time <select name="period">${Object.entries(periods).map(each)}</select></label> <button>Show</button></form>`;
}

function welcome(visit: Visit, names: readonly string[]): Html {
  return table<string>({
    caption: 'Metrics',
    rows: names.slice(0, ROWS * 4),
    empty: teach(
      'No metrics yet. Programs with OpenTelemetry send theirs to this address, Prometheus by remote write to /v1/metrics/prometheus. Or by a call:',
      visit.samples([[ingest, { items: [{ name: 'jobs_waiting', value: 3, labels: { queue: 'mail' } }] }]]),
    ),
    columns: [
      { title: 'Metric', cell: (name) => html`<a href="${withQuery(visit, { query: name })}">${short(name, 80)}</a>` },
    ],
  });
}

async function answer(visit: Visit, text: string, period: string): Promise<Html> {
  const { seconds } = periods[period] as { readonly seconds: number };
  const step = Math.max(15, Math.round(seconds / STEPS));
  // The step that is running belongs to it: what was sent just now is shown.
  const endMs = Math.ceil(Date.now() / 1_000 / step) * step * 1_000;
  const startMs = endMs - seconds * 1_000;
  const found = await visit.call(queryRange, {
    query: text,
    step_seconds: step,
    from: new Date(startMs).toISOString(),
    to: new Date(endMs).toISOString(),
  });
  const range = { startMs, endMs, stepMs: step * 1_000 };
  return panel(visit, 'Answer', found, ({ result }) => {
    const series = seriesOf(result);
    return html`${graphOf(series, range)}${seriesTable(visit, series)}`;
  });
}

function seriesTable(visit: Visit, series: readonly Shown[]): Html {
  const shown = series.slice(0, ROWS);
  const note =
    series.length > ROWS
      ? html`<p class="quiet">${countOf(series.length, 'series', 'series')}; the first ${String(ROWS)} are listed.</p>`
      : '';
  return html`${note}${table<Shown>({
    caption: 'Series',
    rows: shown,
    empty: html`<p>No series in this time.</p>`,
    columns: [
      { title: 'Series', cell: ({ metric }) => labelLinks(visit, metric) },
      {
        title: 'Last value',
        kind: 'number',
        cell: ({ last }) => html`<span title="${last}">${valueText(last)}</span>`,
      },
    ],
  })}`;
}

/** Each label leads to the series of the metric that have it. */
function labelLinks(visit: Visit, metric: Readonly<Record<string, string>>): Html {
  const { __name__: name = '', ...others } = metric;
  const pairs = Object.entries(others).map(([label, value]) => {
    const narrowed = `${name}{${label}=${JSON.stringify(value)}}`;
    const text = html`${label}=${short(value, 60)}`;
    return name === ''
      ? html`<code>${text}</code> `
      : html`<a href="${withQuery(visit, { query: narrowed })}"><code>${text}</code></a> `;
  });
  return html`${short(name, 80)} ${pairs}${name === '' && pairs.length === 0 ? 'all' : ''}`;
}

/** As PromQL writes it where it is no number that can be drawn: `NaN`, `+Inf`. */
function valueText(value: string): string {
  const number = Number(value);
  return value !== '' && Number.isFinite(number) ? figure(number) : value;
}
