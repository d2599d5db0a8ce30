// The wire of OpenAI on the sandbox: the official client, unchanged; money, repeats, and what goes wrong.
import OpenAI, { APIError, toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { client } from '../support/service.ts';
import { type AiBench, startAi } from './harness.ts';

let bench: AiBench;
let openai: OpenAI;
beforeAll(async () => {
  bench = await startAi();
  openai = clientOf(bench.account.secret);
});
afterAll(() => bench.service.stop());

const ECHO = 'sandbox/echo-1';
const say = (content: string) => [{ role: 'user' as const, content }];

function clientOf(apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${bench.service.url}/v1`, maxRetries: 0 });
}

// biome-ignore lint/suspicious/noExplicitAny: fields of ours, which the client does not know
type Any = any;

describe('a chat', () => {
  test('is answered, with what it cost', async () => {
    const before = await bench.balanceNanos();
    const answer = (await openai.chat.completions.create({ model: ECHO, messages: say('Say hello.') })) as Any;
    expect(answer.choices[0]).toEqual({
      index: 0,
      message: { role: 'assistant', content: '[sandbox] You said: Say hello.', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    });
    expect(answer.model).toBe(ECHO);
    const { usage, service_metadata: metadata } = answer;
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    expect(metadata).toMatchObject({ vendor: 'sandbox', entry_form: 'openai_compat', usage_estimated: false });
    expect(Math.round(metadata.cost_usd * 1e9)).toBe(10 * usage.total_tokens);
    expect(before - (await bench.balanceNanos())).toBe(BigInt(10 * usage.total_tokens));
    expect(await bench.heldNanos()).toBe(0n);
  });

  test('comes piece by piece; the last piece says what it cost', async () => {
    const stream = await openai.chat.completions.create({ model: ECHO, messages: say('Say hello.'), stream: true });
    const chunks: Any[] = await Array.fromAsync(stream);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
      '[sandbox] You said: Say hello.',
    );
    expect(chunks.at(-1).choices[0].finish_reason).toBe('stop');
    expect(chunks.at(-1).service_metadata.cost_usd).toBeGreaterThan(0);
    expect(chunks.slice(0, -1).every((chunk) => !('service_metadata' in chunk) && chunk.model === ECHO)).toBe(true);
    expect(chunks.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  test('with usage asked for ends with a chunk of usage', async () => {
    const stream = await openai.chat.completions.create({
      model: ECHO,
      messages: say('Say hello.'),
      stream: true,
      stream_options: { include_usage: true },
    } as const);
    const chunks: Any[] = await Array.fromAsync(stream as AsyncIterable<unknown>);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
    expect(chunks.at(-1).service_metadata.cost_usd).toBeGreaterThan(0);
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
  });

  test('calls the tool that it must call, and takes its result', async () => {
    const tools = [
      {
        type: 'function' as const,
        function: {
          name: 'weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ];
    const asked = await openai.chat.completions.create({
      model: ECHO,
      messages: say('Rain?'),
      tools,
      tool_choice: 'required',
    });
    const [call] = (asked.choices[0]?.message.tool_calls ?? []) as Any[];
    expect(asked.choices[0]?.finish_reason).toBe('tool_calls');
    expect([call.function.name, JSON.parse(call.function.arguments)]).toEqual(['weather', { city: 'sandbox' }]);
    const told = { role: 'tool' as const, tool_call_id: call.id, content: 'No.' };
    const messages = [...say('Rain?'), asked.choices[0]?.message as Any, told];
    const answer = await openai.chat.completions.create({ model: ECHO, messages, tools });
    expect(answer.choices[0]?.message.content).toBe('[sandbox] You said: Rain?');
  });

  test('says the same to the same request, each time in an answer of its own, made now', async () => {
    const ask = () => openai.chat.completions.create({ model: ECHO, messages: say('Say it twice.') });
    const beganS = Math.floor(Date.now() / 1_000);
    const [first, second] = [await ask(), await ask()];
    expect(first.choices).toEqual(second.choices);
    expect(first.id).not.toBe(second.id);
    for (const { id, created } of [first, second]) {
      expect(id).toMatch(/^chatcmpl-[0-9a-f]{24}$/);
      expect(created).toBeGreaterThanOrEqual(beganS);
      expect(created).toBeLessThanOrEqual(Date.now() / 1_000);
    }
    const stream = await openai.chat.completions.create({ model: ECHO, messages: say('Say it twice.'), stream: true });
    const chunks: Any[] = await Array.fromAsync(stream);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('keeps to max_tokens, stop and n', async () => {
    const cut = await openai.chat.completions.create({
      model: ECHO,
      messages: say('one two three four'),
      max_tokens: 5,
      n: 3,
    });
    expect(cut.choices.map(({ finish_reason }) => finish_reason)).toEqual(['length', 'length', 'length']);
    expect(cut.usage?.completion_tokens).toBe(15);
    const stopped = await openai.chat.completions.create({ model: ECHO, messages: say('one two three'), stop: ' two' });
    expect(stopped.choices[0]?.message.content).toBe('[sandbox] You said: one');
  });

  test('repeated with its key is answered again for nothing, in the form that is asked for', async () => {
    const body = { model: ECHO, messages: say('Say it once.') };
    const options = { headers: { 'idempotency-key': 'once' } };
    const first = (await openai.chat.completions.create({ ...body, stream: true }, options)) as Any;
    const text = (await Array.fromAsync(first as AsyncIterable<Any>))
      .map(({ choices }) => choices[0]?.delta.content ?? '')
      .join('');
    const before = await bench.balanceNanos();
    const again = (await openai.chat.completions.create(body, options)) as Any;
    expect(again.id).toBe((await openai.chat.completions.create(body, options)).id);
    expect(again.choices[0].message.content).toBe(text);
    expect(again.service_metadata).toMatchObject({ idempotent_replay: true, cost_usd: 0 });
    const streamed = (await openai.chat.completions.create({ ...body, stream: true }, options)) as Any;
    const pieces = await Array.fromAsync(streamed as AsyncIterable<Any>);
    expect(pieces.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(text);
    expect(await bench.balanceNanos()).toBe(before);
    expect(await refusal(() => openai.chat.completions.create({ ...body, n: 2 }, options))).toMatchObject([
      409,
      expect.anything(),
      expect.anything(),
      'idempotency_key',
    ]);
  });

  test('that fails costs nothing and says why, also in mid-stream', async () => {
    const before = await bench.balanceNanos();
    const failing = (code: string, stream = false) =>
      refusal(() => openai.chat.completions.create({ model: ECHO, messages: say(`[[fail:${code}]]`), stream }));
    expect(await failing('VENDOR_DOWN')).toEqual([503, 'server_error', 'VENDOR_DOWN', null]);
    expect(await failing('RATE_LIMIT_VENDOR', true)).toEqual([429, 'rate_limit_error', 'RATE_LIMIT_VENDOR', null]);
    expect(await failing('CONTENT_REFUSED')).toEqual([400, 'invalid_request_error', 'CONTENT_REFUSED', null]);
    const broken = await openai.chat.completions.create({ model: ECHO, messages: say('[[break:2]]'), stream: true });
    const pieces: string[] = [];
    const failed = await (async () => {
      for await (const { choices } of broken) pieces.push(choices[0]?.delta.content ?? '');
    })().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ code: 'VENDOR_DOWN', type: 'server_error' });
    expect(pieces.join('')).not.toBe('');
    expect(await bench.balanceNanos()).toBe(before);
    expect(await bench.heldNanos()).toBe(0n);
  });

  test('whose vendor says no usage is counted here', async () => {
    const answer = (await openai.chat.completions.create({ model: ECHO, messages: say('[[no_usage]] hello') })) as Any;
    expect(answer.service_metadata).toMatchObject({ usage_estimated: true });
    expect(answer.usage.completion_tokens).toBeGreaterThan(5);
    expect(Math.round(answer.service_metadata.cost_usd * 1e9)).toBe(10 * answer.usage.total_tokens);
    const call = client(bench.service.url, bench.account.secret);
    const told = async (messages: object) =>
      (await call('POST', '/v1/ai/chat', { model: ECHO, messages })).body.metadata;
    expect((await told(say('[[no_usage]] hello'))).usage_estimated).toBe(true);
    expect((await told(say('hello'))).usage_estimated).toBe(false);
    const failed = await call('POST', '/v1/chat/completions', { model: ECHO, messages: say('[[fail:VENDOR_DOWN]]') });
    expect(failed.body.service_metadata).toMatchObject({ usage_estimated: false, cost_usd: 0 });
  });
});

describe('refusals have the shape that clients read', () => {
  test.each([
    [{ model: ECHO }, [400, 'invalid_request_error', 'VALIDATION_FAILED', 'messages']],
    [
      { model: ECHO, messages: [{ content: 'x' }] },
      [400, 'invalid_request_error', 'VALIDATION_FAILED', 'messages[0].role'],
    ],
    [{ model: 'no-such-model', messages: say('x') }, [404, 'invalid_request_error', 'MODEL_NOT_FOUND', 'model']],
    [
      { model: ECHO, messages: say('x'), max_tokens: 0 },
      [400, 'invalid_request_error', 'VALIDATION_FAILED', 'max_tokens'],
    ],
    [
      { model: 'echo-1', messages: say('x'), vendor: 'nobody' },
      [400, 'invalid_request_error', 'VENDOR_NOT_AVAILABLE', 'vendor'],
    ],
  ])('%j', async (body, expected) => {
    expect(await refusal(() => openai.chat.completions.create(body as Any))).toEqual(expected);
  });

  test('no key, and a key without money', async () => {
    expect(
      await refusal(() => clientOf('sk_nobody').chat.completions.create({ model: ECHO, messages: say('x') })),
    ).toMatchObject([401, 'authentication_error', 'INVALID_API_KEY', null]);
    const poor = await bench.poor();
    const refused = await refusal(() =>
      clientOf(poor).chat.completions.create({ model: ECHO, messages: say('x'), max_tokens: 16_384 }),
    );
    expect(refused).toMatchObject([402, 'insufficient_quota', 'INSUFFICIENT_CREDIT', null]);
  });

  test('a limit that nobody set shrinks to what the credit pays for', async () => {
    const poor = await bench.poor(0.00002);
    const answer = (await clientOf(poor).chat.completions.create({ model: ECHO, messages: say('x') })) as Any;
    expect(answer.service_metadata.warnings).toEqual([expect.stringMatching(/^max_tokens: 1\d{3}, /)]);
  });

  test('what this wire has and this service has not', async () => {
    const image = await toFile(Buffer.from('x'), 'x.png');
    expect(await refusal(() => openai.images.createVariation({ image }))).toMatchObject([
      404,
      'invalid_request_error',
      'CAPABILITY_NOT_FOUND',
      null,
    ]);
    expect(await refusal(() => openai.files.list())).toMatchObject([404, expect.anything(), expect.anything(), null]);
    expect(await refusal(() => openai.completions.create({ model: ECHO, prompt: 'x' }))).toMatchObject([
      404,
      expect.anything(),
      expect.anything(),
      null,
    ]);
  });
});

describe('embeddings', () => {
  test('come in base64, as the client asks for them, and as floats, and are the same', async () => {
    const input = ['A boat on a pond.', 'Rain on a roof.'];
    const packed = await openai.embeddings.create({ model: 'sandbox/ngram-1', input });
    const plain = (await openai.embeddings.create({
      model: 'sandbox/ngram-1',
      input,
      encoding_format: 'float',
    })) as Any;
    expect(packed.data.map(({ embedding }) => embedding.map((value) => value.toFixed(6)))).toEqual(
      plain.data.map(({ embedding }: Any) => embedding.map((value: number) => value.toFixed(6))),
    );
    expect(plain.data[0].embedding).toHaveLength(512);
    expect(plain.service_metadata).toMatchObject({ vendor: 'sandbox', usage_estimated: false });
  });

  test('of tokens the sandbox does not make: it reads texts', async () => {
    expect(await refusal(() => openai.embeddings.create({ model: 'sandbox/ngram-1', input: [[1, 2]] }))).toEqual([
      ...[400, 'invalid_request_error', 'VALIDATION_FAILED', 'input'],
    ]);
  });

  test('have as many dimensions as asked for, where the model offers them', async () => {
    const { data } = await openai.embeddings.create({ model: 'auto', input: 'x', dimensions: 64 });
    expect(data[0]?.embedding).toHaveLength(64);
    expect(await refusal(() => openai.embeddings.create({ model: 'auto', input: 'x', dimensions: 9 }))).toEqual([
      400,
      'invalid_request_error',
      'VALIDATION_FAILED',
      'dimensions',
    ]);
  });
});

test('models are listed, and one is shown by an id with a slash', async () => {
  const listed = await Array.fromAsync(openai.models.list());
  expect(listed.map(({ id }) => id)).toEqual([
    'auto',
    'cheapest',
    'smartest',
    ECHO,
    'sandbox/ngram-1',
    'echo-1',
    'ngram-1',
  ]);
  const shown = (await openai.models.retrieve(ECHO)) as Any;
  expect(shown).toMatchObject({ id: ECHO, owned_by: 'sandbox', pricing: { input: 0.01, output: 0.01 }, up: true });
  expect(await refusal(() => openai.models.retrieve('nobody/none'))).toMatchObject([
    404,
    'invalid_request_error',
    'MODEL_NOT_FOUND',
    'model',
  ]);
});

/** How the client sees a refusal. */
async function refusal(act: () => PromiseLike<unknown>): Promise<unknown[]> {
  const error = await Promise.resolve(act()).catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(APIError);
  const { status, type, code, param } = error as APIError;
  return [status, type, code, param];
}
