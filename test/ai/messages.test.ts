// Anthropic's Messages at vendors: passed on as it is to those that speak it (acme), said as a chat to others (corp). The table of what
// Claude Code asks of a gateway is that of its "Gateway protocol reference".
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  chunk,
  completionOf,
  done,
  frame,
  type Json,
  usage as openaiUsage,
  opening,
} from '../support/ai/openai-double.ts';
import { anthropicWire } from '../support/ai/wires.ts';
import { client } from '../support/service.ts';
import { AiVendors } from './vendors-bench.ts';

let bench: AiVendors;
beforeAll(async () => {
  const narrow = {
    id: 'm-narrow',
    price: { input: 5, output: 10 },
    betas: ['kept-2026-01-01'],
    context: 20_000,
  };
  bench = await AiVendors.start({ images: true }, anthropicWire, {}, { models: [narrow] });
});
afterAll(() => bench?.stop());
afterEach(() => bench.forgive());

const BETAS = 'claude-code-20250219,context-management-2025-06-27,fine-grained-tool-streaming-2025-05-14';
const WIRE = { 'anthropic-version': '2023-06-01' };
const usage = { input_tokens: 10, cache_read_input_tokens: 20, cache_creation_input_tokens: 30, output_tokens: 5 };
/** Input, cached or not, at one price; 5 % on top. */
const AT_ACME = ((60n * 1_000n + 5n * 2_000n) * 105n) / 100n;
const AT_CORP = ((10n * 1_200n + 5n * 2_400n) * 105n) / 100n;

const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' };
const use = { type: 'tool_use', id: 'toolu_01', name: 'Bash', input: { command: 'ls' } };
const messageOf = (over: object = {}): Json => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-1-2026',
  content: [thought, { type: 'text', text: 'Hello there.' }, use],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage,
  ...over,
});
const block = (index: number, opened: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block: opened },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const start = {
  type: 'message_start',
  message: messageOf({ content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }),
};
const delta = {
  type: 'message_delta',
  delta: { stop_reason: 'tool_use', stop_sequence: null },
  usage: { output_tokens: 5 },
};
const stop = { type: 'message_stop' };
const text = (words: string) => ({ type: 'text_delta', text: words });
const events: Json[] = [
  start,
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'Hm.' },
    { type: 'signature_delta', signature: 'c2lnbmVk' },
  ),
  ...block(1, { type: 'text', text: '' }, text('Hello'), text(' there.')),
  ...block(
    2,
    { ...use, input: {} },
    { type: 'input_json_delta', partial_json: '{"command"' },
    { type: 'input_json_delta', partial_json: ':"ls"}' },
  ),
  { type: 'something_new', anything: [1] },
  delta,
  stop,
];
const frames = (some: readonly Json[]) =>
  some.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

/** All that Claude Code sends beside the plainest: fields and marks that nobody here knows too. */
const sent = {
  model: 'acme/m-1',
  max_tokens: 50,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' },
    { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral', ttl: '1h' } },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'List.', cache_control: { type: 'ephemeral' } }] },
    { role: 'assistant', content: [thought, { type: 'redacted_thinking', data: 'c2VhbGVk' }, use] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'a.txt' }] },
  ],
  tools: [
    { name: 'Bash', input_schema: { type: 'object' }, strict: true, defer_loading: false, eager_input_streaming: true },
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
  ],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  metadata: { user_id: 'user_1' },
  something_new: { deep: [1] },
};

function post(
  body: object,
  headers: Record<string, string> = {},
  path = '/v1/messages?beta=true',
  signal?: AbortSignal,
) {
  const own = { authorization: `Bearer ${bench.account.secret}`, 'content-type': 'application/json', ...WIRE };
  const init = { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(body) };
  return fetch(`${bench.service.url}${path}`, signal === undefined ? init : { ...init, signal });
}

async function told(body: object, headers: Record<string, string> = {}): Promise<Json[]> {
  const answer = await post({ ...body, stream: true }, headers);
  expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
  return (await answer.text()).split('\n\n').flatMap((one) => {
    const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(one) ?? [];
    if (data === undefined) return [];
    expect(JSON.parse(data).type).toBe(event);
    return [JSON.parse(data)];
  });
}

const anthropic = (over: object = {}) =>
  new Anthropic({ apiKey: bench.account.secret, baseURL: bench.service.url, maxRetries: 0, ...over });

