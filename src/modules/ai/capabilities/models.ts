import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { CHAT, EMBED } from '../models/family.ts';
import { listModels } from '../models/list.ts';
import type { AiState } from '../state.ts';

const textOrNull = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description });
const wholeOrNull = (description: string) => Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

export const models = defineCapability<AiState>()({
  method: 'GET',
  path: '/v1/ai/models',
  summary: 'Lists the models there are, with prices.',
  description:
    'Each model by its name alone and as vendor/model, and the words that let the service choose: `auto` (of those that can do the call the ' +
    'one with the best priority, then the cheapest), `cheapest`, `smartest`. Prices are USD per million tokens, with markup. `up` says whether its vendor answers at present.',
  keywords: ['list llm models', 'model prices', 'which models are available', 'which models can be used'],
  input: Type.Object({
    capability: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        enum: [CHAT, EMBED, null],
        description: 'Only models that serve it.',
      }),
    ),
  }),
  output: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String({ description: 'What to send as model.' }),
        object: Type.String({ description: 'Always model.' }),
        created: Type.Integer({ description: 'Always 0: vendors do not say.' }),
        owned_by: Type.String({ description: 'Who has it; self for the words that let the service choose.' }),
        vendor: textOrNull('Who has it; null when several do.'),
        region: textOrNull('Where it works.'),
        capabilities: Type.Array(Type.String(), { description: 'What it serves.' }),
        context_length: wholeOrNull('Tokens that it takes; null: not known.'),
        max_output_tokens: wholeOrNull('Of one answer; null: not known.'),
        pricing: Type.Unsafe<Record<string, number> | null>({
          type: ['object', 'null'],
          additionalProperties: { type: 'number' },
          description: 'USD: input, cached_input, cache_write and output per million tokens, per_image, per_request.',
        }),
        up: Type.Boolean({ description: 'Whether it answers at present.' }),
      }),
      { description: 'All of them.' },
    ),
  }),
  examples: [
    { title: 'All models', input: {} },
    { title: 'Models that make embeddings', input: { capability: EMBED } },
  ],
  run: async ({ input, state }) => ({ data: { items: listModels(state.core, input.capability ?? null) } }),
});
