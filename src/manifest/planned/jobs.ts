// Events of image jobs and of the service itself, which nothing tells yet.
import { type EventKind, eventKind, instant, instantOrNull, number, record, text, textOrNull } from '../event-kind.ts';

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
export const plannedJobEvents: readonly EventKind[] = [
  eventKind('image.job.completed', 'An image job finished.', {
    ...image('succeeded'),
    image_url: link('Where the image can be fetched for 24 hours.', 'image/content/img_0vTq3mXkfR7bYc1LpZs8Ne.png'),
  }),
  eventKind('image.job.failed', 'An image job failed.', { ...image('failed'), ...error }),
  eventKind('system.maintenance.scheduled', 'Maintenance of the service is planned.', {
    starts_at: instant('When it begins.', '2026-11-08T02:00:00.000Z'),
    ends_at: instant('When it should be over.', '2026-11-08T02:15:00.000Z'),
    summary: text('What is done.', 'The database moves to another machine.'),
  }),
];
