// A person: what is known of them, their latest events, and their deletion.
import { panel } from '../../../kit/console/failure.ts';
import { resourcePages } from '../../../kit/console/resource-pages.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { events } from '../capabilities/events.ts';
import { deletePerson, person } from '../capabilities/person.ts';
import { eventTable } from './event-table.ts';

const EVENTS_SHOWN = 20;

interface Person {
  /** The distinct ID that the address names. */
  readonly id: string;
  readonly known: DataOf<typeof person>;
}

export const personPages = resourcePages<Person>({
  name: 'analytics_person',
  noun: 'person',
  path: '/analytics/people/{distinct_id}',
  list: { title: 'Events', path: '/analytics/events' },
  needs: person,
  async read(visit) {
    const { distinct_id: id = '' } = visit.params;
    return { id, known: await visit.need(person, { distinct_id: id }) };
  },
  nameOf: ({ id }) => id,
  about: aboutPerson,
  pages: [{ below: '', show }],
  deletion: {
    capability: deletePerson,
    title: 'Delete a person',
    warning: () => 'All their distinct IDs, properties and events are deleted.',
    effect: (_, { known }) =>
      `${countOf(known.distinct_ids.length, 'distinct ID')}, their properties and all their events are deleted. It cannot be undone. What the events cost stays in the ledger.`,
    done: 'Person deleted. Their events are removed from storage soon.',
  },
});

function aboutPerson(visit: Visit, { known }: Person): Html {
  return facts([
    ['Distinct IDs', short(known.distinct_ids.join(', '), 500)],
    ['Identified', known.is_identified ? 'yes' : 'no'],
    ['Properties', short(JSON.stringify(known.properties), 500)],
    ['First described', known.created_at === null ? null : ago(visit, known.created_at)],
    ['Last described', known.updated_at === null ? null : ago(visit, known.updated_at)],
  ]);
}

async function show(visit: Visit, { id }: Person) {
  if (!visit.may(events)) return { content: html`` };
  const latest = await visit.call(events, { distinct_id: id, limit: EVENTS_SHOWN, include_bots: true });
  const all = html`<p><a href="${visit.path(`/analytics/events?distinct_id=${encodeURIComponent(id)}`)}">All events</a></p>`;
  const rows = ({ items }: DataOf<typeof events>) => html`${eventTable(visit, items, html`<p>None.</p>`)}${all}`;
  return { content: panel(visit, 'Events of the last 7 days', latest, rows) };
}
