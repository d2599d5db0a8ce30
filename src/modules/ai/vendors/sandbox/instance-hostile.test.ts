// Schemas that are made to take long: none holds the event loop, whatever it asks for.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowedCpuMs } from '../../../../../test/support/slowness.ts';
import { rounds } from '../../../../../test/support/soak.ts';
import { instanceOf, NoInstance } from './instance.ts';

/** Of processor time, on the main thread. */
const HOLD_MS_MAX = 20;
/** A collection of the heap, or code that is not yet compiled, may fall into one. */
const TRIES = 5;
const OFTEN = 60_000;

const list = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n));
const names = (count: number, of: (n: number) => unknown) => Object.fromEntries(list(count, (n) => [`n${n}`, of(n)]));
const often = (items: object) => ({ type: 'array', minItems: OFTEN, items });
/** Definitions of which each is made of the next. */
const chain = (count: number, link: (next: object) => object, end: object = { type: 'null' }) => ({
  $ref: '#/$defs/d0',
  $defs: {
    ...Object.fromEntries(list(count, (n) => [`d${n}`, link({ $ref: `#/$defs/d${n + 1}` })])),
    [`d${count}`]: end,
  },
});
const nested = (count: number, around: (inner: object) => object) =>
  list(count, () => 0).reduce<object>((inner) => around(inner), { type: 'null' });

const wide = names(50_000, () => ({ type: 'string' }));
const long = 'x'.repeat(4_000_000);
const nowhere = { $ref: '#/nope' };
const patterns = {
  letters: 'a'.repeat(1_000),
  sets: '[\\w-\\uffff]'.repeat(80),
  'sets that exclude': `[^${'\\w\\d\\s'.repeat(160)}]`,
  'sets of ranges, repeated': `[${list(300, (n) => String.fromCharCode(256 + 3 * n, 45, 257 + 3 * n)).join('')}]{50}`,
  'every character, repeated': '[\\s\\S]{300}',
  groups: `${'('.repeat(490)}a${')'.repeat(490)}`,
  alternatives: `(${'a|'.repeat(490)}b)`,
  'a long text, repeated': `(${'a'.repeat(985)}){990}`,
  'nothing, repeated': `(?:${'()'.repeat(490)}){900}`,
  'what cannot be read': '['.repeat(1_000),
};

const hostile: Readonly<Record<string, object>> = {
  'allOf that fans out': chain(20, (next) => ({ allOf: [next, { properties: wide }, next] })),
  'allOf of wide schemas, often': often({ allOf: list(50, () => ({ ...wide, type: 'null' })) }),
  'allOf of many, often': often({ type: 'null', allOf: list(50_000, () => ({})) }),
  'a $ref of 8 MB': { $ref: `#/${'a/'.repeat(4_000_000)}` },
  'a long $ref, often': often({ $ref: `#/${'a/'.repeat(500)}` }),
  'many long $refs': { anyOf: list(10_000, (n) => ({ $ref: `#/${n}`.padEnd(1_024, '/a') })) },
  'anyOf without an end': { $ref: '#/$defs/a', $defs: { a: { anyOf: list(50_000, () => ({ $ref: '#/$defs/a' })) } } },
  'anyOf of anyOf, nowhere': chain(20, (next) => ({ anyOf: list(8, () => next) }), nowhere),
  'a constant of 4 MB': { const: long },
  'a wide constant': { const: wide },
  'a constant of many': { enum: [list(500_000, (n) => n)] },
  'a constant, often': often({ const: 'y'.repeat(1_000) }),
  'required of many': { type: 'object', required: list(100_000, (n) => `r${n}`) },
  'required of many, often': often({ type: 'object', properties: wide, required: list(16_000, (n) => `n${n}`) }),
  'a name of 4 MB': { type: 'object', required: [long] },
  'names that are lists': { type: 'object', required: [list(100_000, (n) => [n])] },
  'nulls, often': often({ type: 'null' }),
  'anything, often': often({}),
  'numbers, often': often({ type: 'number', minimum: 1.234_567_890_123_4e-300 }),
  'a minimum that is a list': often({ type: 'number', minimum: list(100_000, (n) => [n]) }),
  'types, often': often({ type: list(100_000, () => 'null') }),
  'formats that are lists, often': often({ type: 'string', format: list(100_000, () => 'date') }),
  'a long text': { type: 'string', minLength: 60_000 },
  'objects of objects': nested(23, (inner) => ({
    type: 'object',
    properties: { a: inner, b: inner },
    required: ['a', 'b'],
  })),
  'lists of lists': nested(23, (inner) => ({ type: 'array', minItems: 3, items: inner })),
  'deep objects': nested(2_000, (inner) => ({ type: 'object', properties: { a: inner }, required: ['a'] })),
  ...Object.fromEntries(
    Object.entries(patterns).flatMap(([name, pattern]) => [
      [`${name}, often`, often({ type: 'string', pattern })],
      [
        `${name}, many`,
        { anyOf: list(2_000, (n) => ({ type: 'string', pattern: `${pattern.slice(0, 900)}${n}(?<` })) },
      ],
    ]),
  ),
};

/** The least of some tries. */
function heldMs(schema: object): number {
  return Math.min(
    ...list(TRIES, () => {
      const before = process.threadCpuUsage();
      try {
        JSON.stringify(instanceOf(schema as never));
      } catch (error) {
        if (!(error instanceof NoInstance)) throw error;
      }
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1_000;
    }),
  );
}

describe('a value is made, or refused, before the event loop is held', () => {
  test.each(Object.keys(hostile))('%s', (name) => {
    expect(heldMs(hostile[name] as object)).toBeLessThan(allowedCpuMs(HOLD_MS_MAX));
  });
});

test('a format that every object inherits is no format', () => {
  expect(instanceOf({ type: 'string', format: 'constructor' })).toBe('sandbox');
});

test('whatever is put together of that', () => {
  const some = fc.constantFrom(...Object.values(hostile));
  const { node } = fc.letrec<{ node: object }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      some,
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((allOf) => ({ allOf })),
      fc.array(tie('node'), { minLength: 1, maxLength: 4 }).map((anyOf) => ({ anyOf: [nowhere, ...anyOf] })),
      tie('node').map((inner) => ({ type: 'object', properties: { a: inner, b: inner }, required: ['a', 'b'] })),
      fc
        .record({ minItems: fc.constantFrom(0, 3, 1_000), items: tie('node') })
        .map((one) => ({ ...one, type: 'array' })),
      tie('node').map((inner) => ({ $ref: '#/$defs/a', $defs: { a: inner } })),
    ),
  }));
  fc.assert(
    fc.property(node, (schema) => {
      expect(heldMs(schema)).toBeLessThan(allowedCpuMs(HOLD_MS_MAX));
    }),
    { numRuns: 20 * rounds(50), endOnFailure: true },
  );
}, 120_000);
