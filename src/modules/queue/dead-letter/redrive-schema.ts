// Schema of a redrive record.
import Type from 'typebox';

const orNull = (type: string, description: string, format?: string) =>
  Type.Unsafe<unknown>({ type: [type, 'null'], ...(format === undefined ? {} : { format }), description });

export const redriveSchema = Type.Object(
  {
    redrive_id: Type.String({ description: 'Id of the redrive, `rdr_…`.' }),
    queue: orNull('string', 'Source queue; null when it was deleted since.'),
    dlq_name: orNull('string', 'Its dead-letter queue at the start; null when there was none or it was deleted since.'),
    state: Type.Enum(['running', 'completed', 'cancelled', 'failed'], {
      description: '`failed` when the queue was deleted meanwhile.',
    }),
    moved: Type.Integer({ description: 'Messages moved so far.' }),
    requested: orNull('integer', 'Messages to be moved at most.'),
    rate_per_second: orNull('integer', 'Messages a second; null for all at once.'),
    created_at: Type.String({ format: 'date-time', description: 'When it was started.' }),
    finished_at: orNull('string', 'When it ended; null while it runs.', 'date-time'),
  },
  { description: 'A redrive.' },
);
