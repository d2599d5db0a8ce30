import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { ttlIn } from '../calls/ask.ts';
import { embed as embedOf, listText, readEmbed, type SentEmbed } from '../calls/embed.ts';
import { BODY_BYTES_MAX, ENVELOPED_NUMBERS_MAX, INPUTS_MAX, NUMBER_TEXT_BYTES } from '../limits.ts';
import type { AiState } from '../state.ts';
import { cacheField, cacheHeader, modelField, routingFields } from './fields.ts';

export const embed = defineCapability<AiState>()({
  method: 'POST',
  path: '/v1/ai/embed',
  summary: 'Turns texts into vectors.',
  description:
    'Takes the body of embeddings and answers with its list, numbers as floats. Vectors of two models cannot be compared: `auto` is always the ' +
    'same model, and only models of the same space stand in for each other. sandbox/ngram-1 compares wording: it finds inflections, typos and ' +
    'shared words in any script, not synonyms. /v1/embeddings answers base64 too, in the wire that clients know.',
  keywords: ['text embeddings', 'openai embeddings', 'vectorize text', 'sentence embedding'],
  input: Type.Object(
    {
      model: modelField,
      input: Type.Unsafe<string | unknown[]>({
        type: ['string', 'array'],
        description: `A text, a list of 1 to ${INPUTS_MAX} texts, or lists of tokens for models that take them.`,
      }),
      dimensions: Type.Optional(
        Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 1,
          description: 'Of the vectors, where the model offers several.',
        }),
      ),
      cache_ttl_seconds: cacheField,
      ...routingFields,
    },
    { additionalProperties: true },
  ),
  output: Type.Object({
    object: Type.String({ description: 'Always list.' }),
    model: Type.String({ description: 'The model that answered, `vendor/model`.' }),
    usage: Type.Object(
      { prompt_tokens: Type.Integer(), total_tokens: Type.Integer() },
      { description: 'Tokens that went in.' },
    ),
    data: Type.Array(
      Type.Object({
        object: Type.String({ description: 'Always embedding.' }),
        index: Type.Integer({ minimum: 0, description: 'Of the input, from 0.' }),
        embedding: Type.Array(Type.Number(), { description: 'The vector.' }),
      }),
      { description: 'One for each input, in its order.' },
    ),
  }),
  price: 'ai.embed',
  waits: true,
  bodyBytesMax: BODY_BYTES_MAX,
  bulk: {
    source: import.meta.url,
    reduce: (value: object, { text }) => ({
      value: readEmbed(value as Readonly<Record<string, unknown>>, text),
      transfer: [],
    }),
  },
  readsHeaders: cacheHeader,
  errors: ['MODEL_NOT_FOUND', 'VENDOR_NOT_AVAILABLE', 'CONCURRENCY_LIMITED', 'VENDOR_DOWN'],
  events: ['wallet.low_balance'],
  limits: { inputs: `${INPUTS_MAX} a call.`, numbers: `${ENVELOPED_NUMBERS_MAX} in an answer.`, body: '16 MiB.' },
  examples: [
    {
      title: 'Two sentences, in the sandbox',
      input: { model: 'sandbox/ngram-1', input: ['A boat on a pond.', 'Rain on a roof.'], dimensions: 64 },
      expect: { object: 'list', model: 'sandbox/ngram-1' },
    },
  ],
  async run({ ctx, input, state }) {
    // What `bulk` made of the input.
    const read = input as unknown as SentEmbed;
    const ask = { ...read, cacheTtlSeconds: read.cacheTtlSeconds ?? ttlIn(ctx.sentHeaders) };
    const embedded = await embedOf(state, ctx, ask, (numbers) => {
      requireShort(numbers);
      ctx.holdAnswer(numbers * NUMBER_TEXT_BYTES);
    });
    const pieces = await Array.fromAsync(listText(embedded, 'float'));
    pieces.push('}');
    return { ...embedded.answer, usageEstimated: embedded.isEstimated, data: new JsonText(pieces.join('')) };
  },
});

function requireShort(numbers: number): void {
  if (numbers <= ENVELOPED_NUMBERS_MAX) return;
  const message = `The answer would have ${numbers} numbers; in the envelope it has at most ${ENVELOPED_NUMBERS_MAX}. Send fewer inputs, or use /v1/embeddings.`;
  throw invalidField('input', 'answer_size', message);
}