describe('what Claude Code asks of a gateway', () => {
  test('the body, anthropic-version and anthropic-beta reach the vendor as they came; model and limit are replaced', async () => {
    bench.acme.next({ status: 200, body: messageOf() });
    const cost = await bench.spent(async () => {
      const answer = await post({ ...sent, cache_ttl_seconds: 60 }, { 'anthropic-beta': BETAS });
      const { usage: used, ...rest } = (await answer.json()) as Json;
      const { usage: _, ...wanted } = messageOf({ model: 'acme/m-1' });
      expect(rest).toEqual(wanted);
      const metadata = expect.objectContaining({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9 });
      expect(used).toEqual({ ...usage, service_metadata: metadata });
      expect(answer.headers.get('request-id')).toBe(answer.headers.get('x-request-id'));
    });
    expect(cost).toBe(AT_ACME);
    const [seen] = bench.acme.seen;
    expect(seen?.path).toBe('/v1/messages');
    expect(seen?.body).toEqual({ ...sent, model: 'm-1' });
    expect(seen?.headers).toMatchObject({ ...WIRE, 'anthropic-beta': BETAS, 'x-api-key': 'vendor-key' });
    expect(seen?.headers.authorization).toBeUndefined();
  });

  test('events reach the client as they came, those that nobody here knows too; message_delta says what it cost', async () => {
    bench.acme.next({ stream: frames([{ type: 'ping' }, ...events]) });
    const cost = await bench.spent(async () => {
      const all = await told(sent);
      const named = { ...start, message: { ...start.message, model: 'acme/m-1' } };
      expect(all.slice(0, -2)).toEqual([named, ...events.slice(1, -2)]);
      const metadata = expect.objectContaining({ vendor: 'acme', cost_usd: Number(AT_ACME) / 1e9 });
      expect(all.slice(-2)).toEqual([{ ...delta, usage: { ...usage, service_metadata: metadata } }, stop]);
    });
    expect(cost).toBe(AT_ACME);
    expect(bench.acme.seen[0]?.body).toEqual({ ...sent, model: 'm-1', stream: true });
  });

  test.each([
    ['ANTHROPIC_AUTH_TOKEN', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['ANTHROPIC_API_KEY', (key: string) => ({ authorization: '', 'x-api-key': key })],
    ['a helper, in both', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
    [
      'ANTHROPIC_AUTH_TOKEN beside a key of Anthropic',
      (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': 'sk-ant-x' }),
    ],
  ])('the key by %s', async (_, headersOf) => {
    const key = headersOf(bench.account.secret) as Record<string, string>;
    const kept = Object.fromEntries(Object.entries(key).filter(([, value]) => value !== ''));
    const body = JSON.stringify({ model: 'acme/m-1', max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }] });
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const { status } = await fetch(`${bench.service.url}${path}`, {
        method: 'POST',
        headers: { ...kept, ...WIRE },
        body,
      });
      expect([path, status]).toEqual([path, 200]);
    }
    expect(
      (await fetch(`${bench.service.url}/v1/models?limit=1000`, { headers: kept, redirect: 'error' })).status,
    ).toBe(200);
  });

  test('the vendor says in its own words why it refuses a body', async () => {
    const words = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    const body = { type: 'error', error: { type: 'invalid_request_error', message: words } };
    bench.acme.next({ status: 400, body });
    const answer = await post(sent);
    expect(answer.status).toBe(400);
    const { error, type } = (await answer.json()) as Json;
    expect([type, error.type, error.message]).toEqual(['error', 'invalid_request_error', words]);
  });

  test('retry-after is whole seconds; what a repeat does not mend is not repeated', async () => {
    const busy = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
    bench.acme.next({ status: 429, body: busy, headers: { 'retry-after': '7' } });
    const answer = await post(sent);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
    const { error, request_id: id, service_metadata: metadata } = (await answer.json()) as Json;
    expect(error).toMatchObject({ type: 'rate_limit_error', code: 'RATE_LIMIT_VENDOR' });
    expect([id, metadata.request_id]).toEqual([answer.headers.get('request-id'), id]);
    await bench.forgive();
    const poor = await bench.poor(0);
    const refused = await poor('POST', '/v1/messages', sent);
    expect([refused.status, refused.body.error.type, refused.headers.get('x-should-retry')]).toEqual([
      402,
      'billing_error',
      'false',
    ]);
  });

  test('HEAD / is answered; a path that is not here is 404 in the shape of the wire', async () => {
    expect((await fetch(bench.service.url, { method: 'HEAD' })).status).toBeLessThan(500);
    const answer = await post({}, {}, '/v1/messages/batches');
    expect([answer.status, ((await answer.json()) as Json).error.type]).toEqual([404, 'not_found_error']);
  });

  test('models are listed with ids that it takes, in the shape of the wire where anthropic-version is sent', async () => {
    const listed = await Array.fromAsync(anthropic().models.list({ limit: 2 }));
    const ids = listed.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['auto', 'acme/m-1', 'm-1', 'corp/m-1']));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.some((id) => id.includes('e-1'))).toBe(false);
    expect(listed.find(({ id }) => id === 'acme/m-1')).toMatchObject({
      type: 'model',
      display_name: 'acme/m-1',
      max_tokens: 1_000,
    });
    expect(await anthropic().models.retrieve('acme/m-1')).toMatchObject({ id: 'acme/m-1', type: 'model' });
    await expect(anthropic().models.retrieve('acme/m-2')).rejects.toMatchObject({
      status: 404,
      type: 'not_found_error',
    });
    const openais = await bench.call('GET', '/v1/models');
    expect(openais.body.object).toBe('list');
    const pages = await bench.call('GET', '/v1/models?limit=0', undefined, WIRE);
    expect(pages.body.error).toMatchObject({ type: 'invalid_request_error', param: 'limit' });
  });

  test('tokens are counted for nothing, and as they are held for', async () => {
    const free = await bench.spent(async () => {
      const { input_tokens: few } = await anthropic().messages.countTokens({
        model: 'acme/m-1',
        messages: [{ role: 'user', content: 'Hi.' }],
      });
      const { input_tokens: many } = await anthropic().messages.countTokens(
        sent as unknown as Anthropic.MessageCountTokensParams,
      );
      expect(few).toBeGreaterThan(3);
      expect(many).toBeGreaterThan(few + 50);
    });
    expect(free).toBe(0n);
    expect(bench.acme.seen).toHaveLength(0);
  });

  test('only betas that the operator lets through reach a row with a list of them', async () => {
    for (const betas of ['other-2026-01-01, kept-2026-01-01', 'other-2026-01-01']) {
      bench.acme.next({ status: 200, body: messageOf() });
      await post({ ...sent, model: 'acme/m-narrow' }, { 'anthropic-beta': betas });
    }
    expect(bench.acme.seen.map(({ headers }) => headers['anthropic-beta'])).toEqual(['kept-2026-01-01', undefined]);
  });

  test.each([
    ['by address', { type: 'document', source: { type: 'url', url: 'https://example.org/long.pdf' } }],
    ['by id', { type: 'document', source: { type: 'file', file_id: 'file_1' } }],
    ['in a container', { type: 'container_upload', file_id: 'file_1' }],
  ])('what the vendor alone reads, named %s, is paid as it was read', async (_, named) => {
    bench.acme.next({ status: 200, body: messageOf({ usage: { input_tokens: 15_000, output_tokens: 5 } }) });
    const content = [named, { type: 'text', text: 'What is it?' }];
    const ask = { ...sent, model: 'acme/m-narrow', max_tokens: 10, messages: [{ role: 'user', content }] };
    const cost = await bench.spent(async () => expect((await post(ask)).status).toBe(200));
    expect(cost).toBe(((15_000n * 5_000n + 5n * 10_000n) * 105n) / 100n);
  });

  test.each([
    ['anthropic-version', '2023'],
    ['anthropic-beta', 'a;b'],
    ['anthropic-beta', `${'x'.repeat(5_000)}`],
  ])('%s that is none is refused by its name', async (name, value) => {
    const { error } = (await (await post(sent, { [name]: value })).json()) as Json;
    expect(error).toMatchObject({ type: 'invalid_request_error', param: name });
    expect(bench.acme.seen).toHaveLength(0);
  });
});

