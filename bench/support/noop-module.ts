// The yardstick: a POST that goes the whole way of a call (authenticate, authorize, validate, envelope) and does nothing.
import Type from 'typebox';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';

const noop = defineCapability()({
  method: 'POST',
  path: '/v1/bench/noop',
  summary: 'Does nothing.',
  description: 'Goes through every step of a call and answers an empty object.',
  input: Type.Object({
    queue: Type.Optional(Type.String({ description: 'Ignored.' })),
    payload: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'Ignored.' })),
  }),
  output: Type.Object({}),
  unlimited: true,
  bodyBytesMax: 16 * 1024,
  opaque: ['payload'],
  examples: [{ title: 'Nothing', input: {} }],
  async run() {
    return { data: {} };
  },
});

/** The same with a body as long as an event's: only what has a rate may take one, and the benchmarks switch rates off. */
const noopLong: typeof noop = {
  ...noop,
  id: 'bench.noop_long',
  path: '/v1/bench/noop_long',
  unlimited: false,
  bodyBytesMax: 512 * 1024,
};

export const benchModule = defineModule({
  name: 'bench',
  summary: 'Yardstick of the benchmarks.',
  status: 'beta',
  capabilities: [noop, noopLong],
});
