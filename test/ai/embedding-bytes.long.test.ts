// Vectors are long: what calls of embeddings hold of them is bounded, however many accounts make them at once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { client, createTestAccount } from '../support/service.ts';
import { type AiBench, startAi } from './harness.ts';

const MIB = 1024 * 1024;
const INPUTS = Array.from({ length: 2_048 }, () => 'a boat');
const ACCOUNTS = 4;
const CALLS_EACH = 7;

let bench: AiBench;
beforeAll(async () => {
  bench = await startAi();
});
afterAll(() => bench?.service.stop());

const metric = async (name: string) => {
  const text = await (await fetch(`${bench.service.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
};

/** The most that buffers took while it ran, above what they took before; waste that is still to be cleared away included. */
async function grownBytes(run: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().arrayBuffers;
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  }, 5);
  await run();
  clearInterval(look);
  return most - before;
}

/** Its status; the answer is read and forgotten. */
async function embed(secret: string): Promise<number> {
  const response = await fetch(`${bench.service.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ input: INPUTS, dimensions: 4_096, encoding_format: 'base64' }),
  });
  for await (const _ of response.body ?? []);
  return response.status;
}

test('the longest calls of many accounts at once take no more memory than a few of them', {
  timeout: 60_000,
}, async () => {
  const secrets = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => (await createTestAccount(bench.service.core, 1)).secret),
  );
  const statuses: number[] = [];
  const bytes = await grownBytes(async () => {
    const calls = secrets.flatMap((secret) => Array.from({ length: CALLS_EACH }, () => embed(secret)));
    statuses.push(...(await Promise.all(calls)));
  });
  const count = (status: number) => statuses.filter((one) => one === status).length;
  expect([count(200) + count(429) + count(503), count(200) > 1, count(429) + count(503) > 12]).toEqual([
    ACCOUNTS * CALLS_EACH,
    true,
    true,
  ]);
  // All of them would be 896 MiB of vectors alone.
  expect(bytes).toBeLessThan(500 * MIB);
  expect(await metric('qm_answer_making_bytes')).toBe(0);
});

test('a call that is refused for them costs nothing and says when to repeat; alone it is answered', async () => {
  // A fourth of the bounds, and of the longest call.
  const small = await startAi({ admission: { all: { answerMakingBytesMax: 96 * MIB } } });
  const body = { input: INPUTS.slice(0, 512), dimensions: 4_096, encoding_format: 'base64' };
  const before = await small.funds();
  const call = client(small.service.url, small.account.secret);
  const answers = await Promise.all(Array.from({ length: 8 }, () => call('POST', '/v1/embeddings', body)));
  const refused = answers.find(({ status }) => status !== 200);
  expect(refused?.body.error.code).toMatch(/^(CONCURRENCY_LIMITED|OVERLOADED)$/);
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  const paid = answers.filter(({ status }) => status === 200);
  const cost = paid.reduce((sum, { body: { service_metadata } }) => sum + service_metadata.cost_usd, 0);
  const after = await small.funds();
  expect([after.held, Number(before.balance - after.balance)]).toEqual([0n, Math.round(cost * 1e9)]);
  expect((await call('POST', '/v1/embeddings', body)).status).toBe(200);
  await small.service.stop();
});

test('an answer in the envelope is one text: beyond a million numbers the other door is named, before anything is paid', async () => {
  const { secret, accountId } = await createTestAccount(bench.service.core, 1);
  const call = client(bench.service.url, secret);
  const before = await bench.funds(accountId);
  const { status, body } = await call('POST', '/v1/ai/embed', { input: INPUTS, dimensions: 1_024 });
  expect([status, body.error.code, body.error.param]).toEqual([400, 'VALIDATION_FAILED', 'input']);
  expect(body.error.message).toContain('/v1/embeddings');
  expect(await bench.funds(accountId)).toEqual(before);
  const whole = await call('POST', '/v1/ai/embed', { input: INPUTS });
  expect([whole.status, whole.body.data?.data.length]).toEqual([200, 2_048]);
});
