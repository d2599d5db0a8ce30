import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { elementStarts, memberSources, nestingDepth } from './json-source.ts';

const spaced = (value: unknown) => JSON.stringify(value, null, '\t ');

describe('memberSources', () => {
  test('cuts out every member exactly as it is written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.boolean(), (object, wide) => {
        const text = wide ? spaced(object) : JSON.stringify(object);
        const sources = memberSources(text);
        expect([...sources.keys()].sort()).toEqual(Object.keys(JSON.parse(text)).sort());
        for (const [name, { start, end }] of sources)
          expect(JSON.parse(text.slice(start, end))).toEqual(JSON.parse(text)[name]);
      }),
    );
  });

  test('the last of a repeated name counts, escaped or not', () => {
    const text = '{"a":1,"\\u0061": 2.50 }';
    const { start, end } = memberSources(text).get('a') as { start: number; end: number };
    expect(text.slice(start, end)).toBe('2.50');
  });

  test('brackets and quotes in strings end nothing', () => {
    const text = '{"a":{"s":"}]\\"{"},"b":[ "]" ]}';
    const cut = [...memberSources(text).values()].map(({ start, end }) => text.slice(start, end));
    expect(cut).toEqual(['{"s":"}]\\"{"}', '[ "]" ]']);
  });
});

test('elementStarts finds every element of an array', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.boolean(), (list, wide) => {
      const text = wide ? spaced(list) : JSON.stringify(list);
      expect(elementStarts(text, 0)).toHaveLength(list.length);
    }),
  );
});

test.each([
  ['1', 0],
  ['{}', 1],
  ['[{"a":[]}]', 3],
  ['{"a":"[[[[","b":{}}', 2],
])('the depth of %s is %d', (text, depth) => {
  expect(nestingDepth(text)).toBe(depth);
});
