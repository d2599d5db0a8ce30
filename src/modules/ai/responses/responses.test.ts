// The responses wire as pure functions: what a request asks for as a chat, and what comes of a chat as events.
import { describe, expect, test } from 'vitest';
import type { WireObject } from '../../../lib/chat/body.ts';
import { Problem, problem } from '../../../problems/problem.ts';
import type { ChatEnd } from '../calls/chat-event.ts';
import { chatBodyOf } from './request.ts';
import { ResponseWire } from './wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Json = any;

describe('a request', () => {
  test('is the same as a chat: words, pictures, calls and their results, in their order', () => {
    const input = [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Rain?' },
          { type: 'input_image', image_url: 'data:x', detail: 'low' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'I look.' },
          { type: 'refusal', refusal: ' No.' },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{}' },
      { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'c1', output: 'No.' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'Yes.' }] },
    ];
    const call = (id: string, text: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: text },
    });
    expect(chatBodyOf({ model: 'm', instructions: 'Help.', input }).messages).toEqual([
      { role: 'system', content: 'Help.' },
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Rain?' },
          { type: 'image_url', image_url: { url: 'data:x', detail: 'low' } },
        ],
      },
      { role: 'assistant', content: 'I look. No.', tool_calls: [call('c1', '{}'), call('c2', '{"a":1}')] },
      { role: 'tool', tool_call_id: 'c1', content: 'No.' },
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'Yes.' }] },
    ]);
  });

  test('says the same of tools, formats, limits and effort; what is not said otherwise goes on as it came', () => {
    const schema = { type: 'object' };
    const body = chatBodyOf({
      model: 'm',
      input: 'x',
      stream: true,
      store: true,
      metadata: { a: 'b' },
      include: [],
      temperature: 0.5,
      max_output_tokens: 9,
      reasoning: { effort: 'low', summary: 'auto' },
      vendor: 'acme',
      x_unknown: 1,
      tools: [{ type: 'function', name: 'f', description: 'd', parameters: schema, strict: true }],
      tool_choice: { type: 'function', name: 'f' },
      text: { format: { type: 'json_schema', name: 's', schema, strict: true }, verbosity: 'low' },
    });
    expect(body).toEqual({
      model: 'm',
      stream: true,
      temperature: 0.5,
      vendor: 'acme',
      x_unknown: 1,
      messages: [{ role: 'user', content: 'x' }],
      max_completion_tokens: 9,
      reasoning_effort: 'low',
      verbosity: 'low',
      tools: [{ type: 'function', function: { name: 'f', description: 'd', parameters: schema, strict: true } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } },
    });
  });

  test.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: { id: 'c' } }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'p' } }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['input', { input: undefined }],
    ['input', { input: [] }],
    ['input[0]', { input: [7] }],
    ['input[0].role', { input: [{ content: 'x' }] }],
    ['input[0].content', { input: [{ role: 'user' }] }],
    ['input[0].type', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].content[0].type', { input: [{ role: 'user', content: [{ type: 'input_file' }] }] }],
    ['input[0].content[0].file_id', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
    ['input[0].call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['tools[0].type', { tools: [{ type: 'web_search' }] }],
    ['tools', { tools: 'all' }],
    ['tool_choice', { tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'mcp' } }],
    ['text.format.type', { text: { format: { type: 'grammar' } } }],
    ['text', { text: 'plain' }],
    ['instructions', { instructions: 7 }],
    ['max_output_tokens', { max_output_tokens: 0 }],
  ])('is refused by the name of its field: %s of %j', (field, over) => {
    let failure: unknown;
    try {
      chatBodyOf({ model: 'm', input: 'x', ...over });
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Problem);
    expect(failure).toMatchObject({ code: 'VALIDATION_FAILED', param: field });
  });
});

