// The errors module: error tracking with groups, counts, search and retention.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { noRowIn } from '../../kit/resource.ts';
import { errorsSource } from './alert-source.ts';
import { assign } from './capabilities/assign.ts';
import { capture } from './capabilities/capture.ts';
import { comment } from './capabilities/comment.ts';
import { events } from './capabilities/events.ts';
import { get } from './capabilities/get.ts';
import { groupDetail } from './capabilities/group-detail.ts';
import { groups } from './capabilities/groups.ts';
import { ignore } from './capabilities/ignore.ts';
import { list } from './capabilities/list.ts';
import { message } from './capabilities/message.ts';
import { resolve } from './capabilities/resolve.ts';
import { search } from './capabilities/search.ts';
import { unignore } from './capabilities/unignore.ts';
import { unresolve } from './capabilities/unresolve.ts';
import { CAPTURE } from './capture/capture-types.ts';
import { errorEvents } from './events.ts';
import { errorsProblems } from './problems.ts';
import { sentryRoutes } from './sentry/routes.ts';
import { createErrorsState, type ErrorsState } from './state.ts';
import { errorsSweeps } from './sweeps.ts';
export const errors = defineModule<ErrorsState>({
  name: 'errors',
  summary: 'Error tracking: events, the groups they make, whom they affect, and search.',
  status: 'ga',
  shownBy: ['errors.capture', 'errors.search'],
  clients: [
    {
      client: 'Sentry SDKs',
      address: 'https://KEY@HOST/v1/errors/sentry/1',
      use: 'errors, by changing one DSN',
      serves: ['errors.capture'],
    },
  ],
  capabilities: [
    capture,
    message,
    list,
    search,
    get,
    groups,
    groupDetail,
    events,
    resolve,
    unresolve,
    ignore,
    unignore,
    assign,
    comment,
  ],
  finders: [finder('error', groups, ({ error_group_id: id, title }) => ({ id, name: title, path: `/errors/${id}` }))],
  alertSources: [errorsSource],
  console: async () => (await import('./console/index.ts')).errorsConsole,
  events: errorEvents,
  problems: errorsProblems,
  prices: { [CAPTURE]: { unit: 'event', nanosPerUnit: 50_000n } },
  rawRoutes: sentryRoutes,
  start: createErrorsState,
  isEmpty: noRowIn('errors.error_group'),
  sweeps: errorsSweeps,
});
