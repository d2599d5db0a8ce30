// Object tags: key-value pairs stored beside an object; they change without its bytes.
import { runWrite } from '../../../core/idempotency/write.ts';
import { statement } from '../../../db/statement.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { ObjectRow } from '../../../objects/object.ts';
import { findObject } from '../../../objects/read.ts';
import { emptyAnswer, objectOf, type S3Call, shortBody, xmlAnswer } from './call.ts';
import { readTagging } from './wire/bodies.ts';

const updateTags = statement(
  'storage_update_tags',
  'UPDATE storage.object SET tags = $4 WHERE account_id = $1 AND bucket = $2 AND key = $3',
);

export async function getTagging(call: S3Call): Promise<RawAnswer> {
  let row: ObjectRow | undefined;
  await call.request.perform(call.capability, async (ctx) => {
    ({ row } = await findObject(ctx, objectOf(call), { mustBePaid: false }));
    return { data: null };
  });
  const tags = Object.entries(row?.tags ?? {})
    .sort()
    .map(([Key, Value]) => ({ Key, Value }));
  return xmlAnswer(call, 'Tagging', { TagSet: { Tag: tags } });
}

export async function putTagging(call: S3Call): Promise<RawAnswer> {
  await save(call, readTagging(await shortBody(call)));
  return emptyAnswer(call, 200);
}

export async function deleteTagging(call: S3Call): Promise<RawAnswer> {
  await save(call, {});
  return emptyAnswer(call, 204);
}

async function save(call: S3Call, tags: Readonly<Record<string, string>>): Promise<void> {
  const { accountId, request, capability } = call;
  const target = objectOf(call);
  const text = Object.keys(tags).length === 0 ? null : JSON.stringify(tags);
  await request.perform(capability, (ctx) =>
    runWrite(ctx, async (tx) => {
      // Throws where there is no such bucket, or no such object.
      await findObject(ctx, target, { mustBePaid: false, tx });
      await tx.query(updateTags, [accountId, target.bucket, target.key, text]);
      return null;
    }),
  );
}
