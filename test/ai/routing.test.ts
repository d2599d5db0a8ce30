// Vendors that an account excludes are asked by no process, for chats and for embeddings, from a second later at most: not first, not by name,
// and not in the place of one that fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

const IN_FORCE_MS = 1_000;
let bench: AiVendors;
let second: TestService;
let there: Client;
beforeAll(async () => {
  bench = await AiVendors.start({}, undefined, {}, { timeouts: PATIENT });
  second = await startTestService({ env: bench.env, database: bench.service.database });
  there = client(second.url, bench.account.secret);
});
afterAll(async () => {
  await second?.stop();
  await bench?.stop();
});
afterEach(() => bench.forgive());

const chat = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hello.' }], ...over });
const embed = (over: object = {}) => ({ model: 'e-1', input: ['a', 'b'], ...over });
const doors = {
  'ai.chat': { open: '/v1/chat/completions', enveloped: '/v1/ai/chat', body: chat },
  'ai.embed': { open: '/v1/embeddings', enveloped: '/v1/ai/embed', body: embed },
};

test.each(Object.entries(doors))(
  '%s: what one process is told holds in another',
  async (capability, { open, enveloped, body }) => {
    const set = (exclude: string[]) => bench.call('PUT', '/v1/account/routing/set', { capability, exclude });
    const vendor = async (over: object = {}) => (await there('POST', open, body(over))).body.service_metadata.vendor;
    const refusal = async (over: object) => {
      const { status, body: told } = await there('POST', open, body(over));
      return [status, told.error.code, told.error.type];
    };
    // It remembers that nobody is excluded.
    expect(await vendor()).toBe('acme');
    expect((await set(['acme'])).status).toBe(200);
    // sleeps: this is how long it may take; a slow machine takes no less
    await sleep(IN_FORCE_MS);
    expect(await vendor()).toBe('corp');
    expect((await there('POST', enveloped, body())).body.metadata.vendor).toBe('corp');
    const pinned = [400, 'VENDOR_NOT_AVAILABLE', 'invalid_request_error'];
    const model = capability === 'ai.chat' ? 'm-1' : 'e-1';
    expect(await refusal({ model: `acme/${model}` })).toEqual(pinned);
    expect(await refusal({ model, vendor: 'acme' })).toEqual(pinned);
    // Of embeddings auto is one model, which is acme's: no other is taken for it.
    if (capability === 'ai.embed') expect(await refusal({ model: 'auto' })).toEqual(pinned);
    bench.corp.next({ status: 500, body: { error: { message: 'no', code: 'server_error' } } });
    expect(await refusal({})).toEqual([503, 'VENDOR_DOWN', 'server_error']);
    expect(bench.acme.seen).toHaveLength(1);
    // Of this account alone, and of this capability alone.
    const other = await createTestAccount(bench.service.core, 1);
    const others = await client(second.url, other.secret)('POST', open, body());
    expect(others.body.service_metadata.vendor).toBe('acme');
    const [further] = Object.entries(doors).flatMap(([name, door]) => (name === capability ? [] : [door]));
    expect((await there('POST', further?.open as string, further?.body())).body.service_metadata.vendor).toBe('acme');
    expect((await set([])).status).toBe(200);
    // sleeps: this is how long it may take; a slow machine takes no less
    await sleep(IN_FORCE_MS);
    await bench.forgive();
    expect(await vendor()).toBe('acme');
  },
);
