import Type from 'typebox';
import { defineCapability } from '../../../kit/capability.ts';
import { requireRow } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { collections } from '../collections/resource.ts';
import type { CollectionRow } from '../collections/store.ts';
import { AnswerBytes, NumberWriter, readItems } from '../items/stored.ts';
import { ANSWER_BYTES_MAX, IDS_BODY_BYTES_MAX, IDS_MAX, VALUES_MAX } from '../limits.ts';
import { collectionField, idsField, itemSchema } from '../schemas.ts';
import type { VectorState } from '../state.ts';

/** Their answer is no more than a few hundred kilobytes. */
const FEW_IDS = 16;

export const fetch = defineCapability<VectorState>()({
  method: 'POST',
  path: '/v1/vector/fetch',
  summary: 'Reads vectors by id.',
  description: 'Vectors with their metadata, in the order of ids; ids that are not there are left out.',
  keywords: ['get vectors by id', 'read embeddings'],
  input: Type.Object({
    collection: collectionField,
    ids: idsField(`1 to ${IDS_MAX} ids.`),
    include_values: Type.Optional(
      Type.Boolean({ description: 'Whether they carry their embedding; false when not sent.' }),
    ),
  }),
  output: Type.Object({
    collection: Type.String({ description: 'The name sent.' }),
    items: Type.Array(itemSchema, { description: 'Those that are there, each once.' }),
  }),
  isLongRead: true,
  bodyBytesMax: IDS_BODY_BYTES_MAX,
  errors: ['COLLECTION_NOT_FOUND'],
  limits: {
    ids: `${IDS_MAX} a call.`,
    values: `With include_values, ids times the dimension is at most ${VALUES_MAX}.`,
    answer: `${ANSWER_BYTES_MAX} bytes; a call that would be answered with more is refused.`,
  },
  examples: [
    {
      title: 'With the embedding',
      before: [
        { capability: 'vector.collection.create', input: { collection: 'docs', dimension: 2 } },
        { capability: 'vector.upsert', input: { collection: 'docs', vectors: [{ id: 'a', embedding: [0.5, 2] }] } },
      ],
      input: { collection: 'docs', ids: ['a', 'b'], include_values: true },
      expect: { items: [{ id: 'a', metadata: null, embedding: [0.5, 2] }] },
    },
  ],
  async run({ ctx, input: { collection, ids, include_values: withValues = false }, state }) {
    const { db } = ctx.core;
    const row = await requireRow(collections, db, ctx, collection);
    const distinct = [...new Set(ids)];
    if (withValues && distinct.length * row.dimension > VALUES_MAX) {
      throw invalidField(
        'include_values',
        'too_many_values',
        `Ids times the dimension must be at most ${VALUES_MAX} with include_values.`,
      );
    }
    if (distinct.length <= FEW_IDS) return readAndWrite(ctx, row, distinct, withValues);
    return state.longAnswers.run(ctx.accountId, null, async () =>
      // Nobody waits for the answer any more when the client has left.
      ctx.signal.aborted ? { data: {} } : readAndWrite(ctx, row, distinct, withValues),
    );
  },
});

async function readAndWrite(ctx: CallContext, row: CollectionRow, ids: readonly string[], withValues: boolean) {
  const found = await readItems(
    ctx.core.db,
    row,
    ids,
    { withMetadata: true, withValues },
    new AnswerBytes(ctx, tooLarge),
  );
  const bytes = new AnswerBytes(ctx, tooLarge);
  const numbers = new NumberWriter();
  const texts: string[] = [];
  for (const id of ids) {
    const item = found.get(id);
    if (item === undefined) continue;
    const values = item.embedding === null ? '' : `,"embedding":${await numbers.write(item.embedding)}`;
    const text = `{"id":${JSON.stringify(id)},"metadata":${item.metadata ?? 'null'}${values}}`;
    bytes.add(text);
    texts.push(text);
  }
  return { data: new JsonText(`{"collection":"${row.name}","items":[${await numbers.join(texts)}]}`) };
}

function tooLarge() {
  return invalidField(
    'ids',
    'answer_too_large',
    `The answer would have more than ${ANSWER_BYTES_MAX} bytes: send fewer ids a call.`,
  );
}
