// Calls of queue capabilities in this process, without HTTP: thousands a second, on a clock that moves only when told.

import type { ApiKey } from '../../src/core/keys/api-key.ts';
import type { Capability } from '../../src/kit/capability.ts';
import type { CallContext, Services } from '../../src/kit/services.ts';
import { JsonText } from '../../src/lib/json-text.ts';
import { createQueueState } from '../../src/modules/queue/start.ts';
import type { QueueState } from '../../src/modules/queue/state.ts';
import { byId } from '../support/capabilities.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape
export type QueueCall = (operation: string, input: Record<string, unknown>) => Promise<any>;

/** `call('publish', {...})` answers `data`. The input must be valid: nothing checks it here. */
export async function inProcess(core: Services, secret: string, state = createQueueState(core)): Promise<QueueCall> {
  const key = (await core.keys.find(secret)) as ApiKey;
  return async (operation, input) => {
    const capability = byId(`queue.${operation}`) as Capability<never, QueueState>;
    const text = JSON.stringify(input);
    const reduced = capability.bulk?.reduce(input as never, { text, idempotencyKey: null }).value;
    const ctx: CallContext = {
      core,
      capability: capability.id,
      scope: capability.scope,
      priceEntry: capability.price === 'free' ? null : capability.price,
      requestId: 'req_test',
      traceId: '',
      entryForm: 'rest',
      accountId: key.accountId,
      tier: key.tier,
      principal: key,
      approval: null,
      idempotency: null,
      inputText: text,
      warnings: [],
      weigh: () => undefined,
      chargedThoughFailed: () => undefined,
      sentHeaders: {},
      holdAnswer: () => undefined,
      holdMade: () => undefined,
      requireAnswerRoom: () => undefined,
      signal: new AbortController().signal,
      idle: () => undefined,
      invoke: () => Promise.reject(new Error('nothing else is there to be called')),
      perform: () => Promise.reject(new Error('nothing else is there to be called')),
      askFirst: () => Promise.reject(new Error('nobody is there to be asked')),
    };
    const { data } = await capability.run({ ctx, input: (reduced ?? input) as never, state });
    return data instanceof JsonText ? JSON.parse(data.text) : data;
  };
}
