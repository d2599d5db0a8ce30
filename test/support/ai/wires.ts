// How a double speaks each wire: its errors, its answers, and the pieces of its streams.
import { chunk, completionOf, frame, type Json, opening, streamOf } from './openai-double.ts';

export interface WireWords {
  readonly adapter: 'openai' | 'anthropic';
  /** An error body of one meaning. */
  error(meaning: Meaning): Json;
  completion(text: string): Json;
  stream(text: string): string[];
  /** What comes before any content. */
  readonly preamble: readonly string[];
  /** A piece of content. */
  content(text: string): string;
  /** An error inside a stream. */
  errorPiece(meaning: Meaning): string;
}

export type Meaning = 'down' | 'busy' | 'auth' | 'funds' | 'invalid' | 'content' | 'unknown';

const openaiCodes: Readonly<Record<Meaning, string>> = {
  down: 'server_error',
  busy: 'rate_limit_exceeded',
  auth: 'invalid_api_key',
  funds: 'insufficient_quota',
  invalid: 'invalid_request_error',
  content: 'content_filter',
  unknown: 'something_else',
};
const openaiError = (meaning: Meaning) => ({ error: { message: 'no', code: openaiCodes[meaning] } });

export const openaiWire: WireWords = {
  adapter: 'openai',
  error: openaiError,
  completion: (text) => completionOf(text),
  stream: (text) => streamOf(text),
  preamble: [': hello\n\n', opening],
  content: (text) => frame(chunk({ content: text })),
  errorPiece: (meaning) => frame(openaiError(meaning)),
};

const anthropicTypes: Readonly<Record<Meaning, string>> = {
  down: 'overloaded_error',
  busy: 'rate_limit_error',
  auth: 'authentication_error',
  funds: 'billing_error',
  invalid: 'invalid_request_error',
  content: 'content_policy_error',
  unknown: 'something_else',
};
const anthropicError = (meaning: Meaning) => ({
  type: 'error',
  error: { type: anthropicTypes[meaning], message: 'no' },
});
const event = (body: Json) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;
const used = { input_tokens: 10, output_tokens: 5 };
const start = event({
  type: 'message_start',
  message: { id: 'msg_1', model: 'm-1', usage: { ...used, output_tokens: 0 } },
});
const delta = (text: string) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });

export const anthropicWire: WireWords = {
  adapter: 'anthropic',
  error: anthropicError,
  completion: (text) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    stop_reason: 'end_turn',
    usage: used,
    content: [{ type: 'text', text }],
  }),
  stream: (text) => [
    ...[start, event({ type: 'ping' }), delta(text)],
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    event({ type: 'message_stop' }),
  ],
  preamble: [start, event({ type: 'ping' })],
  content: delta,
  errorPiece: (meaning) => event(anthropicError(meaning)),
};
