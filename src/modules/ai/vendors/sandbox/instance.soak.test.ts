// Values of schemas: valid under every schema of the strict subset, and refused at once where a schema asks for a value without an end.
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rounds } from '../../../../../test/support/soak.ts';
import { threadMsOf } from '../../../../../test/support/thread-time.ts';
import { instanceOf, NoInstance } from './instance.ts';

const SCHEMAS_PER_ROUND = 500;
const name = fc.stringMatching(/^[a-z_]{1,8}$/);

/** What structured outputs take: every property is required, nothing further is allowed. */
const { node: anySchema } = fc.letrec<{ node: Record<string, unknown> }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom({ type: 'boolean' }, { type: 'null' }, { type: 'string' }, { type: ['string', 'null'] }),
    fc
      .constantFrom('date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid')
      .map((format) => ({ type: 'string', format })),
    fc
      .constantFrom('^[a-z]{2,5}$', '^(yes|no)$', '^\\d{4}-[A-F]+x?$', '^@\\w+$')
      .map((pattern) => ({ type: 'string', pattern })),
    fc.record({ type: fc.constantFrom('number', 'integer'), minimum: fc.integer({ min: -99, max: 99 }) }),
    fc.record({
      type: fc.constant('integer'),
      exclusiveMaximum: fc.integer({ min: -99, max: 99 }),
      multipleOf: fc.integer({ min: 1, max: 7 }),
    }),
    fc.integer({ min: -99, max: 99 }).map((low) => ({ type: 'number', exclusiveMinimum: low, maximum: low + 1 })),
    fc
      .uniqueArray(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 4 })
      .map((values) => ({ enum: values })),
    fc.oneof(fc.string(), fc.integer(), fc.boolean()).map((value) => ({ const: value })),
    fc.dictionary(name, tie('node'), { maxKeys: 4 }).map((properties) => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    })),
    fc.record({ type: fc.constant('array'), items: tie('node'), minItems: fc.nat(3) }),
    fc.array(tie('node'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    // A list that goes on in itself.
    fc.tuple(name, tie('node')).map(([head, value]) => ({
      type: 'object',
      required: [head, 'next_one'],
      additionalProperties: false,
      properties: { [head]: value, next_one: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
    })),
  ),
}));

test('every schema of the strict subset has a value that is valid, the same every time', () => {
  const ajv = addFormats.default(new Ajv({ strict: false, validateSchema: false }));
  fc.assert(
    fc.property(anySchema, (schema) => {
      const value = instanceOf(schema);
      const isValid = ajv.validate(schema, value);
      ajv.removeSchema(schema);
      expect(isValid, `${JSON.stringify(schema)} ${JSON.stringify(value)} ${ajv.errorsText()}`).toBe(true);
      expect(instanceOf(schema)).toEqual(value);
    }),
    { numRuns: SCHEMAS_PER_ROUND * rounds(20) },
  );
}, 120_000);

const layers = (count: number, layer: (next: object) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`d${i}`, layer({ $ref: `#/$defs/d${i + 1}` })]));
const twice = (next: object) => ({ type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] });

describe('a schema that asks for too much is refused before it costs anything', () => {
  test.each([
    ['items without number', { type: 'array', items: { type: 'null' }, minItems: 1e12 }],
    ['a text without end', { type: 'string', minLength: 1e12 }],
    ['no number at all', { type: 'array', items: { type: 'null' }, minItems: 1e308 * 10 }],
    [
      'doubling objects',
      { ...layers(22, twice), $ref: '#/$defs/d0', $defs: { ...layers(22, twice), d22: { type: 'null' } } },
    ],
    [
      'branches without an end',
      { $ref: '#/$defs/a', $defs: { a: { anyOf: Array.from({ length: 50 }, () => ({ $ref: '#/$defs/a' })) } } },
    ],
    ['a long constant, often', { type: 'array', minItems: 1_000, items: { const: 'x'.repeat(10_000) } }],
    [
      'a long name, often',
      { type: 'array', minItems: 1_000, items: { type: 'object', required: ['x'.repeat(10_000)] } },
    ],
    ['a pattern that repeats repeats', { type: 'string', pattern: '(((a{900}){900}){900}){900}' }],
    ['a pattern that repeats', { type: 'string', pattern: 'a{1000000000}' }],
    [
      'a pattern that doubles itself',
      { type: 'string', pattern: `(aa)${Array.from({ length: 60 }, (_, i) => `(\\${i + 1}\\${i + 1})`).join('')}` },
    ],
    ['a long pattern', { type: 'string', pattern: 'a'.repeat(1_001) }],
    ['itself, always', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['what is not there', { $ref: '#/$defs/%zz' }],
    ['an empty enum', { enum: [] }],
  ])('%s', (_, schema) => {
    const refuse = () => expect(() => instanceOf(schema as never)).toThrow(NoInstance);
    expect(threadMsOf(refuse)).toBeLessThan(1_000);
  });

  test('names that every object inherits are names like others', () => {
    expect(instanceOf({ type: 'object', required: ['constructor'] })).toEqual({ constructor: 'sandbox' });
  });
});
