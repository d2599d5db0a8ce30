// A person: what is known of them, their latest events, and their deletion.
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { ago, countOf, short } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { events } from '../capabilities/events.ts';
import { deletePerson, person } from '../capabilities/person.ts';
import { eventTable, personPath } from './event-table.ts';

const EVENTS_SHOWN = 20;

const idOf = ({ params: { distinct_id: id = '' } }: Visit) => id;

export const personPage: ConsolePage = {
  name: 'analytics_person',
  path: '/analytics/people/{distinct_id}',
  needs: person,
  show,
};

export const personDeletePage: ConsolePage = {
  name: 'analytics_person_delete',
  path: '/analytics/people/{distinct_id}/delete',
  needs: deletePerson,
  show: showDelete,
  acts: {
    delete: {
      capability: deletePerson,
      input(form, visit) {
        const id = idOf(visit);
        requireTyped(form, id.trim(), 'delete the person');
        return { distinct_id: id };
      },
      done: 'Person deleted. Their events are removed from storage soon.',
      next: () => '/analytics/events',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const [known, latest] = await Promise.all([
    visit.need(person, { distinct_id: id }),
    visit.may(events) ? visit.call(events, { distinct_id: id, limit: EVENTS_SHOWN, include_bots: true }) : null,
  ]);
  const all = html`<p><a href="${visit.path(`/analytics/events?distinct_id=${encodeURIComponent(id)}`)}">All events</a></p>`;
  const danger = {
    title: 'Delete this person',
    text: 'All their distinct IDs, properties and events are deleted.',
    act: dangerLink(visit.path(`${personPath(id)}/delete`), 'Delete…'),
  };
  const content = html`<p><a href="${visit.path('/analytics/events')}">Events</a></p><h1>${short(id, 100)}</h1>
${facts([
  ['Distinct IDs', short(known.distinct_ids.join(', '), 500)],
  ['Identified', known.is_identified ? 'yes' : 'no'],
  ['Properties', short(JSON.stringify(known.properties), 500)],
  ['First described', known.created_at === null ? null : ago(visit, known.created_at)],
  ['Last described', known.updated_at === null ? null : ago(visit, known.updated_at)],
])}
${latest === null ? '' : panel(visit, 'Events of the last 7 days', latest, ({ items }) => html`${eventTable(visit, items, html`<p>None.</p>`)}${all}`)}
${dangerZone([visit.may(deletePerson) ? danger : null])}`;
  return { title: id.slice(0, 80).toWellFormed(), content };
}

async function showDelete(visit: Visit): Promise<View> {
  const id = idOf(visit);
  const { distinct_ids: ids } = await visit.need(person, { distinct_id: id });
  const content = html`<p><a href="${visit.path(personPath(id))}">${short(id, 100)}</a></p>
<h1>Delete the person</h1>
<p>${countOf(ids.length, 'distinct ID')}, their properties and all their events are deleted. It cannot be undone. What the events cost stays in the ledger.</p>
${typedForm(visit, 'delete', { wanted: id.trim(), button: 'Delete' })}`;
  return { title: 'Delete a person', content };
}
