// One error group: how often and to whom, one of its events in full, and what is done about it.

import { type CallerNames, readCallerNames } from '../../../kit/console/callers.ts';
import { copiedId } from '../../../kit/console/copied.ts';
import { panel } from '../../../kit/console/failure.ts';
import { actButton, actForm, field, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, figures, more, type Page, table, withQuery } from '../../../kit/console/table.ts';
import { ago, count, short, time } from '../../../kit/console/text.ts';
import type { Callable, DataOf, ItemOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { invalidField } from '../../../problems/problem.ts';
import { assign as errorsAssign } from '../capabilities/assign.ts';
import { comment } from '../capabilities/comment.ts';
import { events as errorsEvents } from '../capabilities/events.ts';
import { get } from '../capabilities/get.ts';
import { groupDetail } from '../capabilities/group-detail.ts';
import { ignore } from '../capabilities/ignore.ts';
import { resolve } from '../capabilities/resolve.ts';
import { unignore } from '../capabilities/unignore.ts';
import { unresolve } from '../capabilities/unresolve.ts';
import { dayOfHours } from './day.ts';
import { type ErrorEvent, eventSections, section } from './event.ts';
import { levelOf, stateActs, stateOf, typeBefore } from './group.ts';
import { activity, comments } from './history.ts';
import { shorten } from './json-block.ts';
import { distribution } from './shares.ts';

type Detail = DataOf<typeof groupDetail>;
type Listed = ItemOf<typeof errorsEvents>;

const TITLE_CHARACTERS_MAX = 1_000;
const EVENTS = 10;
const EVENTS_CURSOR = 'events';

function onGroup(capability: Callable, done: string, fields: (form: URLSearchParams) => object = () => ({})): Act {
  return {
    capability,
    done,
    input: (form, { params }) => ({ error_group_id: params.id, ...fields(form) }),
  };
}

export const errorPage: ConsolePage = {
  name: 'error',
  path: '/errors/{id}',
  needs: groupDetail,
  isLive: true,
  show,
  jsonl: async (visit) => `${JSON.stringify(await shownEvent(visit, await groupOf(visit)))}\n`,
  acts: {
    resolve: onGroup(resolve, 'Resolved. A new event reopens it.'),
    unresolve: onGroup(unresolve, 'Reopened.'),
    ignore: onGroup(ignore, 'Ignored: events are counted, and nobody is notified.'),
    unignore: onGroup(unignore, 'No longer ignored.'),
    assign: onGroup(errorsAssign, 'Assignment saved.', (form) => ({
      assigned_to: textOf(form, 'assigned_to') ?? null,
    })),
    comment: onGroup(comment, 'Comment added.', (form) => ({
      text: textOf(form, 'text'),
    })),
  },
};

function groupOf(visit: Visit): Promise<Detail> {
  return visit.need(groupDetail, { error_group_id: visit.params.id });
}

/** The one that the address names, else the latest; null: they are past retention. Throws what the page answers 404 for. */
async function shownEvent(visit: Visit, group: Detail): Promise<ErrorEvent | null> {
  const id = visit.query.get('event');
  if (id === null || id === group.representative_event?.event_id) return group.representative_event;
  const event = await visit.need(get, { event_id: id });
  if (event.error_group_id !== group.error_group_id)
    throw invalidField('event', 'group', 'The event belongs to another group.');
  return event;
}

async function show(visit: Visit): Promise<View> {
  const group = await groupOf(visit);
  const isChanged = group.comments.length > 0 || group.activity_log.some(({ key_id: id }) => id !== null);
  const [event, events, names] = await Promise.all([
    shownEvent(visit, group),
    eventsOf(visit),
    isChanged ? readCallerNames(visit) : new Map<string, string>(),
  ]);
  const content = html`<p><a href="${visit.path('/errors')}">All errors</a></p>
<h1 dir="auto">${typeBefore(group)}${shorten(group.title, TITLE_CHARACTERS_MAX)}</h1>
${state(visit, group)}
${overview(group)}
<div class="columns">
<div>
${event === null ? section('Event', html`<p class="quiet">Its events are past retention; the counts stay.</p>`) : eventSections(visit, event)}
${panel(visit, 'Events', events, (page) => eventTable(visit, page, event))}
${section('Comments', talk(visit, group, names))}
</div>
<aside aria-label="Facts and distributions">
${section('Group', groupFacts(visit, group))}
${distribution('Environments', group.environment_distribution, group.count)}
${distribution('Releases', group.release_distribution, group.count)}
${distribution('Users', group.user_distribution, group.count)}
${distribution('Tags', group.tag_distribution, group.count)}
${group.activity_log.length === 0 ? '' : section('Activity', activity(visit, group.activity_log, names))}
</aside>
</div>`;
  return { title: group.title.slice(0, 80).toWellFormed(), content };
}

function state(visit: Visit, group: Detail): Html {
  const buttons = visit.may(resolve) ? stateActs(group).map(([act, label]) => actButton(visit, act, label)) : html``;
  return html`<div class="actions">${levelOf(group)}${stateOf(group)}${buttons}</div>`;
}

function overview(group: Detail): Html {
  const { current, previous, change_pct: change } = group.trend_24h;
  const changed = change === null ? undefined : `${change > 0 ? '+' : ''}${change} %`;
  return html`<section class="overview" aria-label="Counts">
${figures([
  ['Events', count(group.count)],
  ['Users', count(group.user_count)],
  ['Last 24 hours', count(current), changed],
  ['24 hours before', count(previous)],
])}
${dayOfHours(group.timeline)}
</section>`;
}

function groupFacts(visit: Visit, group: Detail): Html {
  const assign = visit.may(errorsAssign)
    ? actForm(
        visit,
        'assign',
        html`${field(visit, 'assign', { name: 'assigned_to', label: 'Assign to', value: group.assigned_to ?? '', hint: 'A person or an agent. Empty: nobody.', attributes: html`autocomplete="off"` })}<button>Assign</button>`,
      )
    : '';
  return html`${facts([
    ['First seen', ago(visit, group.first_seen_at)],
    ['Last seen', ago(visit, group.last_seen_at)],
    ['Regressed', group.reopened_at === null ? null : ago(visit, group.reopened_at)],
    ['Assigned to', html`<bdi>${group.assigned_to ?? 'nobody'}</bdi>`],
    ['Group', copiedId(group.error_group_id)],
    ['Fingerprint', html`<code>${group.fingerprint}</code>`],
  ])}${assign}`;
}

function talk(visit: Visit, group: Detail, names: CallerNames): Html {
  const form = visit.may(comment)
    ? actForm(
        visit,
        'comment',
        html`${field(visit, 'comment', { name: 'text', label: 'Add a comment', isRequired: true, rows: 3 })}<button>Comment</button>`,
      )
    : null;
  if (group.comments.length > 0) return html`${comments(visit, group.comments, names)}${form ?? ''}`;
  return form ?? html`<p class="empty">No comments.</p>`;
}

function eventsOf(visit: Visit): Promise<Read<Page<Listed>>> {
  const { id } = visit.params;
  const cursor = visit.query.get(EVENTS_CURSOR) ?? undefined;
  return visit.call(errorsEvents, { error_group_id: id, cursor, limit: EVENTS });
}

function eventTable(visit: Visit, page: Page<Listed>, here: ErrorEvent | null): Html {
  const rows = table<Listed>({
    caption: 'Events of the group',
    rows: page.items,
    empty: html`<p>No events: they are past retention.</p>`,
    columns: [
      {
        title: 'When',
        cell: ({ event_id: id, timestamp }) =>
          html`<a href="${withQuery(visit, { event: id })}"${id === here?.event_id ? html` aria-current="true"` : ''}>${time(visit, timestamp)}</a>`,
      },
      { title: 'Message', cell: ({ message, title }) => short(message ?? title, 80) },
      { title: 'Environment', cell: ({ environment }) => (environment === null ? '' : short(environment, 40)) },
      { title: 'Release', cell: ({ release }) => (release === null ? '' : short(release, 40)) },
      { title: 'User', cell: ({ user_id: user }) => (user === null ? '' : short(user, 40)) },
    ],
  });
  return html`${rows}${more(visit, page, EVENTS_CURSOR)}`;
}
