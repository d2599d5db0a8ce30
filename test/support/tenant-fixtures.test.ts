// What a tenant fixture may leave to the names of fields, and what it must say.
import Type from 'typebox';
import { expect, test } from 'vitest';
import type { Capability } from '../../src/kit/capability.ts';
import { wholeFixture } from './tenant-fixtures.ts';

const nobody = { job: 'nobody' };
const text = Type.String();
const capabilityOf = (properties: Parameters<typeof Type.Object>[0], example: object = {}) =>
  ({
    id: 'x.y',
    input: Type.Object(properties),
    examples: [{ title: 'One', input: example }],
  }) as unknown as Capability;
const wholeOf = (capability: Capability) => {
  const { aims, lists } = wholeFixture({ nobody } as never, [capability]);
  return [aims['x.y']?.map((aim) => aim({ job: 'a' })) ?? null, lists['x.y']?.({ job: 'a' }) ?? null];
};

test.each([
  ['a field that is called as a kind', { job: text }, {}, [[{ job: 'a' }], null]],
  ['with what else is required', { job: text, n: Type.Integer() }, { n: 7 }, [[{ job: 'a', n: 7 }], null]],
  ['a list of what one has', { job: text, cursor: Type.Optional(text) }, {}, [[{ job: 'a' }], { job: 'a' }]],
  ['a list of all', { cursor: Type.Optional(text), limit: Type.Optional(Type.Integer()) }, {}, [[], {}]],
  ['numbers and words of a list', { n: Type.Integer(), to: Type.Enum(['a', 'b']) }, {}, [[], null]],
  ['a text under another name', { id: text }, {}, [null, null]],
  ['an object', { of: Type.Object({}) }, {}, [null, null]],
  ['a list of what another text names', { id: text, cursor: Type.Optional(text) }, {}, [null, null]],
  ['what its example takes from an answer', { job: text, id: text }, { id: '$0.id' }, [null, null]],
])('%s', (_, properties, example, expected) => {
  expect(wholeOf(capabilityOf(properties, example))).toEqual(expected);
});
