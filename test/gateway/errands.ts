// A module that calls others: each errand is charged for itself and has messages published for it.
import { Type } from 'typebox';
import { chargeInLane } from '../../src/core/wallet/charge/charge.ts';
import type { LaneEffect } from '../../src/core/wallet/lane/lane-item.ts';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import { JsonText } from '../../src/lib/json-text.ts';
import { problem } from '../../src/problems/problem.ts';

/** Its answer is its input; it writes nothing. */
export const echoEffect: LaneEffect<string, null> = {
  name: 'errand',
  exclusiveKeys: () => [],
  read: async (_tx, items) => items.map(() => ({ kind: 'go', context: null })),
  write: (_tx, items) => items.map(({ item }) => item.input),
};

interface ErrandState {
  /** Fails after its calls, so often. */
  failures: number;
}

const common = { scope: 'write', events: [], errors: ['QUEUE_NOT_FOUND'] } as const;

const run = defineCapability<ErrandState>()({
  ...common,
  method: 'POST',
  path: '/v1/errand/run/{queue}',
  summary: 'Runs an errand.',
  description: 'Charges for the errand and publishes what it is about.',
  input: Type.Object({
    queue: Type.String({ description: 'Where to.' }),
    about: Type.Unsafe<unknown>({ description: 'Published as it is.' }),
  }),
  output: Type.Object({ message_id: Type.String() }),
  price: 'vector.query',
  opaque: ['about'],
  examples: [],
  async run({ ctx, input, state }) {
    const payload = new JsonText(/"about":\s*(\{.*?\})\s*[,}]/s.exec(ctx.inputText)?.[1] ?? '{}');
    const { data } = await ctx.invoke('queue.publish', { queue: input.queue, payload });
    if (state.failures > 0) {
      state.failures -= 1;
      throw problem('SERVICE_UNAVAILABLE');
    }
    const { message_id } = JSON.parse((data as JsonText).text);
    return chargeInLane(ctx, {
      units: 1n,
      effect: echoEffect,
      sequences: 0,
      bytes: 100,
      rows: 0,
      input: JSON.stringify({ message_id }),
    });
  },
});

const without = defineCapability<ErrandState>()({
  ...common,
  method: 'POST',
  path: '/v1/errand/without_end',
  summary: 'Runs itself.',
  description: 'Calls itself, without end.',
  input: Type.Object({}),
  output: Type.Object({}),
  examples: [],
  run: ({ ctx }) => ctx.invoke('errand.without_end', {}),
});

export function errandModule(state: ErrandState = { failures: 0 }) {
  return defineModule<ErrandState>({
    name: 'errand',
    summary: 'Calls other modules.',
    status: 'beta',
    capabilities: [run, without],
    start: () => state,
  });
}
