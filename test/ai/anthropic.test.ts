// The Messages API behind the chat-completions wire: what the vendor is sent, and what comes of its answers, whole and in pieces.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { anthropicModels } from '../../src/modules/ai/vendors/anthropic/index.ts';
import type { AiCall, AiModel, ChatPiece } from '../../src/modules/ai/vendors/port.ts';
import { createOutboundClient } from '../../src/vendors/http/client.ts';
import type { OutboundClient } from '../../src/vendors/http/port.ts';
import { type Json, OpenaiDouble } from '../support/ai/openai-double.ts';

let vendor: OpenaiDouble;
let outbound: OutboundClient;
beforeAll(async () => {
  vendor = await OpenaiDouble.start('');
  outbound = createOutboundClient({ allowPrivateTargets: [] });
});
afterAll(async () => {
  await outbound.close();
  await vendor.stop();
});
afterEach(() => vendor.reset());

const usage = { input_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 4 };
const message = (content: Json[], over: object = {}) => ({
  status: 200,
  body: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: 'end_turn',
    usage,
    ...over,
  },
});

function ask(body: Json, { stream = false, ...model }: Partial<AiModel> & { stream?: boolean } = {}) {
  const timeouts = { connectMs: 1_000, firstContentMs: 2_000, idleMs: 500, totalMs: 5_000 };
  const call: AiCall = {
    baseUrl: vendor.url,
    key: 'the-key',
    assetHosts: [],
    timeouts,
    outbound,
    signal: new AbortController().signal,
    holdPicture: () => undefined,
    markAccepted: () => undefined,
    countDroppedLine: () => undefined,
  };
  const row = { id: 'claude', jsonSchema: null, reasoning: false, options: {}, ...model };
  return anthropicModels.chat(call, { model: row, body, outputTokensMax: 50, stream, inputTokens: 1 });
}

async function answered(body: Json, model: Partial<AiModel> = {}) {
  const reply = await ask(body, model);
  if (reply.kind !== 'completed') throw new Error(JSON.stringify(reply));
  return reply;
}

