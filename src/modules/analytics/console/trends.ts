// Analytics page: trends, funnel and retention. The address holds the queries.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { periodControl, periodFields, periodOf, stepTabs } from '../../../kit/console/period.ts';
import { plot } from '../../../kit/console/plot.ts';
import { table } from '../../../kit/console/table.ts';
import { count } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { funnel } from '../capabilities/funnel.ts';
import { retention } from '../capabilities/retention.ts';
import { settings } from '../capabilities/settings.ts';
import { trends } from '../capabilities/trends.ts';

export const analyticsPage: ConsolePage = {
  name: 'analytics',
  path: '/analytics',
  needs: trends,
  nav: { label: 'Analytics', key: 'y', group: 'observe' },
  show,
};

/** Names separated by commas, as the address has them. */
function namesIn({ query }: Visit, field: string): string[] {
  return (query.get(field) ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

async function show(visit: Visit): Promise<View> {
  const names = namesIn(visit, 'events');
  const breakdown = visit.query.get('breakdown')?.trim() || undefined;
  const math = visit.query.get('people') === null ? 'total' : 'uniques';
  const period = periodOf(visit);
  const { from, to, granularity: interval } = period;
  const asked = { ...(names.length === 0 ? {} : { events: names }), breakdown, math, interval, from, to };
  const steps = namesIn(visit, 'steps').map((event) => ({ event }));
  // Two questions of an account may be asked at once.
  const [counted, returned] = await Promise.all([
    visit.call(trends, asked),
    visit.may(retention) ? visit.call(retention, { period: 'day', periods: 8, to }) : null,
  ]);
  const stepped = steps.length < 2 ? null : await visit.call(funnel, { steps, from, to });
  const link = visit.may(settings.getSettings)
    ? html` <a href="${visit.path('/analytics/settings')}">Settings</a>`
    : '';
  const content = html`<div class="head"><h1>Analytics</h1><div class="actions"><a href="${visit.path('/analytics/events')}">Events</a>${link}</div></div>
${periodControl(visit, period)}
${form(visit)}
${stepTabs(visit, period)}
${panel(visit, 'Trends', counted, (data) => trendPlot(data, interval, math === 'uniques' ? 'people' : 'events'))}
${stepped === null ? '' : panel(visit, 'Funnel', stepped, funnelTable)}
${returned === null ? '' : panel(visit, 'Retention', returned, retentionTable)}`;
  return { title: 'Analytics', content, hasPlots: true };
}

function form(visit: Visit): Html {
  const { query } = visit;
  const value = (name: string) => query.get(name) ?? '';
  return html`<form method="get" class="row" role="search">${periodFields(visit)}
<label>Events <input name="events" value="${value('events')}" size="24" placeholder="signed_up, plan_chosen" spellcheck="false"></label>
<label>Break down by <input name="breakdown" value="${value('breakdown')}" size="12" spellcheck="false"></label>
<label>Funnel <input name="steps" value="${value('steps')}" size="24" placeholder="signed_up, plan_chosen" spellcheck="false"></label>
<label class="choice"><input type="checkbox" name="people"${query.get('people') === null ? '' : html` checked`}> Count people</label> <button>Show</button></form>`;
}

function trendPlot({ times, series }: DataOf<typeof trends>, interval: string, unit: string): Html {
  const label = ({ event, breakdown, is_other: isOther }: (typeof series)[number]) =>
    [event ?? 'All events', isOther ? 'others' : breakdown].filter((each) => each !== null).join(': ');
  const lines = series.map((each) => ({ label: label(each), values: each.values }));
  return plot({ caption: `By ${interval}`, unit, instants: times, series: lines, isRunning: true });
}

function funnelTable({ series }: DataOf<typeof funnel>): Html {
  return table({
    caption: 'Funnel',
    rows: series.flatMap(({ steps }) => steps),
    empty: html`<p>Nobody came to the first step.</p>`,
    columns: [
      { title: 'Step', cell: ({ event }) => event },
      { title: 'People', kind: 'number', cell: ({ people }) => count(people) },
      { title: 'Share', kind: 'number', cell: ({ conversion }) => `${Math.round(conversion * 100)} %` },
    ],
  });
}

function retentionTable({ cohorts }: DataOf<typeof retention>): Html {
  const later = cohorts.slice(1).map((_, i) => ({
    title: `Day ${i + 1}`,
    kind: 'number' as const,
    cell: ({ returned }: (typeof cohorts)[number]) => (returned[i] === undefined ? '' : count(returned[i])),
  }));
  return table({
    caption: 'People who came back, by the day on which they were there',
    rows: cohorts,
    empty: html`<p>No events yet.</p>`,
    columns: [
      { title: 'Day (UTC)', cell: ({ from }) => from.slice(0, 10) },
      { title: 'People', kind: 'number', cell: ({ people }) => count(people) },
      ...later,
    ],
  });
}
