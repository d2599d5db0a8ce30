// Single events, newest first.
import { panel } from '../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { more, teach } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { capture } from '../capabilities/capture.ts';
import { events } from '../capabilities/events.ts';
import { eventTable } from './event-table.ts';

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
  const asked = { event: of('event'), distinct_id: of('distinct_id'), cursor: of('cursor'), limit: ROWS };
  const found = await visit.call(events, asked);
  const empty = teach(
    "No events yet. PostHog's clients send theirs to the host /v1/analytics/posthog. Or by a call:",
    visit.samples([[capture, { event: 'signed_up', distinct_id: 'user-17' }]]),
  );
  const content = html`<p><a href="${visit.path('/analytics')}">Analytics</a></p><h1>Events</h1>
<form method="get" class="row" role="search"><label>Event <input name="event" value="${asked.event ?? ''}" spellcheck="false"></label>
<label>Distinct ID <input name="distinct_id" value="${asked.distinct_id ?? ''}" spellcheck="false"></label> <button>Show</button></form>
${panel(visit, 'Events', found, (page) => html`${eventTable(visit, page.items, empty)}${more(visit, page)}`)}`;
  return { title: 'Events', content, ...(asked.cursor === undefined ? { againSeconds: AGAIN_SECONDS } : {}) };
}
