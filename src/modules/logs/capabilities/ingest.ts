import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { storeLogs } from '../ingest/ingest.ts';
import type { ReadyLogs } from '../ingest/intake.ts';
import { readyRecords, recordsSchema, type SentRecords } from '../ingest/native-record.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import type { LogsState } from '../state.ts';

export const ingest = defineCapability<LogsState>()({
  method: 'POST',
  path: '/v1/logs/ingest',
  summary: 'Stores log records.',
  description:
    'Stores 1 to 1,000 records. Only message is required. A record that is older than 30 days, or more than 10 minutes ahead, is named in rejected; the others ' +
    'are stored. Passwords, tokens, card numbers and the like are removed before anything is stored. Programs with OpenTelemetry need no call: set ' +
    'OTEL_EXPORTER_OTLP_ENDPOINT to the base URL and OTEL_EXPORTER_OTLP_HEADERS to Authorization=Bearer KEY. Loggers for Loki push to {base_url}/v1/logs.',
  keywords: [
    'send logs',
    'write log lines',
    'log collector',
    'opentelemetry logs',
    'loki push',
    'ship logs',
    'structured logging',
  ],
  input: recordsSchema,
  output: Type.Object({
    accepted: Type.Integer({ description: 'Records that are stored.' }),
    rejected: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Place of the record in the call, from 0.' }),
        reason: Type.String({ description: 'Why it is not stored.' }),
      }),
      { description: 'Records that are not stored, each with its reason.' },
    ),
  }),
  price: 'logs.ingest',
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (sent: SentRecords) => ({ value: readyRecords(sent, Date.now()), transfer: [] }),
  },
  opaque: ['attributes'],
  events: ['wallet.low_balance'],
  limits: {
    size: '8 MiB a call; 256 KiB a record: what is longer is cut, and says is_cut.',
    attributes: '128 a record, names of up to 256 characters.',
    time: 'At most 30 days old and 10 minutes ahead.',
    retention: '14 days, or as logs.settings.set says (1 to 90).',
  },
  examples: [
    {
      title: 'A record',
      input: {
        items: [
          {
            level: 'error',
            service: 'checkout',
            message: 'Payment provider timed out',
            attributes: { provider: 'acme', attempt: 3 },
            trace_id: '5b8efff798038103d269b633813fc60c',
          },
        ],
      },
      expect: { accepted: 1, rejected: [] },
    },
    {
      title: 'One of two records is too old',
      input: { items: [{ message: 'now' }, { message: 'long ago', timestamp: '2020-01-01T00:00:00Z' }] },
      expect: { accepted: 1 },
    },
  ],
  async run({ ctx, input, state }) {
    await state.unpaid.check(ctx);
    // What `bulk` made of the input.
    return storeLogs(ctx, state, input as unknown as ReadyLogs);
  },
});
