import Type from 'typebox';
import { findReplay, runLongWrite } from '../../../../core/idempotency/write.ts';
import { keyOf } from '../../../../core/keys/api-key.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { alsoNamed } from '../../../../kit/second-names.ts';
import { acceptBatch, requireRoom } from '../../batches/accept.ts';
import { requireScope } from '../../batches/caller.ts';
import {
  type Batchable,
  batchable,
  type PackedRequests,
  packRequests,
  type SentRequest,
} from '../../batches/packed.ts';
import { batchSchema } from '../../batches/schemas.ts';
import { batchRecord } from '../../batches/store.ts';
import type { Sent } from '../../calls/ask.ts';
import { BATCH_BODY_BYTES_MAX, BATCH_INPUTS_MAX, BATCH_REQUESTS_MAX } from '../../limits.ts';
import { problem } from '../../problems.ts';
import type { AiState } from '../../state.ts';
import { twoRequests } from './examples.ts';

export const create = defineCapability<AiState>()({
  method: 'POST',
  path: '/v1/ai/batch/create',
  summary: 'Hands over many calls of models that nobody waits for.',
  description:
    'Each request is a call of ai.chat or ai.embed, made in the background under the key that you call with, held and charged like a call ' +
    'of its own, at most once. What fails for a while is tried three times; without credit, or when the key ends, the requests that are ' +
    'left fail. Models may be cheaper in batches. Look at ai.batch.get, or take the events of its end; results come with ai.batch.results, ' +
    'also while it runs. What has not begun after 24 hours fails. Results are kept for 7 days.',
  keywords: ['batch inference', 'openai batch api', 'many prompts at once', 'thousands of prompts overnight'],
  input: Type.Object({
    items: alsoNamed(
      Type.Array(
        Type.Object(
          {
            custom_id: Type.String({
              pattern: '^[\\x21-\\x7e]{1,128}$',
              description: 'Names the request in the results: 1 to 128 visible ASCII characters, once in a batch.',
            }),
            capability: Type.Unsafe<Batchable>({
              type: 'string',
              enum: [...batchable],
              description: 'ai.chat or ai.embed.',
            }),
            body: Type.Unsafe<Sent>({
              type: 'object',
              additionalProperties: true,
              description: 'The input of the capability, without idempotency_key and cache_ttl_seconds.',
            }),
          },
          { description: 'A request.' },
        ),
        { minItems: 1, maxItems: BATCH_REQUESTS_MAX, description: `1 to ${BATCH_REQUESTS_MAX} requests.` },
      ),
      'requests',
    ),
  }),
  output: batchSchema,
  laterPrices: batchable,
  bodyBytesMax: BATCH_BODY_BYTES_MAX,
  opaque: ['items'],
  bulk: {
    source: import.meta.url,
    reduce: ({ items }: { items: readonly SentRequest[] }) => {
      const packed = packRequests(items);
      return { value: packed, transfer: [packed.asks.buffer] };
    },
  },
  needsKey: true,
  errors: ['QUOTA_EXCEEDED'],
  limits: {
    items: `${BATCH_REQUESTS_MAX} a batch, each of 4 MiB.`,
    inputs: `${BATCH_INPUTS_MAX} a request for embeddings.`,
    batches: '10 that have not ended (standard tier), 50 (pro), 200 (enterprise); 10,000 kept.',
    kept: '1 GiB of requests and results (standard tier), 4 GiB (pro), 16 GiB (enterprise); 256 MiB a batch.',
    body: '32 MiB.',
  },
  examples: [
    { title: 'A chat and an embedding, in the sandbox', input: twoRequests, expect: { counts: { total: 2 } } },
  ],
  async run({ ctx, input }) {
    // What `bulk` made of the input.
    const requests = input as unknown as PackedRequests;
    if (keyOf(ctx.principal) === null)
      throw problem('INSUFFICIENT_SCOPE', { message: 'Batches need an API key; browser sessions cannot create them.' });
    for (const capability of new Set(requests.capabilities)) requireScope(ctx.principal, capability);
    const replay = await findReplay(ctx);
    if (replay !== null) return replay;
    const { db, holds } = ctx.core;
    await requireRoom(db, ctx, requests.asks.length);
    return holds.largeWrites(() => runLongWrite(ctx, async (tx) => batchRecord(await acceptBatch(tx, ctx, requests))));
  },
});
