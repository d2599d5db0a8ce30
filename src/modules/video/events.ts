// Webhook events of finished video jobs.

import { exampleWork, jobEvents } from '../../jobs/events.ts';
import type { EventKind } from '../../kit/event-kind.ts';
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
  metadata: exampleWork({ startedAt: '2026-11-01T11:58:00.000Z', latencyMs: 120_000, costUsd: 0.005, costCny: 0.036 }),
};

export const videoEvents: readonly EventKind[] = jobEvents({
  name: 'video',
  one: 'A video',
  made: 'its video',
  schema: jobSchema,
  example: job,
  nothing: { video_url: null, thumbnail_url: null, width: null, height: null, size_bytes: null },
  path: (jobId) => `/video/${jobId}`,
});
