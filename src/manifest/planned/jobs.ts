// Events of image, video and AI jobs and of the service itself, which nothing tells yet.
import {
  type EventKind,
  eventKind,
  instant,
  instantOrNull,
  number,
  record,
  text,
  textOrNull,
  whole,
} from '../event-kind.ts';

const job = (id: string, state: string, model: string) => ({
  job_id: text('Id of the job.', id),
  state: text('Final state of the job.', state),
  model: text('Model that worked.', model),
  vendor: text('Vendor that worked.', 'self'),
  cost_usd: number('What it cost, USD.', state === 'succeeded' ? 0.005 : 0),
  created_at: instant('When it was accepted.', '2026-11-01T11:58:00.000Z'),
  finished_at: instantOrNull('When it ended.', '2026-11-01T12:00:00.000Z'),
});
const error = {
  error: record('Why.', {
    code: text('Error code.', 'VENDOR_ERROR'),
    message: text('Sentence for people.', 'The vendor could not serve the call.'),
  }),
};
const image = (state: string) => job('img_0vTq3mXkfR7bYc1LpZs8Ne', state, 'card-1');
const link = (description: string, end: string) => textOrNull(description, `https://infra.example.org/v1/${end}`);
const batch = (status: string, succeeded: number) => ({
  batch_id: text('Id of the batch.', 'aib_0vTq3mXkfR7bYc1LpZs8Ne'),
  status: text('Final status of the batch.', status),
  counts: record('Its items.', {
    total: whole('All.', 100),
    succeeded: whole('Those that succeeded.', succeeded),
    failed: whole('Those that failed.', 100 - succeeded),
  }),
  cost_usd: number('What it cost, USD.', succeeded / 1_000),
  created_at: instant('When it was accepted.', '2026-11-01T11:00:00.000Z'),
  finished_at: instantOrNull('When it ended.', '2026-11-01T12:00:00.000Z'),
});

export const plannedJobEvents: readonly EventKind[] = [
  eventKind('image.job.completed', 'An image job finished.', {
    ...image('succeeded'),
    image_url: link('Where the image can be fetched for 24 hours.', 'image/content/img_0vTq3mXkfR7bYc1LpZs8Ne.png'),
  }),
  eventKind('image.job.failed', 'An image job failed.', { ...image('failed'), ...error }),
  eventKind('ai.batch.completed', 'A batch of AI calls finished.', batch('completed', 98)),
  eventKind('ai.batch.failed', 'A batch of AI calls failed.', batch('failed', 0)),
  eventKind('system.maintenance.scheduled', 'Maintenance of the service is planned.', {
    starts_at: instant('When it begins.', '2026-11-08T02:00:00.000Z'),
    ends_at: instant('When it should be over.', '2026-11-08T02:15:00.000Z'),
    summary: text('What is done.', 'The database moves to another machine.'),
  }),
];
