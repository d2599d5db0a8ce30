// Fields and records of batches, and the events of their end.
import Type from 'typebox';
import {
  type EventKind,
  type EventRecord,
  type EventWords,
  eventKind,
  inWords,
  membersOf,
  withoutCall,
} from '../../../kit/event-kind.ts';
import { instant, instantOrNull, orNull } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';

export const batchStatuses = ['queued', 'running', 'completed', 'failed', 'cancelled', 'expired'] as const;

export const batchIdField = alsoNamed(
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'Id of the batch, `aib_…`, as create answers it.',
  }),
  'id',
);

const statusWords = 'queued, running, completed, failed, cancelled or expired';

export const statusFilter = Type.Optional(
  Type.Unsafe<(typeof batchStatuses)[number]>({
    type: 'string',
    enum: [...batchStatuses],
    description: `Only batches of this status: ${statusWords}.`,
  }),
);

export const batchSchema = Type.Object({
  batch_id: Type.String({ description: 'Id of the batch.' }),
  status: Type.Unsafe<string>({
    type: 'string',
    enum: [...batchStatuses],
    description: `${statusWords}. completed: at least one request succeeded; failed: none did.`,
  }),
  counts: Type.Object(
    {
      total: Type.Integer({ minimum: 1, description: 'Requests.' }),
      succeeded: Type.Integer({ minimum: 0, description: 'That have an answer.' }),
      failed: Type.Integer({ minimum: 0, description: 'That have none and get none any more.' }),
    },
    { description: 'How far it is.' },
  ),
  cost_usd: Type.Number({ minimum: 0, description: 'What its requests have cost by now, USD.' }),
  created_at: instant('When it was accepted.'),
  finished_at: instantOrNull('When nothing of it was left.'),
  expires_at: instant('What has not begun by then fails.'),
});

export const resultSchema = Type.Object({
  custom_id: Type.String({ description: 'Of the request.' }),
  status: Type.Unsafe<string>({ type: 'string', enum: ['succeeded', 'failed'], description: 'What came of it.' }),
  response: orNull<object>(
    { type: 'object', additionalProperties: true },
    'What the capability answers; null: it failed.',
  ),
  error: Type.Unsafe<object | null>({
    type: ['object', 'null'],
    description: 'Why it failed.',
    properties: {
      code: { type: 'string', description: 'Error code.' },
      message: { type: 'string', description: 'Sentence for people.' },
      retry_after_ms: {
        type: 'integer',
        description: 'Milliseconds to wait before sending the request again; absent when repeating it does not help.',
      },
    },
    required: ['code', 'message'],
  }),
  cost_usd: Type.Number({ minimum: 0, description: 'What it cost, USD; 0 when it failed.' }),
});

const example = (status: string, succeeded: number) => ({
  batch_id: 'aib_0vTq3mXkfR7bYc1LpZs8Ne',
  status,
  counts: { total: 100, succeeded, failed: 100 - succeeded },
  cost_usd: succeeded / 1_000,
  created_at: '2026-11-01T11:00:00.000Z',
  finished_at: '2026-11-01T12:00:00.000Z',
  expires_at: '2026-11-02T11:00:00.000Z',
});

const successWords = ({ counts }: EventRecord) => {
  const { succeeded, total } = counts as EventRecord;
  return `${succeeded} of ${total} requests succeeded`;
};

const words: Readonly<Record<string, EventWords>> = {
  'ai.batch.completed': { one: (of) => `Batch finished: ${successWords(of)}`, path: () => '/ai', tone: 'good' },
  'ai.batch.failed': { one: (of) => `Batch ${of.status}: ${successWords(of)}`, path: () => '/ai', tone: 'critical' },
};

export const batchEvents: readonly EventKind[] = withoutCall(
  {
    'ai.batch.completed': 'The last request of a batch is over, and at least one has succeeded.',
    'ai.batch.failed': 'No request of a batch has succeeded, or it was cancelled or has expired.',
  },
  inWords(words, [
    eventKind('ai.batch.completed', 'A batch of AI calls finished.', membersOf(batchSchema, example('completed', 98))),
    eventKind('ai.batch.failed', 'A batch of AI calls failed.', membersOf(batchSchema, example('failed', 0))),
  ]),
);
