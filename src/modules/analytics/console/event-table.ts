// Events in a table, each with a link to the person who did it.
import { table } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { events } from '../capabilities/events.ts';
import { person } from '../capabilities/person.ts';

export const personPath = (distinctId: string) => `/analytics/people/${encodeURIComponent(distinctId)}`;

export function eventTable(visit: Visit, rows: readonly ItemOf<typeof events>[], empty: Html): Html {
  const personCell = (id: string) =>
    visit.may(person) ? html`<a href="${visit.path(personPath(id))}">${short(id, 40)}</a>` : short(id, 40);
  return table({
    caption: 'Events',
    rows,
    empty,
    columns: [
      { title: 'Event', cell: ({ event }) => short(event, 80) },
      { title: 'Time', cell: ({ timestamp }) => time(visit, timestamp) },
      { title: 'Person', cell: ({ distinct_id: id }) => personCell(id) },
      { title: 'Properties', cell: ({ properties }) => short(JSON.stringify(properties), 200) },
    ],
  });
}
