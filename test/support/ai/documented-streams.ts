// Streams as vendors' documentation shows them, event by event: what each says, and the usage that it tells.
import type { Json } from './openai-double.ts';

export interface DocumentedEvent {
  /** As it is sent, lines ended by LF. */
  readonly text: string;
  /** Of the answer, that come with it. */
  readonly words?: string;
  /** Tokens in and out by now. */
  readonly used?: readonly [input: number, output: number];
}

const data = (body: Json, more: Omit<DocumentedEvent, 'text'> = {}): DocumentedEvent => ({
  text: `data: ${typeof body === 'string' ? body : JSON.stringify(body)}\n\n`,
  ...more,
});
const namedEvent = (body: Json, more: Omit<DocumentedEvent, 'text'> = {}): DocumentedEvent => ({
  text: `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`,
  ...more,
});

/** OpenAI, chat completions: every chunk has a usage when it is asked for, null but in the last. */
function openai(): DocumentedEvent[] {
  const chunk = (choices: Json[], usage: Json = null) => ({
    id: 'chatcmpl-123',
    object: 'chat.completion.chunk',
    created: 1_694_268_190,
    model: 'm-1',
    service_tier: 'default',
    system_fingerprint: 'fp_44709d6fcb',
    choices,
    usage,
    obfuscation: 'x1',
  });
  const deltaChunk = (delta: Json, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]);
  const details = { prompt_tokens_details: { cached_tokens: 0 }, completion_tokens_details: { reasoning_tokens: 0 } };
  return [
    data(deltaChunk({ role: 'assistant', content: '', refusal: null })),
    data(deltaChunk({ content: 'Héllo' }), { words: 'Héllo' }),
    data(deltaChunk({ content: ' there.' }), { words: ' there.' }),
    data(deltaChunk({}, 'stop')),
    data(chunk([], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...details }), { used: [10, 5] }),
    data('[DONE]'),
  ];
}

/** OpenRouter: comments while it looks for a vendor, no opening, usage with an empty piece after the last. */
function openrouter(): DocumentedEvent[] {
  const chunk = (delta: Json, finish_reason: string | null, more: Json = {}) => ({
    id: 'gen-1',
    provider: 'Azure',
    model: 'm-1',
    object: 'chat.completion.chunk',
    created: 1_778_031_306,
    choices: [{ index: 0, delta, finish_reason, native_finish_reason: finish_reason, logprobs: null }],
    ...more,
  });
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.00002, is_byok: false };
  return [
    { text: ': OPENROUTER PROCESSING\n\n' },
    { text: ': OPENROUTER PROCESSING\n\n' },
    data(chunk({ role: 'assistant', content: 'Héllo' }, null), { words: 'Héllo' }),
    data(chunk({ role: 'assistant', content: ' there.' }, null), { words: ' there.' }),
    data(chunk({ role: 'assistant', content: '' }, 'stop')),
    data(chunk({ role: 'assistant', content: '' }, null, { usage }), { used: [10, 5] }),
    data('[DONE]'),
  ];
}

/** Anthropic, Messages: the input is told first; the output grows. */
function anthropic(): DocumentedEvent[] {
  const message = {
    id: 'msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyy',
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm-1',
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  const delta = (text: string) =>
    namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, { words: text });
  const end = { stop_reason: 'end_turn', stop_sequence: null };
  return [
    namedEvent({ type: 'message_start', message }, { used: [10, 1] }),
    namedEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    namedEvent({ type: 'ping' }),
    delta('Héllo'),
    delta(' there.'),
    namedEvent({ type: 'content_block_stop', index: 0 }),
    namedEvent({ type: 'message_delta', delta: end, usage: { output_tokens: 5 } }, { used: [10, 5] }),
    namedEvent({ type: 'message_stop' }),
  ];
}

/** OpenAI, responses: items and parts are opened, filled and closed; usage is in the last, which is the end. */
function responses(): DocumentedEvent[] {
  const response = {
    id: 'resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654',
    object: 'response',
    created_at: 1_741_290_958,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: 'm-1',
    output: [],
    store: false,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: null,
  };
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
  const item = (status: string, content: Json[]) => ({
    id: 'msg_1',
    type: 'message',
    status,
    role: 'assistant',
    content,
  });
  const whole = item('completed', [part('Héllo there.')]);
  const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, total_tokens: 15 };
  const delta = (words: string): [Json, string] => [
    { type: 'response.output_text.delta', ...place, delta: words },
    words,
  ];
  const events: [event: Json, words?: string][] = [
    [{ type: 'response.created', response }],
    [{ type: 'response.in_progress', response }],
    [{ type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) }],
    [{ type: 'response.content_part.added', ...place, part: part('') }],
    delta('Héllo'),
    delta(' there.'),
    [{ type: 'response.output_text.done', ...place, text: 'Héllo there.' }],
    [{ type: 'response.content_part.done', ...place, part: part('Héllo there.') }],
    [{ type: 'response.output_item.done', output_index: 0, item: whole }],
    [{ type: 'response.completed', response: { ...response, status: 'completed', output: [whole], usage } }],
  ];
  return events.map(([event, words], sequence_number) =>
    namedEvent({ ...event, sequence_number }, words === undefined ? {} : { words }),
  );
}

export const documentedStreams = {
  OpenAI: openai(),
  OpenRouter: openrouter(),
  Anthropic: anthropic(),
  'OpenAI, responses': responses(),
} as const;
