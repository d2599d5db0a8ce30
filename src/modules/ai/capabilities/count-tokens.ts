import Type from 'typebox';
import { defineCapability } from '../../../manifest/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { readChat } from '../calls/ask.ts';
import { readEmbed } from '../calls/embed.ts';
import { BODY_BYTES_MAX, TOKENS_PER_IMAGE } from '../limits.ts';
import type { AiState } from '../state.ts';
import { modelField } from './fields.ts';

export const countTokens = defineCapability<AiState>()({
  id: 'ai.count_tokens',
  method: 'POST',
  path: '/v1/ai/count_tokens',
  summary: 'Counts the tokens of a request without sending it.',
  description:
    'Takes the body of a chat (messages, tools) or of embeddings (input). Counted as one widely used tokenizer does (o200k): models differ, so ' +
    'take it as an estimate; it is what a call is held for, before a margin of a fifth.',
  keywords: ['token counter', 'tokenizer', 'estimate prompt size'],
  input: Type.Object(
    {
      model: modelField,
      messages: Type.Optional(
        Type.Unsafe<unknown[]>({ type: 'array', minItems: 1, description: 'The conversation of a chat.' }),
      ),
      input: Type.Optional(
        Type.Unsafe<string | unknown[]>({ type: ['string', 'array'], description: 'The texts of embeddings.' }),
      ),
    },
    { additionalProperties: true },
  ),
  output: Type.Object({
    input_tokens: Type.Integer({ minimum: 0, description: 'What goes in.' }),
    tokenizer: Type.String({ description: 'How it was counted.' }),
    exact: Type.Boolean({ description: 'Whether the model counts the same; not known, so false.' }),
  }),
  price: 'free',
  scope: 'read',
  isLongRead: true,
  idempotent: false,
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: { source: import.meta.url, reduce: (value: object) => ({ value: { tokens: tokensOf(value) }, transfer: [] }) },
  errors: [],
  events: [],
  limits: { body: '16 MiB.' },
  examples: [
    { title: 'A chat', input: { messages: [{ role: 'user', content: 'Say hello.' }] }, expect: { exact: false } },
    { title: 'Texts', input: { input: ['A boat on a pond.', 'Rain on a roof.'] }, expect: { tokenizer: 'o200k' } },
  ],
  // What `bulk` made of the input.
  run: async ({ input }) => ({
    data: { input_tokens: (input as unknown as { tokens: number }).tokens, tokenizer: 'o200k', exact: false },
  }),
});

function tokensOf(sent: object): number {
  const { messages, input } = sent as Readonly<Record<string, unknown>>;
  if ((messages === undefined) === (input === undefined))
    throw invalidField('messages', 'one_of', 'Send messages or input, one of the two.');
  if (input !== undefined) return readEmbed({ input }, '').inputTokens;
  const { inputTokens, images } = readChat(sent as Readonly<Record<string, unknown>>, '');
  return inputTokens + images * TOKENS_PER_IMAGE;
}
