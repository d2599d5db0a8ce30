import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NumberSource } from './lenient.ts';

const digits = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String);
const name = fc.oneof(fc.constantFrom('tags', 'user_id', 'a"b', '{', 'é'), fc.string({ maxLength: 5 }));
const members = fc.dictionary(name, digits, { noNullPrototype: true, maxKeys: 6 });

test('whole numbers keep all their digits, wherever they stand and however the JSON is written', () => {
  fc.assert(
    fc.property(members, members, fc.constantFrom('', ' ', '\n\t'), (root, tags, space) => {
      const write = (object: Record<string, string>, more = '') =>
        `{${space}${[...Object.entries(object).map(([key, value]) => `${JSON.stringify(key)}${space}:${space}${value}`), ...(more === '' ? [] : [more])].join(`${space},`)}${space}}`;
      const { tags: _, ...others } = root;
      const source = write(others, `"tags":${space}${write(tags)}`);
      const numbers = new NumberSource(source);
      const value = JSON.parse(source) as Record<string, number> & { tags: Record<string, number> };
      for (const [key, text] of Object.entries(others)) expect(numbers.text(value[key] as number, key)).toBe(text);
      for (const [key, text] of Object.entries(tags)) {
        expect(numbers.text(value.tags[key] as number, key, 'tags')).toBe(text);
      }
    }),
  );
});

test('other scalars are written as JavaScript does', () => {
  const numbers = new NumberSource('{}');
  const scalars = [0.1, -0, 1e-7, true, 'text'];
  expect(scalars.map((value) => numbers.text(value, 'any'))).toEqual(['0.1', '0', '1e-7', 'true', 'text']);
});
