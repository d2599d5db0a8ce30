// What was spent on each model: counted with its charge, of this account alone, by whole days, and kept no longer than told.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modelDaySweep } from '../../src/modules/ai/models/model-days.ts';
import { type Client, client, createTestAccount, startTestService, type TestService } from '../support/service.ts';

const DAY_SECONDS = 86_400;
let service: TestService;
let call: Client;
let accountId: string;
beforeAll(async () => {
  // own service: moves its clock
  service = await startTestService();
  const account = await createTestAccount(service.core, 10);
  accountId = account.accountId;
  call = client(service.url, account.secret);
});
afterAll(() => service?.stop());

const chat = { model: 'sandbox/echo-1', messages: [{ role: 'user', content: 'Say hello.' }] };
const embed = { model: 'sandbox/ngram-1', input: ['A boat on a pond.', 'Another.'] };

async function usage(query = '') {
  const { status, body, text } = await call('GET', `/v1/ai/usage${query}`);
  expect(status, text).toBe(200);
  return body.data;
}

async function paid(path: string, input: object) {
  const { status, body, text } = await call('POST', path, input);
  expect(status, text).toBe(200);
  return body;
}

test('each model has its charged calls, tokens and spend, by either wire and once for a key; what failed has none', async () => {
  expect((await usage()).by_model).toEqual([]);
  const first = await paid('/v1/ai/chat', { ...chat, idempotency_key: 'once' });
  await paid('/v1/ai/chat', { ...chat, idempotency_key: 'once' });
  await paid('/v1/chat/completions', chat);
  const vectors = await paid('/v1/ai/embed', embed);
  const failed = { ...chat, messages: [{ role: 'user', content: '[[fail:INTERNAL_ERROR]]' }] };
  expect((await call('POST', '/v1/ai/chat', failed)).status).toBeGreaterThanOrEqual(400);
  const { prompt_tokens, completion_tokens } = first.data.usage;
  const { by_model } = await usage();
  expect(by_model.find(({ model }: { model: string }) => model === chat.model)).toEqual({
    model: chat.model,
    capability: 'ai.chat',
    calls: 2,
    input_tokens: 2 * prompt_tokens,
    output_tokens: 2 * completion_tokens,
    spend_usd: expect.closeTo(2 * first.metadata.cost_usd, 9),
  });
  expect(by_model.find(({ model }: { model: string }) => model === embed.model)).toMatchObject({
    capability: 'ai.embed',
    calls: 1,
    output_tokens: 0,
    spend_usd: vectors.metadata.cost_usd,
  });
  const { by_capability } = (await call('GET', '/v1/account/usage')).body.data;
  const spent = (rows: { spend_usd: number }[]) => rows.reduce((sum, row) => sum + row.spend_usd, 0);
  const ofAi = by_capability.filter(({ capability }: { capability: string }) => capability.startsWith('ai.'));
  expect(spent(by_model)).toBeCloseTo(spent(ofAi), 9);
});

test('another account has none of it, and a period that cannot be is told', async () => {
  const other = await createTestAccount(service.core, 1);
  const { body } = await client(service.url, other.secret)('GET', '/v1/ai/usage');
  expect(body.data.by_model).toEqual([]);
  for (const query of [
    '?from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z',
    '?from=soon',
    '?from=2001-01-01T00:00:00Z',
  ])
    expect((await call('GET', `/v1/ai/usage${query}`)).status, query).toBe(400);
});

test('days count apart, and are removed after 430', async () => {
  const before = await usage();
  await service.advance(2 * DAY_SECONDS);
  expect((await usage(`?from=${before.period_end}`)).by_model).toEqual([]);
  await paid('/v1/ai/chat', chat);
  expect((await usage(`?from=${before.period_end}`)).by_model).toMatchObject([{ model: chat.model, calls: 1 }]);
  expect((await usage(`?to=${before.period_end}`)).by_model).toEqual(before.by_model);
  await service.advance(429 * DAY_SECONDS);
  const sweep = modelDaySweep(service.core);
  expect(await sweep.run(new AbortController().signal)).toBe(false);
  const days = {
    name: 'test_model_days',
    text: 'SELECT count(*)::int AS days FROM ai.model_day WHERE account_id = $1',
  };
  expect((await service.core.db.query<{ days: number }>(days, [accountId])).rows[0]?.days).toBe(1);
});
