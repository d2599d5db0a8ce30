// Analytics: a trend, a funnel or a retention, which the address holds, and the questions that were saved by name. One question is asked at a time.
import { actForm, field, jsonOf, textOf } from '../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { type Period, periodControl, periodFields, periodOf, stepTabs } from '../../../kit/console/period.ts';
import { tabs, withQuery } from '../../../kit/console/table.ts';
import { short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { events } from '../capabilities/events.ts';
import { funnel } from '../capabilities/funnel.ts';
import { retention } from '../capabilities/retention.ts';
import { type QuestionKind, savedQuestions } from '../capabilities/saved-questions.ts';
import { settings } from '../capabilities/settings.ts';
import { trends } from '../capabilities/trends.ts';
import { pictureOf } from './pictures.ts';
import { type Asked, askedBy, daysOf, isAskable, kindFrom, namesIn } from './questions.ts';
import { questionPath } from './saved.ts';

const SAVE = 'save';
const SAVED_SHOWN = 20;
const RECENT_EVENTS = 100;
const EVENTS_OFFERED = 3;
const STEPS_OFFERED = 3;
const STEPS_MAX = 10;
const capabilities = { trends, funnel, retention } as const;
const titles: Readonly<Record<QuestionKind, string>> = { trends: 'Trends', funnel: 'Funnel', retention: 'Retention' };

export const analyticsPage: ConsolePage = {
  name: 'analytics',
  path: '/analytics',
  needs: trends,
  nav: { label: 'Analytics', key: 'y', group: 'observe' },
  show,
  acts: {
    [SAVE]: actOf({
      capability: savedQuestions.create,
      input: (form) => ({ name: textOf(form, 'name'), ...(jsonOf(form, 'question') as object) }),
      done: 'Question saved.',
      next: ({ question_id: id }) => questionPath(id),
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  const { query } = visit;
  const period = periodOf(visit);
  const asked = askedBy(query, period.granularity);
  const names = await recentNames(visit);
  const saved = await savedLinks(visit);
  const picture = isAskable(asked)
    ? await pictureOf(visit, asked, period)
    : html`<p class="empty">Choose at least two steps: the events that people do one after the other.</p>`;
  const content = html`${title(visit)}
${saved}
${kindTabs(visit)}
${asked.kind === 'retention' ? '' : periodControl(visit, period)}
${questionForm(visit, asked, names)}
${asked.kind === 'trends' ? stepTabs(visit, period) : ''}
${picture}
${isAskable(asked) ? saveForm(visit, asked, period) : ''}`;
  return { title: 'Analytics', content, hasPlots: true };
}

function title(visit: Visit): Html {
  const link = visit.may(settings.getSettings)
    ? html` <a href="${visit.path('/analytics/settings')}">Settings</a>`
    : '';
  return html`<div class="head"><h1>Analytics</h1><div class="actions"><a href="${visit.path('/analytics/events')}">Events</a>${link}</div></div>`;
}

async function savedLinks(visit: Visit): Promise<Html> {
  if (!visit.may(savedQuestions.list)) return html``;
  const { data } = await visit.call(savedQuestions.list, { limit: SAVED_SHOWN });
  if (data === null || data.items.length === 0) return html``;
  const each = ({ question_id: id, name, kind }: (typeof data.items)[number]) =>
    html`<li><a href="${visit.path(questionPath(id))}">${short(name, 60)}</a> <span class="quiet">${titles[kind]}</span></li>`;
  return html`<section aria-label="Saved questions"><ul class="chips"><li class="quiet">Saved:</li>${data.items.map(each)}</ul></section>`;
}

function kindTabs(visit: Visit): Html {
  const here = kindFrom(visit.query);
  const kinds = (Object.keys(titles) as QuestionKind[]).filter((kind) => visit.may(capabilities[kind]));
  return tabs(
    'Kind of question',
    kinds.map((kind) => ({ text: titles[kind], href: withQuery(visit, { ask: kind }), isHere: kind === here })),
  );
}

/** Names of the latest events, to be offered where one is asked for. */
async function recentNames(visit: Visit): Promise<readonly string[]> {
  if (!visit.may(events)) return [];
  const { data } = await visit.call(events, { limit: RECENT_EVENTS });
  return [...new Set(data?.items.map(({ event }) => event))].toSorted();
}

function questionForm(visit: Visit, { kind, input }: Asked, names: readonly string[]): Html {
  const { query } = visit;
  const list = html`<datalist id="event-names">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
  const event = (name: string, label: string, value: string) =>
    html`<label>${label} <input name="${name}" value="${value}" size="16" list="event-names" spellcheck="false" autocapitalize="off"></label> `;
  const breakdown = html`<label>Break down by <input name="breakdown" value="${query.get('breakdown') ?? ''}" size="12" spellcheck="false" autocapitalize="off" placeholder="plan"></label>`;
  const fields: Readonly<Record<QuestionKind, () => Html>> = {
    trends:
      () => html`${withEmptyFields(namesIn(query, 'event', 'events'), EVENTS_OFFERED, EVENTS_OFFERED + 7).map((name, i) => event('event', i === 0 ? 'Event' : 'and', name))}
${breakdown} <label class="choice"><input type="checkbox" name="people"${query.has('people') ? html` checked` : ''}> Count people</label>`,
    funnel:
      () => html`${withEmptyFields(namesIn(query, 'step', 'steps'), STEPS_OFFERED, STEPS_MAX).map((name, i) => event('step', `Step ${i + 1}`, name))}
${breakdown} <label>Within days <input type="number" name="window_days" min="1" max="90" value="${String(Number(input.window_seconds) / 86_400)}"></label>`,
    retention:
      () => html`${event('start_event', 'Began with', query.get('start_event') ?? '')}${event('return_event', 'Came back with', query.get('return_event') ?? '')}
<label>By <select name="width">${['day', 'week', 'month'].map((width) => html`<option${width === input.period ? html` selected` : ''}>${width}</option>`)}</select></label>
<label>Periods <input type="number" name="periods" min="2" max="31" value="${String(input.periods)}"></label>`,
  };
  return html`<form method="get" class="row" role="search">${periodFields(visit)}<input type="hidden" name="ask" value="${kind}">${list}
${fields[kind]()} <button>Show</button></form>`;
}

/** The names, and empty fields for more. */
function withEmptyFields(names: readonly string[], least: number, most: number): readonly string[] {
  const fields = Math.min(most, Math.max(least, names.length + 1));
  return Array.from({ length: Math.max(fields, names.length) }, (_, i) => names[i] ?? '');
}

function saveForm(visit: Visit, { kind, input }: Asked, period: Period): Html {
  if (!visit.may(savedQuestions.create)) return html``;
  const question = JSON.stringify({ [kind]: input, ...(kind === 'retention' ? {} : { days: daysOf(period) }) });
  const name = field(visit, SAVE, {
    name: 'name',
    label: 'Name',
    isRequired: true,
    hint: 'It is asked of the days up to now whenever it is opened.',
    attributes: html`maxlength="100"`,
  });
  const isOpen = visit.refused?.act === SAVE;
  return html`<details class="block"${isOpen ? html` open` : ''}><summary>Save this question</summary>${actForm(visit, SAVE, html`${name}<button>Save question</button>`, { question })}</details>`;
}
