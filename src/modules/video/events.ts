// What webhooks are told of jobs that are over.

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
import { jobSchema } from './schemas.ts';

const job = {
  job_id: 'vid_0vTq3mXkfR7bYc1LpZs8Ne',
  operation: 'generate',
  state: 'succeeded',
  model: 'sandbox/storyboard-1',
  vendor: 'sandbox',
  prompt: 'A paper boat on a pond.',
  duration_seconds: 5,
  aspect_ratio: '16:9',
  resolution: '720p',
  seed: null,
  store: false,
  video_url: 'https://infra.example.org/v1/video/content/vid_0vTq3mXkfR7bYc1LpZs8Ne.mp4?exp=1793880000&sig=abc.acct_1',
  thumbnail_url:
    'https://infra.example.org/v1/video/content/vid_0vTq3mXkfR7bYc1LpZs8Ne.jpg?exp=1793880000&sig=abc.acct_1',
  cost_usd: 0.005,
  created_at: '2026-11-01T11:58:00.000Z',
  finished_at: '2026-11-01T12:00:00.000Z',
  retention_days: 0,
  parent_job_id: null,
  error: null,
  end_reason: null,
  extend_mode: null,
  warnings: [],
  width: 1_280,
  height: 720,
  size_bytes: 235_855,
  expires_at: '2026-11-02T12:00:00.000Z',
  webhooks: [],
  metadata: {
    request_id: 'req_0vTq3mXkfR7bYc1LpZs8Ne',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    timestamp: '2026-11-01T11:58:00.000Z',
    latency_ms: 120_000,
    entry_form: 'rest',
    cost_usd: 0.005,
    cost_cny: 0.036,
    vendor: 'sandbox',
    vendor_region: 'western',
    markup_pct: 0,
    cache_layer: 'none',
    edge_pop: 'local',
    worker_id: 'infra-1-4711',
    idempotent_replay: false,
  },
};

const { metadata: _work, ...unworked } = job;
const failure = {
  ...unworked,
  state: 'failed',
  video_url: null,
  thumbnail_url: null,
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
  width: null,
  height: null,
  size_bytes: null,
  expires_at: null,
};

const path: EventWords['path'] = (of) => `/video/${of.job_id}`;

const words: Readonly<Record<string, EventWords>> = {
  'video.job.completed': { one: (of) => `Video finished: “${of.prompt}”`, ...{ path, tone: 'good' } },
  'video.job.failed': {
    one: ({ state, error, prompt }) =>
      state === 'failed' ? `Video failed: ${(error as EventRecord | null)?.code}` : `Video ${state}: “${prompt}”`,
    ...{ path, tone: 'critical' },
  },
};

export const videoEvents: readonly EventKind[] = withoutCall(
  {
    'video.job.completed': 'A job has made its video.',
    'video.job.failed': 'A job has failed or expired.',
  },
  inWords(words, [
    eventKind('video.job.completed', 'A video job finished.', membersOf(jobSchema, job)),
    eventKind('video.job.failed', 'A video job failed, expired or was cancelled.', {
      ...membersOf(jobSchema, failure),
      cancel: otherwise({ schema: cancelSchema, example: undefined }),
      metadata: otherwise({ schema: workSchema, example: undefined }),
    }),
  ]),
);
