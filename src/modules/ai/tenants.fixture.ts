// How another account could reach answers of this one: what the tenant loop of the contract tests needs. Only keys of repeats could.
import type { TenantFixture } from '../../manifest/tenant-fixture.ts';

const hello = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] };
const boats = { model: 'sandbox/ngram-1', input: 'A boat on a pond.', dimensions: 64 };

export const tenants: TenantFixture = {
  nobody: {},
  async fill({ act }) {
    await act('ai.chat', { ...hello, idempotency_key: 'shared' });
    return {};
  },
  async fillOther({ act }) {
    await act('ai.embed', boats);
    return {};
  },
  aims: { 'ai.chat': [], 'ai.embed': [], 'ai.models': [], 'ai.count_tokens': [] },
  lists: {},
  keyed: [
    ['ai.chat', hello],
    ['ai.embed', boats],
  ],
};
