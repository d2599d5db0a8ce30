// Webhook events of image jobs that have ended.
import { exampleWork, jobEvents } from '../../jobs/events.ts';
import type { EventKind } from '../../kit/event-kind.ts';
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
  metadata: exampleWork({ startedAt: '2026-11-01T11:59:58.000Z', latencyMs: 2_000, costUsd: 0.001, costCny: 0.0072 }),
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

export const imageEvents: readonly EventKind[] = jobEvents({
  name: 'image',
  one: 'An image',
  made: 'its images',
  schema: jobSchema,
  example: job,
  nothing: { images: [] },
  path: (jobId) => `/images/${jobId}`,
});