test('the official client streams a message with thoughts and tools; a repeat of its key is the same for nothing', async () => {
  bench.acme.next({ stream: frames(events.filter(({ type }) => type !== 'something_new')) });
  const ask = sent as unknown as Anthropic.MessageStreamParams;
  const key = { headers: { 'idempotency-key': 'm-1' } };
  const first = await anthropic().messages.stream(ask, key).finalMessage();
  expect(first).toMatchObject({ content: messageOf().content, stop_reason: 'tool_use', usage });
  const free = await bench.spent(async () => {
    const words: string[] = [];
    const again = await anthropic()
      .messages.stream(ask, key)
      .on('text', (piece) => void words.push(piece))
      .finalMessage();
    const plain = await anthropic().messages.create(
      { ...ask, stream: false } as Anthropic.MessageCreateParamsNonStreaming,
      key,
    );
    expect([words.join(''), again.content, plain.content]).toEqual(['Hello there.', first.content, first.content]);
    expect(plain.usage).toMatchObject({ ...usage, service_metadata: { idempotent_replay: true, cost_usd: 0 } });
  });
  expect([free, bench.acme.seen.length]).toEqual([0n, 1]);
});

test('an answer is cached by the whole request and its betas, and for this wire alone', async () => {
  bench.acme.rule = () => ({ status: 200, body: messageOf() });
  const layer = async (over: object, betas = 'a') => {
    const answer = await post({ ...sent, cache_ttl_seconds: 60, ...over }, { 'anthropic-beta': betas });
    return ((await answer.json()) as Json).usage.service_metadata.cache_layer;
  };
  expect([
    await layer({}),
    await layer({}),
    await layer({}, 'b'),
    await layer({ metadata: { user_id: 'other' } }),
  ]).toEqual(['l1_miss', 'l1_hit', 'l1_miss', 'l1_miss']);
});

