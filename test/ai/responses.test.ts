// The wire of responses at vendors: passed on as it is to those that speak it (acme), translated for others (corp).
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { completionOf, type Json } from '../support/ai/openai-double.ts';
import { client, createTestAccount } from '../support/service.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  bench = await AiVendors.start({ responses: true });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
/** 10 tokens in and 5 out, with 5 % on top. */
const AT_ACME = ((10n * 1_000n + 5n * 2_000n) * 105n) / 100n;
const thought = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' };
const part = { type: 'output_text', text: 'Hello there.', annotations: [{ type: 'url_citation', url: 'x' }] };
const message = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] };
const responseOf = (over: object = {}): Json => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_767_225_600,
  status: 'completed',
  model: 'm-1-2026',
  error: null,
  output: [thought, message],
  usage,
  service_tier: 'default',
  ...over,
});
const begun = responseOf({ status: 'in_progress', output: [], usage: null });
const place = { item_id: 'msg_1', output_index: 1, content_index: 0 };
const delta = (text: string) => ({ type: 'response.output_text.delta', ...place, delta: text });
const preamble = [
  { type: 'response.created', response: begun },
  { type: 'response.output_item.added', output_index: 0, item: thought },
];
const events: Json[] = [
  ...preamble,
  { type: 'response.output_item.added', output_index: 1, item: { ...message, content: [] } },
  { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
  ...[delta('Hello'), delta(' there.')],
  { type: 'response.something_new', anything: [1] },
  { type: 'response.completed', response: responseOf() },
].map((event, sequence) => ({ ...event, sequence_number: sequence }));
const frames = (some: readonly Json[]) =>
  some.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

const sent = {
  model: 'acme/m-1',
  input: [{ role: 'user', content: 'Hi.' }, thought],
  include: ['reasoning.encrypted_content'],
  max_output_tokens: 50,
  metadata: { a: 'b' },
  store: true,
  unknown: { deep: [1] },
};
const respond = (over: object = {}) => bench.call('POST', '/v1/responses', { ...sent, ...over });

async function streamed(over: object = {}): Promise<Json[]> {
  const text = await (await post({ ...sent, ...over, stream: true })).text();
  return text
    .split('\n\n')
    .flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
    .map((data) => JSON.parse(data));
}

function post(body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) };
  return fetch(`${bench.service.url}/v1/responses`, init);
}

test('a request goes as it came to a vendor that speaks the wire, but for the model, the limit and what is ours', async () => {
  bench.acme.next({ status: 200, body: responseOf() });
  const cost = await bench.spent(async () => {
    const { body, headers } = await respond({ vendor: 'acme', idempotency_key: 'r-1', max_output_tokens: undefined });
    const { service_metadata: told, ...rest } = body;
    expect(rest).toEqual(responseOf({ model: 'acme/m-1' }));
    expect(told).toMatchObject({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9, usage_estimated: false });
    expect(headers.get('x-qm-model')).toBe('acme/m-1');
  });
  expect(cost).toBe(AT_ACME);
  const [seen] = bench.acme.seen;
  expect(seen?.path).toBe('/v1/responses');
  expect(seen?.body).toEqual({ ...sent, model: 'm-1', max_output_tokens: 1_000, store: false });
});

test('its events come as they are, those that nobody here knows too; the last says what it cost', async () => {
  bench.acme.next({ stream: frames(events) });
  const cost = await bench.spent(async () => {
    const told = await streamed();
    const named = { ...events[0], response: { ...begun, model: 'acme/m-1' } };
    expect(told.slice(0, -1)).toEqual([named, ...events.slice(1, -1)]);
    const { response, type, sequence_number: sequence } = told.at(-1);
    const metadata = expect.objectContaining({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9 });
    expect([type, sequence]).toEqual(['response.completed', events.length - 1]);
    expect(response).toEqual({ ...responseOf({ model: 'acme/m-1' }), service_metadata: metadata });
  });
  expect(cost).toBe(AT_ACME);
});

test('a repeat of its key is the same response for nothing, in either form, as the official client reads it', async () => {
  // The client knows each event there is, and no other.
  bench.acme.next({ stream: frames(events.filter(({ type }) => !type.endsWith('new'))) });
  const key = { 'idempotency-key': 'r-2' };
  const openai = new OpenAI({ apiKey: bench.account.secret, baseURL: `${bench.service.url}/v1`, maxRetries: 0 });
  const ask = { model: 'acme/m-1', input: 'Hi.' };
  const first = await openai.responses.stream(ask, { headers: key }).finalResponse();
  const free = await bench.spent(async () => {
    const words: string[] = [];
    const again = openai.responses.stream(ask, { headers: key });
    again.on('response.output_text.delta', (event) => void words.push(event.delta));
    const whole = await again.finalResponse();
    expect([words.join(''), whole.output, whole.output_text]).toEqual(['Hello there.', first.output, 'Hello there.']);
    const plain = await openai.responses.create(ask, { headers: key });
    expect([plain.output, plain.usage]).toEqual([[thought, message], usage]);
  });
  expect(free).toBe(0n);
  expect(bench.acme.seen).toHaveLength(1);
});

