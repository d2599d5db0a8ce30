// Metadata and filters of every kind, drawn so that they often meet.
import fc from 'fast-check';
import type { Condition, Scalar } from '../../src/modules/vector/engine/port.ts';

/** Of which only the beginning is kept. */
export const LONG_TEXT = 'long '.repeat(60);

const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  fc.constantFrom<Scalar>(
    'a',
    'b',
    '1',
    '',
    'ä',
    '\u{1f600}',
    '\uffee',
    LONG_TEXT,
    `${LONG_TEXT}b`,
    1,
    0,
    -0,
    2.5,
    -3,
    1e300,
    true,
    false,
    null,
  ),
  fc.integer({ min: -5, max: 5 }),
);
const stored = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(fc.oneof(scalar, fc.constant({})), { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom({}, { a: 1 }) },
);
const key = fc.constantFrom('k', 'l', 'constructor', '__proto__');
export const metadata = fc.option(
  fc
    .array(fc.tuple(key, stored), { maxLength: 3 })
    .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries)))),
);
const operand = fc.oneof(
  fc.constantFrom('a', 'b', '', 'ä', '\u{1f600}', '\uffee', 1, 0, 2.5, -3),
  fc.integer({ min: -5, max: 5 }),
);
export const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ key, op: fc.constantFrom('eq' as const, 'ne' as const), value: scalar }),
  fc.record({ key, op: fc.constant('in' as const), values: fc.array(scalar, { maxLength: 4 }) }),
  fc.record({ key, op: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const), value: operand }),
  fc.record({ key, op: fc.constant('exists' as const), value: fc.boolean() }),
);
