// Records of logs.ingest: their schema, and their way into the intake.
import Type, { type Static } from 'typebox';
import { orNull } from '../../../kit/fields.ts';
import { alsoNamed } from '../../../kit/second-names.ts';
import { parseInstant } from '../../../lib/instant.ts';
import type { OtlpValue } from '../../../lib/otlp/values.ts';
import {
  ATTRIBUTES_MAX,
  NAME_CHARACTERS_MAX,
  RECORDS_MAX,
  SERVICE_CHARACTERS_MAX,
  UNKNOWN_SERVICE,
} from '../limits.ts';
import { INFO, levels } from '../records/levels.ts';
import { Intake, type ReadyLogs } from './intake.ts';

const sentRecordSchema = Type.Object({
  timestamp: Type.Optional(
    Type.String({ format: 'date-time', maxLength: 40, description: 'When it happened. Absent: now.' }),
  ),
  level: Type.Optional(Type.Enum([...levels], { description: 'How grave it is; info when absent.' })),
  service: Type.Optional(
    Type.String({ minLength: 1, maxLength: SERVICE_CHARACTERS_MAX, description: 'Which program writes it.' }),
  ),
  message: Type.String({ description: 'What it says. Longer records than 256 KiB are cut.' }),
  attributes: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        maxProperties: ATTRIBUTES_MAX,
        propertyNames: { maxLength: NAME_CHARACTERS_MAX },
        description: `What it says by name, any JSON values: at most ${ATTRIBUTES_MAX}.`,
      },
    ),
  ),
  trace_id: Type.Optional(
    orNull<string>(
      { type: 'string', pattern: '^[0-9A-Fa-f]{32}$' },
      'The trace that it belongs to: 32 hexadecimal digits.',
    ),
  ),
  span_id: Type.Optional(
    orNull<string>(
      { type: 'string', pattern: '^[0-9A-Fa-f]{16}$' },
      'The span that it belongs to: 16 hexadecimal digits.',
    ),
  ),
});

export const recordsSchema = Type.Object({
  items: alsoNamed(
    Type.Array(sentRecordSchema, {
      minItems: 1,
      maxItems: RECORDS_MAX,
      description: `1 to ${RECORDS_MAX} records, in any order of time.`,
    }),
    'records',
  ),
});

export type SentRecords = Static<typeof recordsSchema>;

export function readyRecords({ items }: SentRecords, nowMs: number): ReadyLogs {
  const intake = new Intake(nowMs, RECORDS_MAX);
  for (const { timestamp, level, service, message, attributes, trace_id, span_id } of items) {
    for (const [name, value] of Object.entries(attributes ?? {})) intake.attribute(name, value as OtlpValue);
    intake.add(
      timestamp === undefined ? nowMs : (parseInstant(timestamp) ?? Number.NaN),
      level === undefined ? INFO : levels.indexOf(level),
      service ?? UNKNOWN_SERVICE,
      message,
      { traceId: trace_id?.toLowerCase() ?? null, spanId: span_id?.toLowerCase() ?? null },
    );
  }
  return intake.ready();
}
