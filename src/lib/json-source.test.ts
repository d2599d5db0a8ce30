import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  elementStarts,
  indentJson,
  memberSources,
  memberStart,
  membersWithout,
  nesting,
  nestingDepth,
} from './json-source.ts';

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

test('memberStart finds the first of a name, escaped or not, in whatever spacing, and null where there is none', () => {
  const text = ' { "x" : {"a":0}, "\\u0061": 1, "a":2 } ';
  expect(text[memberStart(text, 'a') ?? 0]).toBe('1');
  expect(memberStart(text, 'b')).toBeNull();
  expect(memberStart('{}', 'a')).toBeNull();
  expect(text[memberStart(text, 'a', memberStart(text, 'x') ?? 0) ?? 0]).toBe('0');
});

test('elementStarts finds every element of an array', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.boolean(), (list, wide) => {
      const text = wide ? spaced(list) : JSON.stringify(list);
      expect(elementStarts(text, 0)).toHaveLength(list.length);
    }),
  );
});

describe('indented', () => {
  test('is what JSON.stringify would write, of whatever spacing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, wide) => {
        const text = wide ? spaced(value) : JSON.stringify(value);
        // JSON.stringify knows no value that JSON.parse has not read: such as -0.
        expect(indentJson(text, Number.POSITIVE_INFINITY)).toBe(
          JSON.stringify(JSON.parse(JSON.stringify(value)), null, 2),
        );
      }),
    );
  });

  test('digits, escapes, repeated names and their order stay as they were sent', () => {
    const text = '{"b":1.0,"2":12345678901234567890,"1":"\\u0041{,}","b":[ ],"c":{\n}}';
    expect(indentJson(text, 1_000)).toBe(
      '{\n  "b": 1.0,\n  "2": 12345678901234567890,\n  "1": "\\u0041{,}",\n  "b": [],\n  "c": {}\n}',
    );
  });

  test('what would be longer than it may be stays as it came, however deep', () => {
    expect(['[1]', '[1,2]'].map((text) => indentJson(text, 7))).toEqual(['[\n  1\n]', '[1,2]']);
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(indentJson(deep, 65_536)).toBe(deep);
  });
});

test.each([
  ['1', 0],
  ['{}', 1],
  ['[{"a":[]}]', 3],
  ['{"a":"[[[[","b":{}}', 2],
])('the depth of %s is %d', (text, depth) => {
  expect(nestingDepth(text)).toBe(depth);
});

/** Members of all objects within a value, but for those within what bears a name of `left`. */
function count(value: unknown, left: ReadonlySet<string>): number {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + count(item, left), 0);
  return Object.entries(value).reduce((sum, [name, item]) => sum + 1 + (left.has(name) ? 0 : count(item, left)), 0);
}

describe('members', () => {
  const name = fc.constantFrom('a', 'b', 'payload', 'x:y', '{', '"', '\\');
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(name, tie('tree'), { maxKeys: 5, noNullPrototype: true }),
    ),
  }));

  test('are counted in all objects, with and without what is left', () => {
    fc.assert(
      fc.property(tree, fc.boolean(), (value, wide) => {
        const text = wide ? spaced(value) : JSON.stringify(value);
        expect(nesting(text).members).toBe(count(value, new Set()));
        expect(membersWithout(text, new Set(['payload', 'b']))).toBe(count(value, new Set(['payload', 'b'])));
      }),
    );
  });

  test('of any text are counted in one walk that ends', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[{}[\]":,\\pa1 ]{0,60}$/), (text) => {
        expect(membersWithout(text, new Set(['p']))).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
