// The analytics module: exact counts of what users did, and PostHog's wire.
import type { DataOf } from '../../kit/console/visit.ts';
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { capture } from './capabilities/capture.ts';
import { events } from './capabilities/events.ts';
import { funnel } from './capabilities/funnel.ts';
import { deletePerson, person } from './capabilities/person.ts';
import { retention } from './capabilities/retention.ts';
import { savedQuestions } from './capabilities/saved-questions.ts';
import { settings } from './capabilities/settings.ts';
import { trends } from './capabilities/trends.ts';
import { CAPTURE, DISTINCT_ID_CHARACTERS_MAX } from './limits.ts';
import { posthogRoutes } from './posthog/routes.ts';
import { analyticsProblems } from './problems.ts';
import { type AnalyticsState, createAnalyticsState } from './state.ts';
import { analyticsSweeps } from './sweeps.ts';

const DISTINCT_ID = new RegExp(`^[^\\p{Cc}\\p{Cs}]{1,${DISTINCT_ID_CHARACTERS_MAX}}$`, 'u');

const nobody = noRowIn('analytics.account');

export const analytics = defineModule<AnalyticsState>({
  name: 'analytics',
  summary: 'Product analytics: events and people, trends, funnels and retention, counted exactly.',
  status: 'ga',
  shownBy: ['analytics.capture', 'analytics.trends'],
  clients: [
    {
      client: 'posthog-js, posthog-node and the other PostHog SDKs',
      address: '{base_url}/v1/analytics/posthog',
      use: 'events and people, by changing the host',
      serves: [CAPTURE],
    },
  ],
  capabilities: [
    ...[capture, trends, funnel, retention, events, person, deletePerson],
    ...savedQuestions.capabilities,
    ...[settings.getSettings, settings.setSettings],
  ],
  finders: [
    {
      kind: 'person',
      capability: person.id,
      byId: { field: 'distinct_id', pattern: DISTINCT_ID },
      of(item) {
        const [id = ''] = (item as DataOf<typeof person>).distinct_ids;
        return { id, name: id, path: `/analytics/people/${encodeURIComponent(id)}` };
      },
    },
    finder('question', savedQuestions.list, ({ question_id: id, name }) => ({
      id,
      name,
      path: `/analytics/questions/${encodeURIComponent(id)}`,
    })),
  ],
  console: async () => (await import('./console/index.ts')).analyticsConsole,
  problems: analyticsProblems,
  prices: { [CAPTURE]: { unit: 'event', nanosPerUnit: 10_000n } },
  rawRoutes: posthogRoutes,
  start: createAnalyticsState,
  isEmpty: async (db, accountId) => (await nobody(db, accountId)) && (await savedQuestions.isEmpty(db, accountId)),
  limits: { questions: savedQuestions.limit },
  sweeps: analyticsSweeps,
});
