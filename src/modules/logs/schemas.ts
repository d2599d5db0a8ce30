// Response schemas of the logs operations.
import Type from 'typebox';
import { instant, textOrNull } from '../../kit/fields.ts';
import { levels } from './records/levels.ts';

const level = Type.Enum([...levels], { description: 'How grave it is.' });

export const recordSchema = Type.Object({
  timestamp: instant('When it happened.'),
  level,
  service: Type.String({ description: 'Which program wrote it.' }),
  message: Type.String({ description: 'What it says, without secrets.' }),
  attributes: Type.Object({}, { additionalProperties: true, description: 'What it says by name, without secrets.' }),
  resource: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description: 'What all records of its sender share: host, version, labels of the stream.',
      },
    ),
  ),
  is_cut: Type.Optional(
    Type.Boolean({ description: 'True: it was longer than 256 KiB, or had more than 128 attributes.' }),
  ),
  trace_id: textOrNull('The trace that it belongs to: 32 hexadecimal digits.'),
  span_id: textOrNull('The span that it belongs to: 16 hexadecimal digits.'),
});

export const countsSchema = Type.Object(
  Object.fromEntries(
    levels.map((each) => [each, Type.Integer({ minimum: 0, description: `Records of level ${each}.` })]),
  ),
  { description: 'Records by level.' },
);

export function countsOf(counts: readonly number[]) {
  return Object.fromEntries(levels.map((each, i) => [each, counts[i] ?? 0]));
}
