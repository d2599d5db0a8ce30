// Clients that people have already, unchanged, on this service's base address: OpenAI's own, Anthropic's, the AI SDK on all wires, LangChain.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { APIError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { type Client, clients, ECHO, NGRAM } from '../support/ai/clients.ts';
import { completionOf, OpenaiDouble } from '../support/ai/openai-double.ts';
import { type AiBench, startAi } from './harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: fields of ours, which the clients do not know
type Any = any;

let bench: AiBench;
let acme: OpenaiDouble;
let folder: string;
beforeAll(async () => {
  [acme, folder] = await Promise.all([OpenaiDouble.start('Hello.'), mkdtemp(join(tmpdir(), 'qm-clients-'))]);
  const models = [
    { id: 'm-1', serves: ['ai.chat'], price: { input: 1, output: 2 }, context: 100_000, max_output: 1_000 },
  ];
  const vendors = [{ id: 'acme', adapter: 'openai', region: 'western', base_url: acme.url, models }];
  const file = join(folder, 'vendors.yaml');
  await writeFile(file, stringify({ version: 1, vendors }));
  bench = await startAi({ env: { VENDORS_FILE: file } });
});
afterAll(async () => {
  await bench?.service.stop();
  await Promise.all([acme.stop(), rm(folder, { recursive: true })]);
});

/** Real requests, counted. */
class Counted {
  readonly times: number[] = [];
  readonly fetch: typeof fetch = (...request) => {
    this.times.push(performance.now());
    return fetch(...request);
  };
}

const options = (key: string, counted: Counted) => ({
  apiKey: key,
  baseURL: `${bench.service.url}/v1`,
  fetch: counted.fetch,
});
describe.each(Object.keys(clients))('%s', (name) => {
  const open = (key = bench.account.secret, counted = new Counted()) =>
    clients[name]?.(options(key, counted)) as Client;

  test('chats, in one piece and as a stream, with usage', async () => {
    const client = open();
    for (const told of [await client.say('Say hello.'), await client.stream('Say hello.')]) {
      expect(told.text).toBe('[sandbox] You said: Say hello.');
      expect(told.inputTokens).toBeGreaterThan(3);
      expect(told.outputTokens).toBeGreaterThan(3);
    }
  });

  test('calls a tool and takes its result', async () => {
    const { args, text } = await open().useTool();
    expect(args).toEqual({ city: 'sandbox' });
    expect(text).toBe('[sandbox] You said: Rain?');
  });

  test('gets an object of its schema', async () => {
    expect(await open().object()).toEqual({ city: expect.any(String), population: expect.any(Number) });
  });

  test('shows a picture', async () => {
    expect(await open().see()).toMatch(/^\[sandbox\] You said: What is it\?/);
  });

  test('does not repeat what there is no credit for', async () => {
    const counted = new Counted();
    const poor = await bench.poor();
    const failure = await open(poor, counted)
      .say('x')
      .catch((error: unknown) => error);
    expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure)) + String(failure)).toMatch(/credit/i);
    expect(failure).toMatchObject(
      expect.objectContaining(name.startsWith('@ai-sdk') ? { statusCode: 402 } : { status: 402 }),
    );
    expect(counted.times).toHaveLength(1);
  });

  test('repeats what comes too fast, after the time it is told', async () => {
    acme.reset();
    const refused = { error: { message: 'slow down', type: 'rate_limit', code: 'rate_limit_exceeded' } };
    acme.next(
      { status: 429, body: refused, headers: { 'retry-after': '1' } },
      { status: 200, body: completionOf('Later.') },
    );
    const counted = new Counted();
    expect((await open(bench.account.secret, counted).say('x', 'acme/m-1')).text).toBe('Later.');
    expect(counted.times).toHaveLength(2);
    const [first = 0, second = 0] = counted.times;
    expect(second - first).toBeGreaterThanOrEqual(900);
  });

  test('is told in mid-stream what went wrong', async () => {
    const failure = await open()
      .stream('[[break:2]] and more words than two')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(String(failure) + JSON.stringify(failure, Object.getOwnPropertyNames(failure))).toMatch(
      // It keeps no code of an error.
      name === '@ai-sdk/anthropic' ? /api_error.*broke off/ : /VENDOR_DOWN/,
    );
  });
});

test.each(['openai', '@ai-sdk/openai-compatible', '@ai-sdk/openai, responses', '@langchain/openai'])(
  '%s gets the embeddings that the envelope gives',
  async (name) => {
    const inputs = ['A boat on a pond.', 'Rain on a roof.'];
    const wanted = await new OpenAI(options(bench.account.secret, new Counted())).embeddings.create({
      model: NGRAM,
      input: inputs,
      encoding_format: 'float',
    });
    const got = await clients[name]?.(options(bench.account.secret, new Counted())).embed?.(inputs);
    expect(got?.map((vector) => vector.map((value) => value.toFixed(6)))).toEqual(
      wanted.data.map(({ embedding }) => embedding.map((value) => value.toFixed(6))),
    );
  },
);

test('a response tells what it cost, is charged once, and a repeat of its key is the same response', async () => {
  const openai = new OpenAI(options(bench.account.secret, new Counted()));
  const before = await bench.balanceNanos();
  const body = { model: ECHO, input: 'Once.', metadata: { a: 'b' } };
  const repeat = { headers: { 'idempotency-key': 'response-once' } };
  const first = (await openai.responses.create(body, repeat)) as Any;
  const cost = before - (await bench.balanceNanos());
  expect(cost).toBe(BigInt(10 * first.usage.total_tokens));
  expect(first).toMatchObject({
    status: 'completed',
    store: false,
    metadata: { a: 'b' },
    model: ECHO,
    service_metadata: { vendor: 'sandbox' },
  });
  const events: Any[] = await Array.fromAsync(await openai.responses.create({ ...body, stream: true }, repeat));
  const { response } = events.at(-1);
  expect(response.service_metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
  expect({ ...response, service_metadata: null }).toEqual({ ...first, output_text: undefined, service_metadata: null });
  expect(before - (await bench.balanceNanos())).toBe(cost);
  expect(await bench.heldNanos()).toBe(0n);
});

test('a response refuses what refers to stored things, by its field', async () => {
  const openai = new OpenAI(options(bench.account.secret, new Counted()));
  const refused = await openai.responses
    .create({ model: ECHO, input: 'x', previous_response_id: 'resp_1' })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(APIError);
  expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_FAILED', param: 'previous_response_id' });
});