test('what is cached of it is no answer to the same chat on another wire', async () => {
  bench.acme.next({ status: 200, body: responseOf() }, { status: 200, body: completionOf('A chat.') });
  const words = { model: 'acme/m-1', cache_ttl_seconds: 60 };
  const layer = async () => (await respond({ ...words, input: 'Hi.' })).body.service_metadata.cache_layer;
  expect([await layer(), await layer()]).toEqual(['l1_miss', 'l1_hit']);
  const chat = {
    ...words,
    messages: [{ role: 'user', content: 'Hi.' }],
    max_completion_tokens: 50,
    unknown: { deep: [1] },
  };
  const { body } = await bench.call('POST', '/v1/chat/completions', chat);
  expect([body.choices[0].message.content, body.service_metadata.cache_layer]).toEqual(['A chat.', 'l1_miss']);
});

const failed = {
  type: 'response.failed',
  response: responseOf({ status: 'failed', error: { code: 'server_error', message: 'no' } }),
};

test.each([
  ['a status', { status: 503, body: { error: { message: 'no', type: 'server_error' } } }],
  ['a failure in its preamble', { stream: frames([...preamble, failed]) }],
  ['an error event', { stream: frames([{ type: 'error', code: 'server_error', message: 'no' }]) }],
  ['an end without content', { stream: frames(preamble) }],
])('before its first content %s leads on to a vendor that speaks the other wire', async (_, deed) => {
  bench.acme.next(deed);
  const told = await streamed({ model: 'auto' });
  expect(told.map(({ type }) => type)).toContain('response.output_text.delta');
  expect(told.at(-1)).toMatchObject({ type: 'response.completed', response: { model: 'corp/m-1' } });
  expect(told.at(-1).response.service_metadata.failover_info.failover_reason).toBe('VENDOR_DOWN');
  expect(bench.corp.seen[0]).toMatchObject({ path: '/v1/chat/completions', body: { messages: [{ content: 'Hi.' }] } });
});

test('after it there is no other: the failure is told, and costs nothing; who leaves pays for what came', async () => {
  bench.acme.next({ stream: frames([...preamble, delta('Half'), failed]) });
  const cost = await bench.spent(async () => {
    const told = await streamed({ model: 'auto' });
    const { type, response } = told.at(-1);
    expect([type, response.id, response.status, response.error.code]).toEqual([
      'response.failed',
      'resp_1',
      'failed',
      'VENDOR_DOWN',
    ]);
  });
  expect(cost).toBe(0n);
  await bench.forgive();
  const { balance } = await bench.funds();
  bench.acme.next({ stream: frames([...preamble, delta('Half of it.')]), ends: 'silence' });
  const abort = new AbortController();
  const answer = await post({ ...sent, stream: true }, abort.signal);
  await answer.body?.getReader().read();
  abort.abort();
  await expect.poll(async () => (await bench.funds()).balance < balance).toBe(true);
  expect((await bench.funds()).held).toBe(0n);
});

test.each(['max_tokens', 'max_completion_tokens'])(
  'a limit that no model has is told by the name that was sent: %s',
  async (name) => {
    const body = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hello.' }], [name]: 5_000 };
    const call = client(bench.service.url, bench.account.secret);
    for (const path of ['/v1/ai/chat', '/v1/chat/completions'])
      expect((await call('POST', path, body)).body.error).toMatchObject({ param: name });
  },
);

test('a refusal names fields as the wire of responses calls them', async () => {
  const refusal = async (over: object, secret = bench.account.secret) => {
    const body = { input: 'Hello.', model: 'acme/m-1', ...over };
    return (await client(bench.service.url, secret)('POST', '/v1/responses', body)).body.error;
  };
  const picture = { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] };
  expect(await refusal({ input: [picture] })).toMatchObject({ code: 'VALIDATION_FAILED', param: 'input' });
  expect(await refusal({ input: [{ role: 7 }] })).toMatchObject({ param: 'input[0].role' });
  expect(await refusal({ input: [thought] })).toMatchObject({ param: 'input' });
  expect(await refusal({ input: 'word '.repeat(120_000) })).toMatchObject({ param: 'input' });
  expect(await refusal({ max_output_tokens: 5_000 })).toMatchObject({ param: 'max_output_tokens' });
  const poor = await createTestAccount(bench.service.core, 0.0005);
  const refused = await refusal({ max_output_tokens: 1_000 }, poor.secret);
  expect([refused.code, refused.message]).toEqual([
    'INSUFFICIENT_CREDIT',
    expect.stringContaining('set max_output_tokens'),
  ]);
});
