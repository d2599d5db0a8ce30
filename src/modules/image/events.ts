// What webhooks are told of image jobs that are over.
import { cancelSchema, workSchema } from '../../jobs/fields.ts';
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  membersOf,
  otherwise,
  withoutCall,
} from '../../kit/event-kind.ts';
import { jobSchema } from './jobs/schemas.ts';

const job = {
  job_id: 'img_0vTq3mXkfR7bYc1LpZs8Ne',
  state: 'succeeded',
  model: 'sandbox/card-1',
  vendor: 'sandbox',
  store: false,
  cost_usd: 0.001,
  created_at: '2026-11-01T11:59:58.000Z',
  finished_at: '2026-11-01T12:00:00.000Z',
  retention_days: 0,
  error: null,
  end_reason: null,
  warnings: [],
  expires_at: '2026-11-02T12:00:00.000Z',
  webhooks: [],
  metadata: {
    request_id: 'req_0vTq3mXkfR7bYc1LpZs8Ne',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    timestamp: '2026-11-01T11:59:58.000Z',
    latency_ms: 2_000,
    entry_form: 'rest',
    cost_usd: 0.001,
    cost_cny: 0.0072,
    vendor: 'sandbox',
    vendor_region: 'western',
    markup_pct: 0,
    cache_layer: 'none',
    edge_pop: 'local',
    worker_id: 'infra-1-4711',
    idempotent_replay: false,
  },
  prompt: 'A paper boat on a pond.',
  size: '1024x1024',
  n: 1,
  seed: null,
  images: [
    {
      url: 'https://infra.example.org/v1/image/content/img_0vTq3mXkfR7bYc1LpZs8Ne.0.png?exp=1793880000&sig=abc.acct_1',
      content_type: 'image/png',
      width: 1_024,
      height: 1_024,
      size_bytes: 48_231,
    },
  ],
};

const { metadata: _work, ...unworked } = job;
const failure = {
  ...unworked,
  state: 'failed',
  images: [],
  cost_usd: 0,
  error: {
    code: 'VENDOR_ERROR',
    http_status: 502,
    message: 'The vendor could not serve the call.',
    docs_url: 'https://infra.example.org/docs/errors/VENDOR_ERROR',
    retryable: false,
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    request_id: 'req_0vTq3mXkfR7bYc1LpZs8Ne',
  },
  expires_at: null,
};

const path: EventWords['path'] = (of) => `/images/${of.job_id}`;

const words: Readonly<Record<string, EventWords>> = {
  'image.job.completed': { one: (of) => `Image finished: “${of.prompt}”`, ...{ path, tone: 'good' } },
  'image.job.failed': {
    one: ({ state, error, prompt }) =>
      state === 'failed' ? `Image failed: ${(error as EventRecord | null)?.code}` : `Image ${state}: “${prompt}”`,
    ...{ path, tone: 'critical' },
  },
};

export const imageEvents: readonly EventKind[] = withoutCall(
  {
    'image.job.completed': 'A job has made its images.',
    'image.job.failed': 'A job has failed or expired.',
  },
  inWords(words, [
    eventKind('image.job.completed', 'An image job finished.', membersOf(jobSchema, job)),
    eventKind('image.job.failed', 'An image job failed, expired or was cancelled.', {
      ...membersOf(jobSchema, failure),
      cancel: otherwise({ schema: cancelSchema, example: undefined }),
      metadata: otherwise({ schema: workSchema, example: undefined }),
    }),
  ]),
);
