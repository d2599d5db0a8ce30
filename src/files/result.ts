// Result of a call, returned in the answer, by a link valid for an hour, or as an object in a bucket. Linked bytes are in the asset store
// without a row: the link itself describes them, and a sweep removes them once every link has expired.

import { available } from '../assets/assets.ts';
import { clockNow } from '../core/database-clock.ts';
import { HOUR_MS, iso } from '../lib/time.ts';
import type { SourceContext } from './call.ts';
import { FileLinks, MADE, newFileName } from './links.ts';
import { requireBucket, type StoredName, storeResult } from './stored.ts';

export const INLINE_BYTES_MAX = 1024 * 1024;
const LINK_MS = HOUR_MS;

/** How a call wants its result. */
export interface ResultWish {
  readonly inline?: boolean | undefined;
  readonly store?: StoredName | undefined;
}

export interface Made {
  readonly contentType: string;
  /** What a browser saves it as. */
  readonly filename: string;
}

/** The fields of an answer; those that do not apply are null. */
export interface Result {
  readonly content_type: string;
  readonly bytes: number;
  readonly content_base64: string | null;
  readonly url: string | null;
  readonly expires_at: string | null;
  readonly bucket: string | null;
  readonly key: string | null;
}

/** Before the work, so that none is done for a result that has no place. Throws NOT_FOUND. */
export async function requireResultPlace(ctx: SourceContext, { store }: ResultWish): Promise<void> {
  if (store !== undefined) await requireBucket(ctx, store);
}

/** Throws NOT_FOUND for a bucket that does not exist, SERVICE_UNAVAILABLE where nothing can be kept now. */
export async function answerResult(
  ctx: SourceContext,
  bytes: Uint8Array,
  { contentType, filename, inline, store }: Made & ResultWish,
): Promise<Result> {
  const none = { content_base64: null, url: null, expires_at: null, bucket: null, key: null };
  const result = { ...none, content_type: contentType, bytes: bytes.length };
  if (store !== undefined) {
    await storeResult(ctx, store, { bytes, contentType });
    return { ...result, ...store };
  }
  if (inline === true && bytes.length <= INLINE_BYTES_MAX) {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return { ...result, content_base64: content.toString('base64') };
  }
  return { ...result, ...(await linkTo(ctx, bytes, { contentType, filename })) };
}

async function linkTo({ core, accountId }: SourceContext, bytes: Uint8Array, { contentType, filename }: Made) {
  const { assets, db, log } = core;
  const name = newFileName(contentType);
  await available(log, () => assets.put(`${MADE}${accountId}/${name}`, bytes));
  const endMs = (await clockNow(db)) + LINK_MS;
  const url = new FileLinks(core).link({ accountId, name, filename, length: bytes.length, endMs });
  return { url, expires_at: iso(endMs) };
}