/** The same, as much of it as a chat can say. */
const plain = {
  model: 'corp/m-1',
  max_tokens: 32_000,
  system: sent.system,
  messages: [
    ...sent.messages.slice(0, 2),
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_01', is_error: true, content: [{ type: 'text', text: 'No.' }] },
        { type: 'text', text: 'So?', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
  tools: sent.tools.slice(0, 1),
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  stop_sequences: ['END'],
  temperature: 0.5,
  top_k: 5,
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
  context_management: sent.context_management,
  metadata: sent.metadata,
};

describe('a vendor that does not speak the wire', () => {
  test('is asked by a chat that says the same', async () => {
    bench.corp.next({ status: 200, body: completionOf('Hello.') });
    const cost = await bench.spent(async () => {
      const body = (await (await post(plain)).json()) as Json;
      expect(body).toMatchObject({
        id: 'msg_chatcmpl-1',
        type: 'message',
        role: 'assistant',
        model: 'corp/m-1',
        content: [{ type: 'text', text: 'Hello.' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0 },
      });
      expect(body.usage.service_metadata.warnings).toEqual([expect.stringMatching(/^max_tokens: 1000/)]);
    });
    expect(cost).toBe(AT_CORP);
    expect(bench.corp.seen[0]?.body).toEqual({
      model: 'm-1',
      max_tokens: 1_000,
      messages: [
        { role: 'system', content: 'x-anthropic-billing-header: cc_version=2\n\nYou are an agent.' },
        { role: 'user', content: [{ type: 'text', text: 'List.' }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'toolu_01', type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } }],
        },
        { role: 'tool', tool_call_id: 'toolu_01', content: 'Error: No.' },
        { role: 'user', content: [{ type: 'text', text: 'So?' }] },
      ],
      tools: [{ type: 'function', function: { name: 'Bash', parameters: { type: 'object' }, strict: true } }],
      tool_choice: 'required',
      parallel_tool_calls: false,
      stop: ['END'],
      temperature: 0.5,
      top_k: 5,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    });
  });

  const call = (index: number, piece: string, id?: string) =>
    frame(
      chunk({
        tool_calls: [{ index, ...(id === undefined ? {} : { id }), function: { name: `f${index}`, arguments: piece } }],
      }),
    );
  const ended = (reason: string) => [
    frame(chunk({}, reason)),
    frame({ ...chunk({}), choices: [], usage: openaiUsage }),
    done,
  ];

  test('streams thoughts, text and calls as blocks that follow one another, with its usage at the end', async () => {
    bench.corp.next({
      stream: [
        opening,
        frame(chunk({ reasoning_content: 'Hm.' })),
        frame(chunk({ content: 'Hel' })),
        frame(chunk({ content: 'lo.' })),
        ...[call(0, '{"a"', 'c0'), call(0, ':1}'), call(1, '{}', 'c1')],
        ...ended('tool_calls'),
      ],
    });
    const all = await told({ ...plain, output_config: {} });
    expect(all.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
      'message_start',
      ...['content_block_start 0', 'content_block_delta 0', 'content_block_stop 0'],
      ...['content_block_start 1', 'content_block_delta 1', 'content_block_delta 1', 'content_block_stop 1'],
      ...['content_block_start 2', 'content_block_delta 2', 'content_block_delta 2', 'content_block_stop 2'],
      ...['content_block_start 3', 'content_block_delta 3', 'content_block_stop 3'],
      ...['message_delta', 'message_stop'],
    ]);
    const { delta: why, usage: used } = all.at(-2);
    expect([why.stop_reason, used.input_tokens, used.output_tokens]).toEqual(['tool_use', 10, 5]);
    expect(used.service_metadata).toMatchObject({ vendor: 'corp', cost_usd: Number(AT_CORP) / 1e9 });
  });

  test('that tells calls side by side is put in order', async () => {
    bench.corp.next({
      stream: [opening, call(0, '{"a"', 'c0'), call(1, '{"b"', 'c1'), call(0, ':1}'), call(1, ':2}'), ...ended('stop')],
    });
    const { content, stop_reason: reason } = await anthropic()
      .messages.stream({ ...plain, output_config: {} } as unknown as Anthropic.MessageStreamParams)
      .finalMessage();
    expect(content).toMatchObject([
      { type: 'tool_use', id: 'c0', name: 'f0', input: { a: 1 } },
      { type: 'tool_use', id: 'c1', name: 'f1', input: { b: 2 } },
    ]);
    expect(reason).toBe('tool_use');
  });

  test.each([
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['stop', 'end_turn'],
  ])('that finishes by %s stops by %s', async (finish, reason) => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: finish }];
    bench.corp.next({ status: 200, body: completionOf('', { choices }) });
    expect(((await (await post({ ...plain, output_config: {} })).json()) as Json).stop_reason).toBe(reason);
  });

  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });
  test.each([
    [
      'messages[0].content[1].type',
      user({ type: 'text', text: 'a' }, { type: 'document', source: { type: 'base64', data: 'AA' } }),
    ],
    [
      'messages[0].content[0].content[0].type',
      user({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'search_result' }] }),
    ],
    ['tools[1].type', { tools: sent.tools }],
    ['mcp_servers', { mcp_servers: [{ url: 'x' }] }],
    ['something_new', { something_new: 1 }],
    ['context_management.edits[0].type', { context_management: { edits: [{ type: 'compact_20260112' }] } }],
    ['output_config.task_budget', { output_config: { task_budget: {} } }],
    ['messages', user(picture)],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content[0].text', user({ type: 'text', text: 1 })],
    ['messages[0].content', { messages: [{ role: 'user', content: 7 }] }],
    ['messages', { messages: [] }],
    ['max_tokens', { max_tokens: 'x' }],
    ['stop_sequences', { stop_sequences: 'END' }],
    ['tools[0].name', { tools: [{ input_schema: {} }] }],
    ['tool_choice.type', { tool_choice: 'any' }],
    ['stream', { stream: 'yes' }],
  ])('is not asked what a chat cannot say: %s', async (field, over) => {
    const answer = await post({ ...plain, ...over });
    const { type, error } = (await answer.json()) as Json;
    expect([answer.status, type, error.type, error.param]).toEqual([400, 'error', 'invalid_request_error', field]);
    expect(error.message).toContain(field);
    expect(bench.corp.seen).toHaveLength(0);
  });

  test('is asked in place of one that does, and its thoughts never go to that', async () => {
    bench.acme.next({ status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } } });
    bench.corp.next({
      stream: [
        opening,
        frame(chunk({ reasoning_content: 'Hm.' })),
        frame(chunk({ content: 'Yes.' })),
        ...ended('stop'),
      ],
    });
    const ask = { ...plain, model: 'auto', output_config: {} } as unknown as Anthropic.MessageStreamParams;
    const message = await anthropic().messages.stream(ask).finalMessage();
    expect(message).toMatchObject({
      model: 'corp/m-1',
      content: [{ type: 'thinking', thinking: 'Hm.' }, { text: 'Yes.' }],
    });
    await bench.forgive();
    const turns = [
      ...plain.messages,
      { role: 'assistant', content: message.content },
      { role: 'user', content: 'On.' },
    ];
    await post({ ...plain, model: 'acme/m-1', messages: turns });
    expect(bench.acme.seen[0]?.body.messages.at(-2).content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });
});

