// Events of the account, the same that webhooks receive: newest first, in words, grouped by day.
// Consecutive events with equal text share a line.

import { dayText, secondsTime } from '../../../../kit/console/day.ts';
import { panel } from '../../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { periodControl, periodFields, periodOf } from '../../../../kit/console/period.ts';
import { badge, more, type Page, table, teach } from '../../../../kit/console/table.ts';
import { count, payload, short } from '../../../../kit/console/text.ts';
import type { Input, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { eventsList } from '../../capabilities/events-list.ts';

type Event = ItemOf<typeof eventsList>;

/** Events that say the same, newest first. */
interface Line {
  readonly of: readonly [Event, ...Event[]];
  readonly day: string;
  readonly said: string;
}

const ROWS = 50;
const WORDS_CHARACTERS_MAX = 200;

export const eventsPage: ConsolePage = {
  name: 'events',
  path: '/events',
  needs: eventsList,
  nav: { label: 'Events', key: 't', group: 'observe' },
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const period = periodOf(visit, '30d');
  const type = visit.query.get('type') || undefined;
  const cursor = visit.query.get('cursor') ?? undefined;
  const { from, to } = period;
  const list = await visit.call(eventsList, { type, from, to, cursor, limit: ROWS });
  const types = visit.eventTypes.map((each) => html`<option value="${each}"></option>`);
  const content = html`<h1>Events</h1>
${periodControl(visit, period)}
<form method="get" class="row">${periodFields(visit)}<label>Type <input type="search" name="type" value="${type ?? ''}" placeholder="wallet.low_balance" list="event-types" spellcheck="false" autocapitalize="off"></label><datalist id="event-types">${types}</datalist> <button>Filter</button></form>
${panel(visit, 'Newest first', list, (page) => events(visit, page))}`;
  return { title: 'Events', content };
}

function events(visit: Visit, page: Page<Event>): Html {
  return html`${table<Line>({
    caption: 'Events',
    rows: linesOf(visit, page.items),
    groupOf: ({ day }) => day,
    empty: teach(
      'No events in this period. Webhooks receive the same events as this page:',
      `curl -sS -X POST ${visit.baseUrl}/v1/account/webhooks/register -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '{"url":"https://example.com/hook","events":["queue.dlq"]}'`,
    ),
    columns: [
      { title: 'What happened', cell: ({ of: [first], said }) => eventLink(visit, first, said) },
      {
        title: 'Type',
        cell: ({ of: [{ type, test: isTest }] }) => badge(type, isTest ? 'plain' : visit.eventWords(type)?.tone),
      },
      { title: 'Time', cell: ({ of: [{ timestamp }] }) => secondsTime(visit, timestamp) },
      { title: 'Data', cell: ({ of }) => html`${of.map(dataOf)}` },
    ],
  })}${more(visit, page)}`;
}

function eventLink(visit: Visit, { type, data, test: isTest }: Event, said: string): Html {
  const path = isTest ? undefined : visit.eventWords(type)?.path?.(recordOf(data), data as Input);
  const text = short(said, WORDS_CHARACTERS_MAX);
  return path === undefined ? text : html`<a href="${visit.path(path)}">${text}</a>`;
}

function dataOf({ event_id: id, type, data, sequence }: Event): Html {
  return html`<details id="${id}"><summary>#${count(sequence)}<span class="unseen">, data of ${type} ${id}</span></summary>${payload(data, `Data of ${type} ${id}`, { call: 'account.events.list' })}</details>`;
}

function linesOf(visit: Visit, items: readonly Event[]): Line[] {
  const lines: Line[] = [];
  for (const event of items) {
    const before = lines.at(-1);
    const joined = before === undefined ? null : joinedTo(visit, before, event);
    if (joined !== null) lines[lines.length - 1] = joined;
    else lines.push({ of: [event], day: dayText(visit, event.timestamp), said: oneOf(visit, event) });
  }
  return lines;
}

/** The line with one more event; null where that says something else, or is of another day. */
function joinedTo(visit: Visit, { of, day }: Line, event: Event): Line | null {
  const [first] = of;
  const { many } = visit.eventWords(event.type) ?? {};
  if (
    many === undefined ||
    first.type !== event.type ||
    event.test ||
    first.test ||
    day !== dayText(visit, event.timestamp)
  )
    return null;
  const length = of.length + 1;
  const said = many(recordOf(event.data), length);
  return said === many(recordOf(first.data), length) ? { of: [...of, event], day, said } : null;
}

/** A test is about nothing. */
function oneOf(visit: Visit, { type, data, test: isTest }: Event): string {
  if (isTest) return 'Test event';
  return visit.eventWords(type)?.one(recordOf(data), data as Input) ?? type;
}

/** What the event is about. */
function recordOf(data: unknown): Input {
  return (data as { readonly object?: Input }).object ?? {};
}
