// The page of a rule: what it watches, its series, whom it tells and its history; silence it, and its end.
import { panel } from '../../../kit/console/failure.ts';
import { actButton } from '../../../kit/console/form.ts';
import { type ResourcePage, resourcePages } from '../../../kit/console/resource-pages.ts';
import { facts, more, table } from '../../../kit/console/table.ts';
import { ago, durationText, payload, plainNumber, short, time } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../lib/time.ts';
import { history } from '../capabilities/history.ts';
import { remove } from '../capabilities/rule/delete.ts';
import { get } from '../capabilities/rule/get.ts';
import { silence } from '../capabilities/silence.ts';
import { boundText } from './alerts.ts';
import { ALERTS } from './paths.ts';
import { silenceOf, stateOf } from './state.ts';

type Rule = DataOf<typeof get>;
type Change = ItemOf<typeof history>;

const ROWS = 25;

const rulePage: ResourcePage<Rule> = {
  below: '',
  isLive: true,
  actions,
  show,
  acts: {
    silence: {
      capability: silence,
      input: (_, { params: { rule }, nowMs }) => ({ rule, until: iso(nowMs + HOUR_MS) }),
      done: 'Rule silenced for an hour.',
    },
    end_silence: {
      capability: silence,
      input: (_, { params: { rule } }) => ({ rule, until: null }),
      done: 'The rule tells again.',
    },
  },
};

export const rulePages = resourcePages<Rule>({
  name: 'alert',
  noun: 'alert rule',
  path: `${ALERTS}/{rule}`,
  list: { title: 'Alerts', path: ALERTS },
  needs: get,
  read: (visit) => visit.need(get, { rule: visit.params.rule }),
  nameOf: ({ rule, title }) => title ?? rule,
  badge: (_, rule) => stateOf(rule),
  about,
  pages: [rulePage],
  deletion: {
    capability: remove,
    title: 'Delete a rule',
    warning: () => 'Nobody is told any more, and its history is deleted.',
    effect: (_visit, { state }) =>
      state === 'firing'
        ? ['It fires now: whoever was told so is told that it is over.', 'Its history is deleted with it.']
        : ['Nobody is told any more.', 'Its history is deleted with it.'],
  },
});

function about(visit: Visit, { rule, severity, since, words, silenced_until: until }: Rule): Html {
  const silenced = silenceOf(visit, until);
  return html`<p class="quiet"><code>${rule}</code> · ${severity} · since ${ago(visit, since)}${silenced === '' ? '' : html` · ${silenced}`}</p>
${words === null ? '' : html`<p>${short(words, 500)}</p>`}`;
}

function actions(visit: Visit, { silenced_until: until }: Rule): Html | undefined {
  if (!visit.may(silence)) return undefined;
  return until === null
    ? actButton(visit, 'silence', 'Silence for an hour')
    : actButton(visit, 'end_silence', 'End the silence');
}

async function show(visit: Visit, rule: Rule) {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(history, { rule: rule.rule, cursor, limit: ROWS });
  const content = html`<div class="panels">${settings(visit, rule)}${watchPanel(rule)}</div>
${seriesTable(visit, rule)}
${panel(visit, 'History', list, (page) => html`${changeTable(visit, page.items)}${more(visit, page)}`)}`;
  return { content };
}

function settings(visit: Visit, rule: Rule): Html {
  const { notify, labels, details, runbook_url: runbook, repeat_seconds: repeat } = rule;
  const { for_seconds: forSeconds, keep_firing_seconds: keepSeconds } = rule;
  const told = notify.map((each) => html`<div>${short(Object.entries(each).flat().join(': '), 120)}</div>`);
  return html`<section class="panel"><h2>Rule</h2>${facts([
    ['Fires', boundText(rule)],
    ['After', forSeconds === 0 ? null : durationText(forSeconds)],
    ['Fires on for', keepSeconds === 0 ? null : durationText(keepSeconds)],
    ['Details', details === null ? null : short(details, 300)],
    [
      'Looked at',
      html`every ${durationText(rule.every_seconds)}, last ${ago(visit, rule.looked_at, 'never')}, in ${plainNumber(rule.took_ms)} ms`,
    ],
    ['Tells', told.length === 0 ? 'nobody' : html`${told}`],
    ['Told again', repeat === null ? null : html`every ${durationText(repeat)} while it fires`],
    ['Labels', Object.keys(labels).length === 0 ? null : labelsText(labels)],
    [
      'Runbook',
      runbook === null ? null : html`<a href="${runbook}" rel="noreferrer noopener">${short(runbook, 80)}</a>`,
    ],
  ])}</section>`;
}

function watchPanel({ when, by }: Rule): Html {
  return html`<section class="panel"><h2>Watches</h2>${payload(when, 'What is looked at', { call: 'alerts.rule.get' })}${by.length === 0 ? '' : html`<p>A series for each ${by.join(', ')}.</p>`}</section>`;
}

function seriesTable(visit: Visit, { series, more_series: rest }: Rule): Html {
  const shown = table<Rule['series'][number]>({
    caption: 'Series',
    rows: series,
    empty: html`<p>Nothing was found at the last look.</p>`,
    columns: [
      { title: 'Series', cell: ({ labels }) => labelsText(labels) },
      { title: 'State', cell: stateOf },
      { title: 'Since', cell: ({ since }) => ago(visit, since) },
      { title: 'Value', kind: 'number', cell: ({ value }) => (value === null ? '' : plainNumber(value)) },
    ],
  });
  return html`<section><h2>Series</h2>${shown}${rest === 0 ? '' : html`<p class="quiet">${plainNumber(rest)} more have no state: a rule has at most 100.</p>`}</section>`;
}

function changeTable(visit: Visit, items: readonly Change[]): Html {
  return table<Change>({
    caption: 'History',
    rows: items,
    empty: html`<p>Nothing has changed in the last 30 days.</p>`,
    columns: [
      { title: 'Time', cell: ({ at }) => time(visit, at) },
      { title: 'State', cell: stateOf },
      { title: 'Value', kind: 'number', cell: ({ value }) => (value === null ? '' : plainNumber(value)) },
      { title: 'Series', cell: ({ series }) => seriesText(series) },
      { title: 'Notices', kind: 'number', cell: ({ notices }) => (notices === 0 ? '' : plainNumber(notices)) },
      { title: 'Words', cell: ({ words }) => (words === null ? '' : short(words, 200)) },
    ],
  });
}

function seriesText(series: Change['series']): Html {
  const named = series.filter(({ labels }) => Object.keys(labels).length > 0);
  const [first] = named;
  if (first === undefined) return html``;
  const rest = named.length - 1;
  return html`${labelsText(first.labels)} ${first.state}${rest === 0 ? '' : html` <span class="quiet">and ${plainNumber(rest)} more</span>`}`;
}

function labelsText(labels: Readonly<Record<string, string>>): Html {
  const text = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return short(text.length === 0 ? 'the only one' : text.join(', '), 160);
}
