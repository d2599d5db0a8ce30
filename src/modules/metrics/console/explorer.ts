// The explorer's two forms: fields that write a query, and the query itself, which may be edited. Both ask by GET, so every view is an address.
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { labels, listSeries } from '../capabilities/series.ts';
import { aggregations, type Fields, functions, labelField, pairsOf, promqlOf, windows } from './builder.ts';
import { type PeriodName, periodField } from './range.ts';

const NAMES = 1_000;
const SERIES = 1_000;
const LABELS_SHOWN = 12;
const VALUES_SHOWN = 200;
const TEXT_CHARACTERS_MAX = 60;
const aggregationNames: Readonly<Record<string, string>> = {
  '': 'Each series',
  sum: 'Sum',
  avg: 'Mean',
  max: 'Maximum',
  min: 'Minimum',
  count: 'Number of series',
};

interface Asked {
  readonly fields: Fields;
  /** The query that is shown. */
  readonly text: string;
  readonly period: PeriodName;
}

export async function explorer(visit: Visit, { fields, text, period }: Asked): Promise<Html> {
  const [names, values] = await Promise.all([namesOf(visit), valuesOf(visit, fields)]);
  return html`${fieldForm(names, fields, values, period)}
${queryForm(fields, text, period)}`;
}

async function namesOf(visit: Visit): Promise<readonly string[]> {
  if (!visit.may(labels)) return [];
  const { data } = await visit.call(labels, { label: '__name__', limit: NAMES });
  return data?.items ?? [];
}

/** The labels of the metric with the values that its series have, those chosen among them. */
async function valuesOf(visit: Visit, { metric, labels: chosen }: Fields): Promise<ReadonlyMap<string, Set<string>>> {
  const values = new Map<string, Set<string>>();
  const add = (label: string, value: string) => {
    const of = values.get(label) ?? new Set();
    values.set(label, of.add(value));
  };
  if (metric !== '' && visit.may(listSeries)) {
    const { data } = await visit.call(listSeries, { match: metric, limit: SERIES });
    for (const { __name__: _, ...pairs } of data?.items ?? []) {
      for (const [label, value] of Object.entries(pairs)) add(label, value);
    }
  }
  for (const [label, value] of chosen) add(label, value);
  return values;
}

function fieldForm(
  names: readonly string[],
  fields: Fields,
  values: ReadonlyMap<string, Set<string>>,
  period: PeriodName,
): Html {
  const options = names.map((name) => html`<option value="${name}"></option>`);
  const metric = html`<label>Metric <input type="search" name="metric" value="${fields.metric}" size="30" list="metric-names" spellcheck="false" autocapitalize="off" placeholder="http_requests_total"></label>
<datalist id="metric-names">${options}</datalist>`;
  const more = fields.metric === '' ? '' : html`${labelFields(fields, values)}${shapeFields(fields, values)}`;
  return html`<form method="get" class="row" role="search" aria-label="Choose a metric">${metric}${more}
${periodField(period)} <button>Show</button></form>`;
}

function labelFields({ labels: chosen }: Fields, values: ReadonlyMap<string, Set<string>>): Html {
  const given = new Map(chosen);
  const shown = [...values].toSorted(([a], [b]) => Number(given.has(b)) - Number(given.has(a)) || (a < b ? -1 : 1));
  return html`${shown.slice(0, LABELS_SHOWN).map(([label, of]) => {
    const options = [...of]
      .toSorted()
      .slice(0, VALUES_SHOWN)
      .map((value) => option(value, value, given.get(label) ?? ''));
    return html`
<label><code>${shortText(label)}</code> <select name="${labelField(label)}">${option('', 'any', given.get(label) ?? '')}${options}</select></label>`;
  })}`;
}

function shapeFields({ fn, window, agg, by }: Fields, values: ReadonlyMap<string, Set<string>>): Html {
  const isHistogram = values.has('le');
  const offered = Object.entries(functions).filter(([name]) => isHistogram || !/^p\d/.test(name) || name === fn);
  const groups = [...new Set([...by, ...values.keys()])].filter((label) => label !== 'le').slice(0, LABELS_SHOWN);
  const boxes = groups.map(
    (label) =>
      html`<label class="choice"><input type="checkbox" name="by" value="${label}"${by.includes(label) ? html` checked` : ''}> ${shortText(label)}</label>`,
  );
  return html`
<label>Function <select name="fn">${offered.map(([name, { label }]) => option(name, label, fn))}</select></label>
<label>Over <select name="window">${windows.map((each) => option(each, each, window))}</select></label>
<label>Combine <select name="agg">${aggregations.map((each) => option(each, aggregationNames[each] ?? each, agg))}</select></label>
${groups.length === 0 ? '' : html`<fieldset class="row"><legend>Group by</legend>${boxes}</fieldset>`}`;
}

/** It keeps the fields, so that they stand there as they were. */
function queryForm(fields: Fields, text: string, period: PeriodName): Html {
  const written = promqlOf(fields);
  const kept = pairsOf(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const back = new URLSearchParams([...pairsOf(fields), ['period', period]]);
  const note =
    written === '' || text === written
      ? ''
      : html` <span class="quiet">Edited.</span> <a href="./metrics?${String(back)}">Use the fields again</a>`;
  return html`<form method="get" class="row" aria-label="Query">${kept}<input type="hidden" name="period" value="${period}">
<label>PromQL <input type="search" name="query" value="${text}" size="70" placeholder="rate(http_requests_total[5m])" spellcheck="false" autocapitalize="off"></label> <button>Run</button>${note}</form>`;
}

function option(value: string, text: string, chosen: string): Html {
  return html`<option value="${value}"${value === chosen ? html` selected` : ''}>${shortText(text)}</option>`;
}

const shortText = (text: string) =>
  text.length <= TEXT_CHARACTERS_MAX ? text : `${text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed()}…`;