async function streamed(
  frames: Json[],
  model: Partial<AiModel> = {},
  body: Json = { messages: [{ role: 'user', content: 'Hi' }] },
) {
  vendor.next({ stream: frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`) });
  const reply = await ask(body, { ...model, stream: true });
  if (reply.kind !== 'stream') throw new Error(JSON.stringify(reply));
  return Array.fromAsync(reply.pieces);
}

const deltas = (pieces: ChatPiece[]): Json[] =>
  pieces.flatMap((piece) => (piece.kind === 'chunk' ? (piece.chunk.choices as Json)[0].delta : []));

/** Everything that a client may send. */
const call = { id: 't1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
const whole = {
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    { role: 'user', content: 'And rain?' },
    { role: 'assistant', content: null, tool_calls: [call, { ...call, id: 't2' }] },
    { role: 'tool', tool_call_id: 't1', content: 'No.' },
    { role: 'tool', tool_call_id: 't2', content: 'Yes.' },
    { role: 'user', content: 'So?' },
  ],
  tools: [{ type: 'function', function: { name: 'weather', description: 'd', parameters: { type: 'object' } } }],
  tool_choice: 'required',
  parallel_tool_calls: false,
  stop: 'END',
  temperature: 0.1,
  user: 'u',
  unknown: 1,
};

describe('the vendor is sent', () => {
  test('system apart, turns that alternate, tools, results in one turn, images, a limit, its key and version', async () => {
    vendor.next(message([{ type: 'text', text: 'Hi.' }]));
    await answered(whole);
    const [seen] = vendor.seen;
    expect(seen?.path).toBe('/v1/messages');
    expect(seen?.headers).toMatchObject({ 'x-api-key': 'the-key', 'anthropic-version': '2023-06-01' });
    expect(seen?.body).toEqual({
      model: 'claude',
      max_tokens: 50,
      temperature: 0.1,
      system: 'Be brief.\n\nBe kind.',
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      tools: [{ name: 'weather', description: 'd', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'text', text: 'And rain?' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Rome' } },
            { type: 'tool_use', id: 't2', name: 'weather', input: { city: 'Rome' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: 'No.' },
            { type: 'tool_result', tool_use_id: 't2', content: 'Yes.' },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    });
  });

  test('nothing, where it cannot do what is asked', async () => {
    expect(await ask({ messages: [{ role: 'user', content: 'x' }], n: 2 })).toMatchObject({
      kind: 'refused',
      reason: 'VALIDATION_FAILED',
    });
    expect(vendor.seen).toHaveLength(0);
  });
});

describe('an answer', () => {
  const body = { messages: [{ role: 'user', content: 'Hi' }] };

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'content_filter'],
  ])('that stops by %s finishes by %s', async (stop_reason, finish) => {
    vendor.next(message([{ type: 'text', text: 'Hi.' }], { stop_reason }));
    const { completion, usage: counted } = await answered(body);
    expect(completion.choices).toEqual([
      { index: 0, message: { role: 'assistant', content: 'Hi.' }, logprobs: null, finish_reason: finish },
    ]);
    expect(counted).toMatchObject({ inputTokens: 6, cachedInputTokens: 2, cacheWriteTokens: 1, outputTokens: 4 });
  });

  test('has its thoughts and tool calls', async () => {
    const use = { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Rome' } };
    vendor.next(message([{ type: 'thinking', thinking: 'Hm.' }, use], { stop_reason: 'tool_use' }));
    const { completion } = await answered(body);
    expect((completion.choices as Json)[0]).toMatchObject({
      message: {
        content: null,
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 't1', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
      },
      finish_reason: 'tool_calls',
    });
  });

  test('of a schema comes by a forced tool where the model has no other way', async () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const format = { type: 'json_schema', json_schema: { name: 'sum', schema } };
    vendor.next(
      message([{ type: 'tool_use', id: 't', name: 'sum', input: { a: 1 } }], { stop_reason: 'tool_use' }),
      message([{ type: 'text', text: '{}' }]),
    );
    const { completion } = await answered({ ...body, response_format: format }, { jsonSchema: 'tool' });
    expect((completion.choices as Json)[0]).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'stop' });
    expect(vendor.seen[0]?.body).toMatchObject({
      tool_choice: { type: 'tool', name: 'sum' },
      tools: [{ name: 'sum', input_schema: schema }],
    });
    await answered({ ...body, response_format: format }, { jsonSchema: 'native' });
    expect(vendor.seen[1]?.body.output_config).toEqual({ format: { type: 'json_schema', schema } });
  });

  test.each([
    [529, 'overloaded_error', 'VENDOR_DOWN'],
    [500, 'api_error', 'VENDOR_DOWN'],
    [429, 'rate_limit_error', 'RATE_LIMIT_VENDOR'],
    [401, 'authentication_error', 'VENDOR_AUTH_ERROR'],
    [400, 'invalid_request_error', 'VALIDATION_FAILED'],
    [404, 'not_found_error', 'VENDOR_ERROR'],
  ])('%i %s is %s', async (status, type, reason) => {
    vendor.next({ status, body: { type: 'error', error: { type, message: 'no' } } });
    expect(await ask(body)).toMatchObject({ kind: 'refused', reason });
  });
});

describe('a stream', () => {
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude', usage: { ...usage, output_tokens: 1 } },
  };
  const text = (index: number, piece: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text: piece },
  });
  const end = (stop_reason: string, output_tokens = 9) => [
    { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens } },
    { type: 'message_stop' },
  ];

  test('has its preamble, its text, why it ends and what it used in all', async () => {
    const pieces = await streamed([start, { type: 'ping' }, text(0, 'He'), text(0, 'llo'), ...end('end_turn')]);
    expect(pieces.filter((piece) => piece.kind === 'chunk').map(({ hasContent }) => hasContent)).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(
      deltas(pieces)
        .map(({ content }) => content ?? '')
        .join(''),
    ).toBe('Hello');
    expect(pieces.slice(-2)).toEqual([
      { kind: 'usage', usage: expect.objectContaining({ inputTokens: 6, outputTokens: 9 }) },
      { kind: 'end' },
    ]);
  });

  test('has tool calls by number, their arguments in pieces', async () => {
    const use = (index: number, id: string) => [
      { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name: 'weather', input: {} } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: ':1}' } },
    ];
    const calls = deltas(await streamed([start, ...use(0, 't1'), ...use(2, 't2'), ...end('tool_use')])).flatMap(
      ({ tool_calls: all }) => all ?? [],
    );
    expect(calls.filter(({ id }) => id).map(({ index, id }) => [index, id])).toEqual([
      [0, 't1'],
      [1, 't2'],
    ]);
    const args = (number: number) =>
      calls
        .filter(({ index }) => index === number)
        .map((call) => call.function.arguments)
        .join('');
    expect([args(0), args(1)]).toEqual(['{"a":1}', '{"a":1}']);
  });

  test('of a forced tool is the text of the answer', async () => {
    const frames = [
      start,
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'sum', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      ...end('tool_use'),
    ];
    const format = { type: 'json_schema', json_schema: { name: 'sum', schema: {} } };
    const pieces = await streamed(
      frames,
      { jsonSchema: 'tool' },
      { messages: [{ role: 'user', content: 'x' }], response_format: format },
    );
    expect(
      deltas(pieces)
        .map(({ content }) => content ?? '')
        .join(''),
    ).toBe('{"a":1}');
  });

  test.each([
    ['before content', [start]],
    ['after content', [start, text(0, 'Half')]],
  ])('that fails %s says why, and what it had used by then', async (_when, frames) => {
    const pieces = await streamed([...frames, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }]);
    expect(pieces.at(-1)).toMatchObject({ kind: 'failed', failure: { reason: 'VENDOR_DOWN' } });
    const counted = pieces.filter((piece) => piece.kind === 'usage');
    expect(counted).toEqual([{ kind: 'usage', usage: expect.objectContaining({ inputTokens: 6 }), isPartial: true }]);
  });

  test('that stops without its end has failed', async () => {
    expect((await streamed([start, text(0, 'Half')])).at(-1)).toMatchObject({ kind: 'failed' });
  });
});
