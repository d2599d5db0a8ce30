// Webhook events of finished runs.
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  member,
  membersOf,
  withoutCall,
} from '../../kit/event-kind.ts';
import { runSchema } from './schemas.ts';

const run = {
  run_id: 'run_0vTq3mXkfR7bYc1LpZs8Ne',
  job_id: 'cron_0vTq3mXkfR7bYc1LpZs8Ne',
  scheduled_at: '2026-11-01T12:00:00.000Z',
  started_at: '2026-11-01T12:00:00.041Z',
  finished_at: '2026-11-01T12:00:00.163Z',
  status: 'succeeded',
  trigger: 'schedule',
  attempt: 1,
  retries_left: 0,
  next_attempt_at: null,
  http_status: 200,
  error_code: null,
  latency_ms: 122,
  response_snippet: 'done',
  cost_usd: 0.00002,
};

const named = { job_name: member.textOrNull('Name of its job; null: it has none, or the job was deleted.', 'nightly') };

const path: EventWords['path'] = (of) => `/schedules/${of.job_id}`;
/** Events that are older than the name have only the ID. */
const nameOf = (of: EventRecord) => of.job_name ?? of.job_id;

const words: Readonly<Record<string, EventWords>> = {
  'cron.executed': {
    one: (of) => `Schedule ${nameOf(of)} ran`,
    many: (of, count) => `Schedule ${nameOf(of)} ran ${count} times`,
    path,
    tone: 'good',
  },
  'cron.failed': {
    one: (of) => `Schedule ${nameOf(of)} failed: ${of.error_code ?? `HTTP ${of.http_status}`}`,
    many: (of, count) => `Schedule ${nameOf(of)} failed ${count} times`,
    path,
    tone: 'critical',
  },
};

export const cronEvents: readonly EventKind[] = withoutCall(
  {
    'cron.executed': 'A scheduled run succeeded.',
    'cron.failed': 'A scheduled run failed.',
  },
  inWords(words, [
    eventKind('cron.executed', 'A scheduled job ran.', { ...membersOf(runSchema, run), ...named }),
    eventKind('cron.failed', 'A run of a scheduled job failed.', {
      ...membersOf(runSchema, { ...run, status: 'failed', http_status: 503, response_snippet: 'try again later' }),
      ...named,
    }),
  ]),
);
