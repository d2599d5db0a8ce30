// Tenant-isolation fixture of AI answers, for the contract tests. Another account could reach answers by idempotency key or by batch.
import { setTimeout as sleep } from 'node:timers/promises';
import type { TenantFixture } from '../../kit/tenant-fixture.ts';

const hello = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] };
const boats = { model: 'sandbox/ngram-1', input: 'A boat on a pond.', dimensions: 64 };

const request = (custom_id: string) => ({ custom_id, capability: 'ai.chat', body: hello });
const batch = { items: [request('a'), request('b')] };

export const tenants: TenantFixture = {
  first: 'ai.batch.create',
  nobody: { batch_id: 'aib_1111111111111111111111' },
  async fill({ act }) {
    await act('ai.chat', { ...hello, idempotency_key: 'shared' });
    const [{ batch_id }] = [await act('ai.batch.create', batch), await act('ai.batch.create', batch)];
    for (;;) {
      const { status } = await act('ai.batch.get', { batch_id });
      if (status === 'completed') return { batch_id };
      await sleep(20);
    }
  },
  async fillOther({ act }) {
    await act('ai.embed', boats);
    return { batch_id: (await act('ai.batch.create', batch)).batch_id };
  },
  aims: {
    'ai.chat': [],
    'ai.embed': [],
    'ai.usage': [() => ({})],
    'ai.count_tokens': [],
    'ai.batch.create': [],
  },
  keyed: [
    ['ai.chat', hello],
    ['ai.embed', boats],
  ],
};