describe('a stream that does not come to its end', () => {
  const half = frames([start, ...block(1, { type: 'text', text: '' }, text('Half of it.')).slice(0, 2)]);
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };

  test('tells what went wrong in an error event, and costs what the vendor said by then', async () => {
    bench.acme.next({ stream: [...half, ...frames([overloaded])] });
    const cost = await bench.spent(async () => {
      const failure = await anthropic()
        .messages.stream(sent as unknown as Anthropic.MessageStreamParams)
        .finalMessage()
        .catch((error: unknown) => error);
      expect(failure).toMatchObject({
        type: 'api_error',
        error: { error: { code: 'VENDOR_DOWN' }, service_metadata: { usage_estimated: false } },
      });
    });
    // As message_start tells it.
    expect(cost).toBe(((60n * 1_000n + 1n * 2_000n) * 105n) / 100n);
  });

  test.each([
    ['of a vendor that stalls', 'silence'],
    ['of a vendor that breaks off', 'reset'],
  ] as const)('%s ends with an error event', async (_, ends) => {
    bench.acme.next({ stream: half, ends });
    const all = await told(sent);
    expect(all.at(-1)).toMatchObject({
      type: 'error',
      error: { type: expect.stringMatching(/^(api|timeout)_error$/) },
    });
    expect((await bench.funds()).held).toBe(0n);
  });

  test('of a vendor that only pings is refused in time, and another is asked', async () => {
    bench.acme.next({
      opening: frames([start]).join(''),
      endless: frames([{ type: 'ping' }])
        .join('')
        .repeat(100),
    });
    const all = await told({ ...plain, model: 'auto', output_config: {} });
    expect(all.at(-2).usage.service_metadata).toMatchObject({ vendor: 'corp' });
    await expect.poll(() => bench.acme.seen[0]?.left).toBe(true);
  });

  test('of a client that leaves costs the input and what had come, counted', async () => {
    const { balance } = await bench.funds();
    bench.acme.next({ stream: half, ends: 'silence' });
    const abort = new AbortController();
    const answer = await post({ ...sent, stream: true }, {}, '/v1/messages', abort.signal);
    await answer.body?.getReader().read();
    abort.abort();
    await expect.poll(async () => (await bench.funds()).balance < balance).toBe(true);
    const left = await bench.funds();
    expect(left.held).toBe(0n);
    const words = 4n;
    expect(balance - left.balance).toBe(((60n * 1_000n + words * 2_000n) * 105n) / 100n);
    await expect.poll(() => bench.acme.seen[0]?.left).toBe(true);
  });
});

