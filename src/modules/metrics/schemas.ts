// Schemas shared by the metrics operations.
import Type from 'typebox';
import { parseInstant } from '../../lib/instant.ts';
import { QUERY_CHARACTERS_MAX } from './limits.ts';

export const queryField = Type.String({
  minLength: 1,
  maxLength: QUERY_CHARACTERS_MAX,
  description: 'PromQL: "sum by (status) (rate(http_requests_total[5m]))".',
});

export const resultSchema = Type.Object({
  result_type: Type.Enum(['scalar', 'string', 'vector', 'matrix'], {
    description: 'vector: a value of each series at one time; matrix: values over time; scalar and string: one.',
  }),
  result: Type.Unsafe<unknown>({
    type: 'array',
    description:
      'As Prometheus answers: of a vector {metric, value: [seconds, "value"]}, of a matrix {metric, values: [[seconds, "value"]]}, else [seconds, "value"].',
  }),
});

export const matchField = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: QUERY_CHARACTERS_MAX,
    description: 'Only series that this selector chooses: up{job="api"}.',
  }),
);
export const fromField = Type.Optional(
  Type.String({
    format: 'date-time',
    description: 'Only series with samples from then on; all that are kept when not sent.',
  }),
);
export const toField = Type.Optional(
  Type.String({ format: 'date-time', description: 'Only series with samples until then; now when not sent.' }),
);
export const listLimitField = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: 'Entries, 1 to 1,000; 100 when not sent.' }),
);
export const isCutField = Type.Boolean({ description: 'Whether there are more than limit.' });

/** An instant that the schema has let pass. */
export const msOf = (instant: string) => parseInstant(instant) as number;
