// Answers as pictures: a trend as bars over time, a funnel as bars from step to step, retention as a table of shares with shading.
import { panel } from '../../../kit/console/failure.ts';
import { plot } from '../../../kit/console/plot.ts';
import { meter, table, teach } from '../../../kit/console/table.ts';
import { count, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { capture } from '../capabilities/capture.ts';
import { funnel } from '../capabilities/funnel.ts';
import { retention } from '../capabilities/retention.ts';
import { trends } from '../capabilities/trends.ts';
import type { Asked } from './questions.ts';

const SHADES = 10;
type Funnel = DataOf<typeof funnel>['series'];
type Step = Funnel[number]['steps'][number];
type Cohort = DataOf<typeof retention>['cohorts'][number];

/** One question, so a page never has more under way than an account may. */
export async function pictureOf(
  visit: Visit,
  { kind, input }: Asked,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Html> {
  if (kind === 'funnel') {
    return panel(visit, 'Funnel', await visit.call(funnel, { ...input, from, to }), ({ series }) => funnelBars(series));
  }
  if (kind === 'retention') {
    const answer = await visit.call(retention, { ...input, to });
    return panel(visit, 'Retention', answer, ({ cohorts }) => cohortTable(cohorts, String(input.period ?? 'day')));
  }
  const answer = await visit.call(trends, { ...input, from, to });
  const unit =
    input.math === 'uniques' ? 'people' : input.math === 'total' || input.math === undefined ? 'events' : 'values';
  return panel(visit, 'Trends', answer, (data) =>
    data.series.every(({ values }) => values.every((value) => value === 0))
      ? html`<div class="empty">${firstEvent(visit)}</div>`
      : trendPlot(data, String(input.interval ?? 'day'), unit),
  );
}

function firstEvent(visit: Visit): Html {
  return teach(
    'No events in this period. To send one:',
    visit.samples([[capture, { event: 'signed_up', distinct_id: 'user-17', properties: { plan: 'free' } }]]),
  );
}

function trendPlot({ times, series }: DataOf<typeof trends>, interval: string, unit: string): Html {
  const label = ({ event, breakdown, is_other: isOther }: (typeof series)[number]) =>
    [event ?? 'All events', isOther ? 'others' : breakdown].filter((each) => each !== null).join(': ');
  const lines = series.map((each) => ({ label: label(each), values: each.values }));
  return plot({ caption: `By ${interval}`, unit, instants: times, series: lines, isRunning: true });
}

interface FunnelRow extends Step {
  readonly number: number;
  /** Null: the first step. */
  readonly before: number | null;
  readonly heading: string;
}

function funnelBars(series: Funnel): Html {
  const hasBreakdown = series.some(({ breakdown, is_other: isOther }) => breakdown !== null || isOther);
  const rows = series.flatMap(({ steps, breakdown, is_other: isOther }): FunnelRow[] =>
    steps.map((step, i) => ({
      ...step,
      number: i + 1,
      before: i === 0 ? null : (steps[i - 1]?.people ?? 0),
      heading: hasBreakdown ? (isOther ? 'others' : (breakdown ?? 'without a value')) : '',
    })),
  );
  return table<FunnelRow>({
    caption: 'Funnel',
    rows,
    empty: html`<p>Nobody came to the first step.</p>`,
    groupOf: ({ heading }) => heading,
    columns: [
      { title: 'Step', cell: ({ number, event }) => html`${String(number)}. ${short(event, 80)}` },
      {
        title: 'Share of the first step',
        cell: ({ conversion }) =>
          html`<span class="funnel">${meter(conversion * 100)}<span>${percentOf(conversion)}</span></span>`,
      },
      { title: 'People', kind: 'number', cell: ({ people }) => count(people) },
      {
        title: 'Of the step before',
        kind: 'number',
        cell: ({ people, before }) =>
          before === null || before === 0 ? '' : `${Math.round((100 * people) / before)} %`,
      },
      { title: 'Lost', kind: 'number', cell: ({ people, before }) => (before === null ? '' : count(before - people)) },
    ],
  });
}

const percentOf = (share: number) => `${Math.round(share * 100)} %`;

/** A row for each period, a column for each that follows; the darker a cell, the larger its share. */
function cohortTable(cohorts: readonly Cohort[], width: string): Html {
  if (cohorts.every(({ people }) => people === 0))
    return html`<div class="empty"><p>Nobody began in this time.</p></div>`;
  const later = cohorts
    .slice(1)
    .map((_, i) => html`<th scope="col" class="number">${titleOf(width)} ${String(i + 1)}</th>`);
  const row = ({ from, people, returned }: Cohort) =>
    html`<tr><th scope="row">${from.slice(0, 10)}</th><td class="number">${count(people)}</td>${cohorts.slice(1).map((_, i) => shadedCell(people, returned[i]))}</tr>\n`;
  return html`<div class="scroll" role="region" aria-label="Retention" tabindex="0"><table class="rows cohorts"><caption class="unseen">Share of people who came back, by the ${width} in which they began; times are UTC</caption>
<thead><tr><th scope="col">Began</th><th scope="col" class="number">People</th>${later}</tr></thead><tbody>${cohorts.map(row)}</tbody></table></div>`;
}

const titleOf = (width: string) => `${width.charAt(0).toUpperCase()}${width.slice(1)}`;

function shadedCell(people: number, returned: number | undefined): Html {
  if (returned === undefined) return html`<td></td>`;
  if (people === 0) return html`<td class="number quiet">–</td>`;
  const shade = returned === 0 ? 0 : Math.max(1, Math.round((returned / people) * SHADES));
  return html`<td class="number shade-${String(shade)}" title="${countOf(returned, 'person', 'people')} of ${count(people)}">${percentOf(returned / people)}</td>`;
}