describe('a body that has too much is refused by its field', () => {
  const nested = (levels: number) => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);
  const many = (count: number, what: object) => Array.from({ length: count }, () => what);
  test.each([
    ['tools', { tools: many(20_000, { name: 'a', input_schema: {} }) }],
    ['messages', { messages: many(10_001, { role: 'user', content: 'a' }) }],
    ['messages', { messages: [{ role: 'user', content: many(10_001, { type: 'text', text: 'a' }) }] }],
    ['tools', { tools: [{ name: 'a', input_schema: nested(200) }] }],
    ['something_new', { something_new: nested(200) }],
  ])('%s', async (field, over) => {
    for (const path of ['/v1/messages', '/v1/messages/count_tokens']) {
      const { error } = (await (await post({ ...sent, ...over }, {}, path)).json()) as Json;
      expect(error).toMatchObject({ type: 'invalid_request_error', param: field });
    }
    expect(bench.acme.seen).toHaveLength(0);
  });

  test.each(['{', '[]', '"a"', '{"messages":'])('%s is no request', async (raw) => {
    const headers = { authorization: `Bearer ${bench.account.secret}` };
    const answer = await fetch(`${bench.service.url}/v1/messages`, { method: 'POST', headers, body: raw });
    expect([answer.status, ((await answer.json()) as Json).type]).toEqual([400, 'error']);
  });

  test('a key that is none is an authentication_error', async () => {
    const { status, body } = await client(bench.service.url, 'none')('POST', '/v1/messages', sent);
    expect([status, body.type, body.error.type]).toEqual([401, 'error', 'authentication_error']);
  });
});
