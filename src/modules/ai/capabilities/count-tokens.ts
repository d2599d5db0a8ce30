import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { invalidField } from '../../../problems/problem.ts';
import { readChat, type Sent, type SentChat } from '../calls/ask.ts';
import { openEmbed, readEmbed, type SentEmbed } from '../calls/embed.ts';
import { openChat, packLong } from '../calls/open.ts';
import { BODY_BYTES_MAX, TOKENS_PER_IMAGE } from '../limits.ts';
import type { AiState } from '../state.ts';
import { modelField } from './fields.ts';

export const countTokens = defineCapability<AiState>()({
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
  isLongRead: true,
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (value: object, { text }) => ({ value: readEither(value, text), transfer: [] }),
  },
  limits: { body: '16 MiB.' },
  examples: [
    { title: 'A chat', input: { messages: [{ role: 'user', content: 'Say hello.' }] }, expect: { exact: false } },
    { title: 'Texts', input: { input: ['A boat on a pond.', 'Rain on a roof.'] }, expect: { tokenizer: 'o200k' } },
  ],
  run: async ({ input }) => ({
    data: { input_tokens: await tokensOf(input as unknown as Either), tokenizer: 'o200k', exact: false },
  }),
});

/** What `bulk` makes of the input. */
type Either = { readonly chat: SentChat } | { readonly inputs: SentEmbed };

function readEither(sent: object, text: string): Either {
  const { messages, input } = sent as Sent;
  if ((messages === undefined) === (input === undefined))
    throw invalidField('messages', 'one_of', 'Send messages or input, one of the two.');
  if (input !== undefined) return { inputs: withoutCountedInputs(readEmbed({ input }, text)) };
  const chat = packLong(readChat(sent as Sent, text), text.length);
  // Of what is counted nothing else is needed.
  return { chat: chat.inputTokens === null ? chat : { ...chat, body: {} } };
}

function withoutCountedInputs(sent: SentEmbed): SentEmbed {
  return sent.counts === null ? sent : { ...sent, inputs: [] };
}

async function tokensOf(either: Either): Promise<number> {
  if ('inputs' in either) return (await openEmbed(either.inputs)).inputTokens;
  const { inputTokens, images } = await openChat(either.chat);
  return inputTokens + images * TOKENS_PER_IMAGE;
}
