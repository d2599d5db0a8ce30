import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

describe('canonicalJson', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    [' { "a" : [ 1 , 2 ] , "b" : null } ', '{"a":[1,2],"b":null}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"b":1,"a":1,"b":2}', '{"a":1,"b":2}'],
    ['{"a":1.0,"b":1e2,"c":-0.5,"d":0}', '{"a":1,"b":100,"c":-0.5,"d":0}'],
    ['{"\\u0061":"\\u0062"}', '{"a":"b"}'],
    ['[]', '[]'],
    ['{}', '{}'],
    ['"x"', '"x"'],
    ['true', 'true'],
  ])('%s becomes %s', (text, canonical) => expect(canonicalJson(text)).toBe(canonical));

  it('tells numbers apart that a double does not', () => {
    expect(canonicalJson('12345678901234567890')).not.toBe(canonicalJson('12345678901234567891'));
    expect(canonicalJson('0.1234567890123456789')).not.toBe(canonicalJson('0.1234567890123456788'));
  });

  it('tells numbers apart that overflow or vanish in a double', () => {
    expect(canonicalJson('1e400')).not.toBe(canonicalJson('2e400'));
    expect(canonicalJson('1e-400')).not.toBe(canonicalJson('0'));
    expect(canonicalJson('0.00')).toBe('0');
  });

  it('leaves out members of the root only', () => {
    expect(canonicalJson('{"k":1,"a":{"k":2}}', new Set(['k']))).toBe('{"a":{"k":2}}');
    expect(canonicalJson('{"\\u006b":1,"a":3}', new Set(['k']))).toBe('{"a":3}');
  });

  it('is the same for every spelling of a value, and parses to that value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const canonical = canonicalJson(JSON.stringify(value));
        expect(canonicalJson(JSON.stringify(reversed(value), null, indent))).toBe(canonical);
        expect(JSON.parse(canonical)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

/** The same value with the members of every object the other way round. */
function reversed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  const entries = Object.entries(value).map(([name, child]): [string, unknown] => [name, reversed(child)]);
  const target: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, child] of entries.reverse()) target[name] = child;
  return target;
}
