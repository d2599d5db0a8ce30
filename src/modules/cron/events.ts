// What webhooks are told of runs that are over.
import { type EventKind, eventKind, membersOf, withoutCall } from '../../kit/event-kind.ts';
import { runSchema } from './schemas.ts';

const run = {
  run_id: 'run_0vTq3mXkfR7bYc1LpZs8Ne',
  job_id: 'cron_0vTq3mXkfR7bYc1LpZs8Ne',
  scheduled_at: '2026-11-01T12:00:00.000Z',
  started_at: '2026-11-01T12:00:00.041Z',
  finished_at: '2026-11-01T12:00:00.163Z',
  status: 'succeeded',
  attempt: 1,
  http_status: 200,
  error_code: null,
  latency_ms: 122,
  response_snippet: 'done',
  cost_usd: 0.00002,
};

export const cronEvents: readonly EventKind[] = withoutCall(
  {
    'cron.executed': 'A scheduled run succeeded.',
    'cron.failed': 'A scheduled run failed.',
  },
  [
    eventKind('cron.executed', 'A scheduled job ran.', membersOf(runSchema, run)),
    eventKind(
      'cron.failed',
      'A run of a scheduled job failed.',
      membersOf(runSchema, { ...run, status: 'failed', http_status: 503, response_snippet: 'try again later' }),
    ),
  ],
);
