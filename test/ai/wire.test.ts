// The small print of the wire that OpenAI's clients know: how refusals are told and whether they are worth repeating, what answers carry beside
// themselves, inputs of embeddings, what tokens are counted, and which models are listed.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { completionOf, type Json } from '../support/ai/openai-double.ts';
import { StreamReader } from '../support/ai/stream-reader.ts';
import { client, createTestAccount } from '../support/service.ts';
import { AiVendors, PATIENT } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({ images: true }, undefined, {}, { timeouts: PATIENT });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const CHAT = '/v1/chat/completions';
const say = (over: object = {}) => ({ messages: [{ role: 'user', content: 'Hi.' }], ...over });
const vendorSays = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { error: { message: 'no', code } },
});

describe('a refusal', () => {
  const keyOf = async (usd: number, scopes: string[] | null = null) =>
    (await createTestAccount(bench.service.core, usd, scopes)).secret;
  const own = async () => bench.account.secret;
  type Case = [
    what: string,
    secret: () => Promise<string>,
    body: object,
    told: [number, string, string],
    retries: boolean,
  ];

  test.each<Case>([
    ['a body that is none', own, [], [400, 'invalid_request_error', 'INVALID_REQUEST'], false],
    ['no such key', async () => 'sk_nobody', say(), [401, 'authentication_error', 'INVALID_API_KEY'], false],
    ['no credit', () => keyOf(0), say(), [402, 'insufficient_quota', 'INSUFFICIENT_CREDIT'], false],
    ['no scope', () => keyOf(1, ['queue']), say(), [403, 'permission_error', 'INSUFFICIENT_SCOPE'], false],
    ['no such model', own, say({ model: 'none' }), [404, 'invalid_request_error', 'MODEL_NOT_FOUND'], false],
    ['vendors that are busy', own, say({ model: 'busy' }), [429, 'rate_limit_error', 'RATE_LIMIT_VENDOR'], true],
    ['a vendor that is down', own, say({ model: 'down' }), [503, 'server_error', 'VENDOR_DOWN'], true],
    ['a vendor that is late', own, say({ model: 'late' }), [504, 'server_error', 'VENDOR_TIMEOUT'], true],
    ['a vendor that fails', own, say({ model: 'fails' }), [502, 'server_error', 'VENDOR_ERROR'], false],
  ])('of %s has its type, and says whether it is worth repeating', async (_, secret, body, told, retries) => {
    const call = client(bench.service.url, await secret());
    const deeds: Readonly<Record<string, Json>> = {
      busy: vendorSays(429, 'rate_limit_exceeded'),
      down: vendorSays(503, 'server_error'),
      late: { status: 504, body: '' },
      fails: vendorSays(404, 'something_else'),
    };
    const { model } = body as { model?: string };
    const deed = deeds[model ?? ''];
    if (deed !== undefined) bench.acme.next(deed);
    const sent = deed === undefined ? body : { ...body, model: 'acme/m-1' };
    const { status, headers, body: answer } = await call('POST', CHAT, sent);
    expect([status, answer.error.type, answer.error.code]).toEqual(told);
    const waits = status === 429 || status === 503 ? ['retry_after_ms'] : [];
    expect(Object.keys(answer.error)).toEqual(['message', 'type', 'param', 'code', ...waits]);
    expect(headers.get('x-should-retry')).toBe(retries ? null : 'false');
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('of a key that was used for something else is not repeated by itself, though it is a 409', async () => {
    await bench.call('POST', CHAT, say({ idempotency_key: 'wire' }));
    const { status, headers, body } = await bench.call('POST', CHAT, say({ idempotency_key: 'wire', n: 2 }));
    expect([status, body.error.type, headers.get('x-should-retry')]).toEqual([409, 'invalid_request_error', 'false']);
  });

  test.each<[string, Record<string, string>, string, string]>([
    ['as its vendor says', { 'retry-after': '7' }, '7', '7000'],
    ['ten seconds, where its vendor does not say', {}, '10', '10000'],
  ])(
    'that is to be repeated after a time, %s, says so in seconds and in milliseconds',
    async (_, after, seconds, ms) => {
      bench.acme.next(vendorSays(429, 'rate_limit_exceeded', after));
      const { headers } = await bench.call('POST', CHAT, say({ model: 'acme/m-1' }));
      expect([headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual([seconds, ms]);
    },
  );

  test.each(['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/videos'])(
    'of a body at %s says whether it is no JSON, or no object',
    async (path) => {
      const bodies = ['{"model":', '', Buffer.from('{"model":"\xff"}', 'latin1'), '[]', '"text"', 'null'];
      const codes: string[] = [];
      for (const body of bodies) {
        const response = await fetch(bench.service.url + path, {
          method: 'POST',
          body,
          headers: { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' },
        });
        const { error } = (await response.json()) as Json;
        codes.push(`${response.status} ${error.code}`);
      }
      const [broken, none] = ['400 MALFORMED_JSON', '400 INVALID_REQUEST'];
      expect(codes).toEqual([broken, broken, broken, none, none, none]);
    },
  );

  test('of a model that is not there names those whose names are near', async () => {
    const { body } = await bench.call('GET', '/v1/models/acme/m1-');
    expect([body.error.code, body.error.message]).toEqual([
      'MODEL_NOT_FOUND',
      expect.stringContaining('Did you mean acme/m-1'),
    ]);
  });

  test('of a stream in the envelope names the door that streams', async () => {
    const { status, body } = await bench.call('POST', '/v1/ai/chat', say({ stream: true }));
    expect([status, body.error.param]).toEqual([400, 'stream']);
    expect(body.error.message).toContain('/v1/chat/completions');
  });
});

test('an answer carries who gave it and, in one piece, what it cost; a stream tells that at its end', async () => {
  const named = (headers: Headers) => ['x-qm-vendor', 'x-qm-model', 'x-qm-cost-usd'].map((name) => headers.get(name));
  bench.acme.next({ status: 200, body: completionOf('Hi.') });
  const { headers, body } = await bench.call('POST', CHAT, say());
  expect(named(headers)).toEqual(['acme', 'acme/m-1', String(body.service_metadata.cost_usd)]);
  const stream = await StreamReader.open(bench.service.url + CHAT, bench.account.secret, say());
  await stream.ended;
  expect([...named(stream.headers), stream.headers.get('content-type')]).toEqual([
    ...['acme', 'acme/m-1', null, 'text/event-stream; charset=utf-8'],
  ]);
  expect(stream.events.at(-1).service_metadata.cost_usd).toBe(body.service_metadata.cost_usd);
});

describe('embeddings', () => {
  const embed = (input: unknown, path = '/v1/embeddings') => bench.call('POST', path, { input });

  test.each([
    ['one list of tokens', [1, 2, 3], [[1, 2, 3]]],
    ['lists of tokens', [[1, 2, 3], [4]], [[1, 2, 3], [4]]],
    ['a text', 'a', ['a']],
  ])('of %s are asked of the vendor as they came', async (_, input, sent) => {
    const { status, body } = await embed(input);
    expect([status, body.data.length, bench.acme.seen[0]?.body.input]).toEqual([200, sent.length, sent]);
  });

  test('of 2,048 inputs come all, in one call', async () => {
    const { body } = await embed(Array.from({ length: 2_048 }, () => 'a'));
    expect([body.data.length, body.data[2_047].index, bench.acme.seen.length]).toEqual([2_048, 2_047, 1]);
  });

  test.each([
    ['2,049 inputs', Array.from({ length: 2_049 }, () => 'a'), 'input'],
    ['none', [], 'input'],
    ['nothing', undefined, 'input'],
    ['an empty text', ['a', ''], 'input[1]'],
    ['an empty list of tokens', [[1], []], 'input[1]'],
    ['texts and tokens', ['a', [1]], 'input[1]'],
    ['tokens that are none', [[1], [-1.5]], 'input[1]'],
  ])('of %s are refused by the input, at both doors', async (_, input, param) => {
    for (const path of ['/v1/embeddings', '/v1/ai/embed']) {
      const { status, body } = await embed(input, path);
      expect([path, status, body.error.code, body.error.param]).toEqual([path, 400, 'VALIDATION_FAILED', param]);
    }
    expect(bench.acme.seen).toEqual([]);
  });

  test('in a form that is none are refused', async () => {
    const { status, body } = await bench.call('POST', '/v1/embeddings', { input: 'a', encoding_format: 'hex' });
    expect([status, body.error.param]).toEqual([400, 'encoding_format']);
  });
});

describe('tokens', () => {
  const count = async (body: object) => (await bench.call('POST', '/v1/ai/count_tokens', body)).body;
  const tokens = async (body: object): Promise<number> => (await count(body)).data.input_tokens;

  test('are counted of messages, tools and pictures, of texts and of lists of tokens, for nothing', async () => {
    const paid = await bench.spent(async () => {
      const plain = await tokens(say());
      const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
      expect(await tokens(say({ tools: [tool] }))).toBeGreaterThan(plain + 5);
      const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
      const seen = [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }, picture] }];
      expect(await tokens({ messages: seen })).toBe(plain + 1_600);
      expect(await tokens({ input: ['A boat', 'a pond'] })).toBe(4);
      expect(await tokens({ input: [[1, 2, 3], [4]] })).toBe(4);
      const { data, metadata } = await count(say());
      expect([data, metadata.cost_usd]).toEqual([{ input_tokens: plain, tokenizer: 'o200k', exact: false }, 0]);
    });
    expect([paid, bench.acme.seen]).toEqual([0n, []]);
  });

  test('of both, of neither and of what is no conversation are refused', async () => {
    const refusal = async (body: object) => (await count(body)).error.param;
    const sent = [{ ...say(), input: 'a' }, {}, { messages: [7] }, { input: [] }];
    expect(await Promise.all(sent.map(refusal))).toEqual(['messages', 'messages', 'messages[0]', 'input']);
  });
});

describe('models', () => {
  const open = async () => (await bench.call('GET', '/v1/models')).body;
  const enveloped = async (query = '') => (await bench.call('GET', `/v1/ai/models${query}`)).body;
  const words = ['auto', 'cheapest', 'smartest'];

  test('are listed by words, by vendor and by name; of a capability alone where that is asked', async () => {
    const { object, data } = await open();
    const chats = ['acme/m-1', 'corp/m-1', 'm-1'];
    const embeddings = ['acme/e-1', 'corp/e-1', 'e-1'];
    const idsOf = (list: Json) => list.map(({ id }: Json) => id);
    expect([object, new Set(idsOf(data))]).toEqual(['list', new Set([...words, ...chats, ...embeddings])]);
    expect((await enveloped()).data.items).toEqual(data);
    expect(idsOf((await enveloped('?capability=ai.chat')).data.items)).toEqual([...words, ...chats]);
    expect(idsOf((await enveloped('?capability=ai.embed')).data.items)).toEqual([...words, ...embeddings]);
    expect((await enveloped('?capability=ai.sing')).error).toMatchObject({
      code: 'VALIDATION_FAILED',
      param: 'capability',
    });
    // With 5 % on top.
    expect(data.find(({ id }: Json) => id === 'acme/m-1')).toEqual({
      id: 'acme/m-1',
      object: 'model',
      created: 0,
      owned_by: 'acme',
      vendor: 'acme',
      region: 'western',
      up: true,
      capabilities: ['ai.chat'],
      context_length: 100_000,
      max_output_tokens: 1_000,
      pricing: { input: 1.05, cached_input: 1.05, cache_write: 1.05, output: 2.1, per_image: 0, per_request: 0 },
    });
    expect(data.find(({ id }: Json) => id === 'm-1').vendor).toBeNull();
  });

  test.each(['acme/m-1', 'acme%2Fm-1', 'm-1', 'auto'])('one is shown by its id: %s', async (id) => {
    const { status, body } = await bench.call('GET', `/v1/models/${id}`);
    expect([status, body.id]).toEqual([200, decodeURIComponent(id)]);
  });

  test('one that there is not is told in the shape of the wire', async () => {
    const { status, headers, body } = await bench.call('GET', '/v1/models/acme/none');
    const error = {
      code: 'MODEL_NOT_FOUND',
      type: 'invalid_request_error',
      param: 'model',
      message: expect.any(String),
    };
    expect([status, headers.get('x-should-retry'), body.error]).toEqual([404, 'false', error]);
  });

  test('those of a vendor that is down are shown as down, a name while nobody who has it is up', async () => {
    const failing = vendorSays(500, 'server_error');
    bench.acme.next(...Array.from({ length: 5 }, () => failing));
    for (let i = 0; i < 5; i += 1) await bench.call('POST', CHAT, say({ model: 'acme/m-1' }));
    const up = async () => {
      const { data } = await open();
      return ['acme/m-1', 'corp/m-1', 'm-1', 'acme/e-1', 'auto'].map(
        (id) => data.find((one: Json) => one.id === id).up,
      );
    };
    await eventually(async () => (await up())[0] === false);
    // By capability: its embeddings have not failed.
    expect(await up()).toEqual([false, true, true, true, true]);
  });
});