describe('an answer', () => {
  const usage = {
    prompt_tokens: 3,
    completion_tokens: 2,
    total_tokens: 5,
    prompt_tokens_details: { cached_tokens: 1 },
    completion_tokens_details: { reasoning_tokens: 1 },
  };
  const chunk = (delta: object, finish: string | null = null): WireObject => ({
    id: 'c-1',
    created: 7,
    model: 'acme/m',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const calls = (index: number, over: object) => chunk({ tool_calls: [{ index, ...over }] });
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm' }),
    chunk({ reasoning_content: 'm.' }),
    chunk({ content: 'I ' }),
    chunk({ content: 'look.' }),
    calls(0, { id: 'a', function: { name: 'f', arguments: '' } }),
    calls(0, { function: { arguments: '{"x":' } }),
    calls(1, { id: 'b', function: { name: 'g', arguments: '{' } }),
    calls(0, { function: { arguments: '1}' } }),
    calls(1, { function: { arguments: '}' } }),
    chunk({}, 'tool_calls'),
  ];
  const f = (name: string, text: string) => ({ function: { name, arguments: text } });
  const message = {
    role: 'assistant',
    content: 'I look.',
    reasoning_content: 'Hmm.',
    tool_calls: [
      { id: 'a', ...f('f', '{"x":1}') },
      { id: 'b', ...f('g', '{}') },
    ],
  };
  const completion = {
    id: 'c-1',
    created: 7,
    model: 'acme/m',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  };
  const end = { kind: 'end', completion, usage } as unknown as ChatEnd;
  const wire = (hold: (bytes: number) => void = () => undefined) => new ResponseWire({ user: 'u' }, 'req_1', hold);
  const parsed = (frames: Iterable<string>): Json[] =>
    [...frames].map((frame) => {
      const [, event, data] = /^event: (\S+)\ndata: (.*)\n\n$/.exec(frame) as RegExpExecArray;
      const body = JSON.parse(data as string);
      expect(body.type).toBe(event);
      return body;
    });

  test('comes as events in which each item is opened, filled and closed, numbered without a gap', () => {
    const stream = wire();
    const events = parsed([...chunks.flatMap((one) => [...stream.chunk(one)]), ...stream.end(end, { cost_usd: 1 })]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i));
    const told = events.map(({ type, output_index: at }) => (at === undefined ? type : `${type} ${at}`));
    expect(told.map((line) => line.replace('response.', ''))).toEqual([
      ...['created', 'in_progress'],
      ...['output_item.added 0', 'content_part.added 0', 'reasoning_text.delta 0', 'reasoning_text.delta 0'],
      ...['reasoning_text.done 0', 'content_part.done 0', 'output_item.done 0'],
      ...['output_item.added 1', 'content_part.added 1', 'output_text.delta 1', 'output_text.delta 1'],
      ...['output_text.done 1', 'content_part.done 1', 'output_item.done 1'],
      ...['output_item.added 2', 'function_call_arguments.delta 2'],
      ...['output_item.added 3', 'function_call_arguments.delta 3'],
      ...['function_call_arguments.delta 2', 'function_call_arguments.delta 3'],
      ...[
        'function_call_arguments.done 2',
        'output_item.done 2',
        'function_call_arguments.done 3',
        'output_item.done 3',
      ],
      'completed',
    ]);
    const { response } = events.at(-1);
    expect(response).toMatchObject({
      id: 'resp_c-1',
      status: 'completed',
      store: false,
      model: 'acme/m',
      created_at: 7,
      user: 'u',
      error: null,
      usage: {
        input_tokens: 3,
        input_tokens_details: { cached_tokens: 1 },
        output_tokens: 2,
        total_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 },
      },
      service_metadata: { cost_usd: 1 },
    });
    const done = events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item);
    expect(response.output).toEqual(done);
    expect(response.output).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Hmm.' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.', annotations: [] }] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}', status: 'completed' },
      { type: 'function_call', call_id: 'b', name: 'g', arguments: '{}', status: 'completed' },
    ]);
  });

  test('in one piece has the items that it has as a stream', () => {
    const stream = wire();
    const events = parsed([...chunks.flatMap((one) => [...stream.chunk(one)]), ...stream.end(end, {})]);
    const sorted = (items: Json[]) =>
      items.map(({ id: _, ...item }) => item).sort((a, b) => (a.type < b.type ? -1 : 1));
    const whole = wire().whole(end, {}) as Json;
    expect(sorted(whole.output)).toEqual(sorted(events.at(-1).response.output));
    expect({ ...whole, output: [] }).toEqual({ ...events.at(-1).response, output: [] });
  });

  test.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('that ends by %s is incomplete, and says so', (finish, reason) => {
    const stream = wire();
    const cut = {
      ...end,
      completion: { id: 'c', choices: [{ index: 0, message: { content: 'x' }, finish_reason: finish }] },
    };
    const events = parsed([...stream.chunk(chunk({ content: 'x' }, finish)), ...stream.end(cut, {})]);
    expect(events.at(-1).type).toBe('response.incomplete');
    for (const response of [events.at(-1).response, wire().whole(cut, {})])
      expect(response).toMatchObject({ status: 'incomplete', incomplete_details: { reason } });
  });

  test('that fails on the way is told with our code, and with what had come', () => {
    const stream = wire();
    const begun = [...stream.chunk(chunk({ content: 'Half' }))];
    const events = parsed([...begun, ...stream.failureFrames(problem('VENDOR_DOWN'), { cost_usd: 0 })]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'VENDOR_DOWN' }, service_metadata: { cost_usd: 0 } },
    });
    expect(events.at(-1).response.output).toMatchObject([{ status: 'incomplete', content: [{ text: 'Half' }] }]);
    const early = parsed(wire().failureFrames(problem('VENDOR_TIMEOUT'), null));
    expect(early.map(({ type }) => type)).toEqual(['response.created', 'response.in_progress', 'response.failed']);
    expect(early.at(-1).response.id).toBe('resp_req_1');
  });

  test('that does not end is given up', () => {
    const stream = wire();
    const long = chunk({ content: 'x'.repeat(3 * 1024 * 1024) });
    expect([...stream.chunk(long)].length).toBeGreaterThan(0);
    expect(() => [...stream.chunk(long)]).toThrow(/without an end/);
  });

  test('that is long counts against what account and process may hold, and ends where there is no room', () => {
    let held = 0;
    const stream = wire((bytes) => {
      held += bytes;
      if (held > 512 * 1024) throw problem('CONCURRENCY_LIMITED');
    });
    const say = (kib: number) => [...stream.chunk(chunk({ content: 'x'.repeat(kib * 1024) }))];
    say(64);
    expect(held).toBe(0);
    say(100);
    expect(held).toBeGreaterThanOrEqual(2 * 100 * 1024);
    expect(() => say(1_000)).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMITED' }));
  });
});
