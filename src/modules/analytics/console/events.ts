// Single events, newest first, and what is known of a person.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, more, table, teach } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { capture } from '../capabilities/capture.ts';
import { events } from '../capabilities/events.ts';
import { person } from '../capabilities/person.ts';

const ROWS = 50;
const AGAIN_SECONDS = 5;

export const eventsPage: ConsolePage = {
  name: 'analytics_events',
  path: '/analytics/events',
  needs: events,
  isLive: true,
  show,
};

async function show(visit: Visit): Promise<View> {
  const { query } = visit;
  const of = (name: string) => query.get(name)?.trim() || undefined;
  const distinctId = of('distinct_id');
  const asked = { event: of('event'), distinct_id: distinctId, cursor: of('cursor'), limit: ROWS };
  const [found, known] = await Promise.all([
    visit.call(events, asked),
    distinctId === undefined || !visit.may(person) ? null : visit.call(person, { distinct_id: distinctId }),
  ]);
  const content = html`<p><a href="${visit.path('/analytics')}">Analytics</a></p><h1>Events</h1>
<form method="get" class="row" role="search"><label>Event <input name="event" value="${asked.event ?? ''}" spellcheck="false"></label>
<label>Distinct ID <input name="distinct_id" value="${distinctId ?? ''}" spellcheck="false"></label> <button>Show</button></form>
${known === null ? '' : panel(visit, 'Person', known, personFacts)}
${panel(visit, 'Events', found, (page) => html`${list(visit, page.items)}${more(visit, page)}`)}`;
  return { title: 'Events', content, ...(asked.cursor === undefined ? { againSeconds: AGAIN_SECONDS } : {}) };
}

function personFacts({ distinct_ids: ids, is_identified: isIdentified, properties }: DataOf<typeof person>): Html {
  return facts([
    ['Distinct IDs', short(ids.join(', '), 500)],
    ['Identified', isIdentified ? 'yes' : 'no'],
    ['Properties', short(JSON.stringify(properties), 500)],
  ]);
}

function list(visit: Visit, rows: readonly ItemOf<typeof events>[]): Html {
  return table({
    caption: 'Events',
    rows,
    empty: teach(
      "No events yet. PostHog's clients send theirs to the host /v1/analytics/posthog. Or by a call:",
      visit.samples([[capture, { event: 'signed_up', distinct_id: 'user-17' }]]),
    ),
    columns: [
      { title: 'Event', cell: ({ event }) => short(event, 80) },
      { title: 'Time', cell: ({ timestamp }) => time(visit, timestamp) },
      {
        title: 'Distinct ID',
        cell: ({ distinct_id: id }) =>
          html`<a href="${visit.path(`/analytics/events?distinct_id=${encodeURIComponent(id)}`)}">${short(id, 40)}</a>`,
      },
      { title: 'Properties', cell: ({ properties }) => short(JSON.stringify(properties), 200) },
    ],
  });
}
