// The Messages API as pure functions: pictures in results of tools, thoughts that go there and back, objects of any kind.
import { expect, test } from 'vitest';
import type { WireObject } from '../../../../lib/chat/body.ts';
import type { AiCall, AiModel, ChatPiece } from '../port.ts';
import { completionOf, MessageStream } from './answer.ts';
import { requestOf, schemaTool } from './request.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape
type Json = any;

const row: AiModel = { id: 'm', jsonSchema: null, reasoning: false, options: {} };
const asked = (body: WireObject, over: Partial<AiModel> = {}): Json => {
  const prepared = requestOf({ model: { ...row, ...over }, body, outputTokensMax: 9, stream: false, inputTokens: 1 });
  if ('fault' in prepared) throw new Error(prepared.fault);
  return prepared.body;
};
const user = { role: 'user', content: 'Look.' };

test('a picture in the result of a tool is a block of it; a result of texts stays a text', () => {
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const text = (words: string) => ({ type: 'text', text: words });
  const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content });
  const { messages } = asked({
    messages: [result('a', [text('Seen:'), picture]), result('b', [text('x'), text('y')])],
  });
  const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
  expect(messages[0].content).toEqual([
    { type: 'tool_result', tool_use_id: 'a', content: [text('Seen:'), block] },
    { type: 'tool_result', tool_use_id: 'b', content: 'x\ny' },
  ]);
});

const thought = { type: 'thinking', thinking: 'Rain is likely.', signature: 'c2lnbmVk' };
const closed = { type: 'redacted_thinking', data: 'ZGF0YQ' };
const use = { type: 'tool_use', id: 't1', name: 'weather', input: {} };

/** The message of the assistant as a client sends it back. */
function sentBack(message: Json): Json {
  return asked({ messages: [user, message, { role: 'tool', tool_call_id: 't1', content: 'No.' }] }).messages[1].content;
}

test('signed thoughts come with the answer and go back before all else of their turn, unchanged', () => {
  const completion: Json = completionOf({ content: [thought, closed, use], stop_reason: 'tool_use' }, null);
  const { message } = completion.choices[0];
  expect(message).toMatchObject({ reasoning_content: thought.thinking, thinking_blocks: [thought, closed] });
  expect(sentBack(message)).toEqual([thought, closed, use]);
});

test('what was not signed, and what nobody here knows, is no thought', () => {
  const blocks = [
    { ...thought, signature: '' },
    { type: 'thinking', thinking: 'x' },
    { type: 'text', text: 'x' },
    'x',
    null,
  ];
  const completion: Json = completionOf({ content: [{ type: 'thinking', thinking: 'x' }, use] }, null);
  expect(completion.choices[0].message).not.toHaveProperty('thinking_blocks');
  expect(sentBack({ role: 'assistant', content: 'Hm.', thinking_blocks: blocks })).toEqual([
    { type: 'text', text: 'Hm.' },
  ]);
  const userSays = asked({ messages: [{ ...user, thinking_blocks: [thought] }] }).messages;
  expect(userSays[0].content).toEqual([{ type: 'text', text: 'Look.' }]);
});

/** Deltas of a stream of these events. */
function streamed(events: readonly Json[], asText: string | null = null): Json[] {
  const stream = new MessageStream({} as AiCall, asText);
  const pieces = events.flatMap((event): readonly ChatPiece[] => stream.read({ data: JSON.stringify(event) }) ?? []);
  return pieces.flatMap((piece) => (piece.kind === 'chunk' ? (piece.chunk as Json).choices[0].delta : []));
}

test('of a stream, thoughts come in pieces to be read, and whole to be sent back', () => {
  const delta = (index: number, type: string, over: object) => ({
    type: 'content_block_delta',
    index,
    delta: { type, ...over },
  });
  const deltas = streamed([
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    delta(0, 'thinking_delta', { thinking: 'Rain is ' }),
    delta(0, 'thinking_delta', { thinking: 'likely.' }),
    delta(0, 'signature_delta', { signature: 'c2lnbmVk' }),
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: closed },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: use },
    { type: 'content_block_stop', index: 2 },
  ]);
  expect(deltas.map(({ reasoning_content: words }) => words ?? '').join('')).toBe(thought.thinking);
  expect(deltas.flatMap(({ thinking_blocks: blocks }) => blocks ?? [])).toEqual([thought, closed]);
});

test('thoughts of a stream that has more of them than are held are not carried', () => {
  const piece = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'thinking_delta', thinking: 'x'.repeat(600_000) },
  };
  const deltas = streamed([
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
    ...[piece, piece],
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_stop', index: 0 },
  ]);
  expect(deltas.some(({ thinking_blocks: blocks }) => blocks !== undefined)).toBe(false);
});

const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object' } } };
const anyObject = { messages: [user], response_format: { type: 'json_object' } };

test('an object of any kind comes by a tool that must be called, also where a model has schemas of its own', () => {
  for (const jsonSchema of [null, 'native', 'tool'] as const) {
    const body = asked(anyObject, { jsonSchema });
    expect(body.tools).toEqual([
      {
        name: 'json_answer',
        description: 'Gives the answer.',
        input_schema: { type: 'object', additionalProperties: true },
      },
    ]);
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'json_answer' });
    expect(body).not.toHaveProperty('output_config');
  }
  const name = schemaTool({ body: anyObject, model: row });
  const answer = { type: 'tool_use', id: 't', name, input: { a: 1 } };
  const { choices }: Json = completionOf({ content: [answer], stop_reason: 'tool_use' }, name);
  expect(choices[0]).toMatchObject({ message: { content: '{"a":1}' }, finish_reason: 'stop' });
});

test.each([
  [undefined, { type: 'any' }],
  ['auto', { type: 'any' }],
  ['required', { type: 'any' }],
  ['none', { type: 'tool', name: 'json_answer' }],
  [
    { type: 'function', function: { name: 'weather' } },
    { type: 'tool', name: 'weather' },
  ],
])('beside tools of the client, with the choice %j, one is called: one of them, or the answer', (choice, told) => {
  const body = asked({ ...anyObject, tools: [tool], tool_choice: choice });
  expect(body.tools.map(({ name }: Json) => name)).toEqual(['weather', 'json_answer']);
  expect(body.tool_choice).toEqual(told);
});
