// Source bytes of a call: fetched from a URL through the guard, sent with the call, or read from an object in a bucket. They count towards
// the memory bound of answers in progress until the call ends.
import type { Readable } from 'node:stream';
import { type InlineBytes, readInlineBytes } from '../lib/inline-bytes.ts';
import { invalidField, Problem } from '../problems/problem.ts';
import type { SourceBounds, SourceBytes, SourceContext } from './call.ts';
import { readStored } from './stored.ts';

/** As a call names it: exactly one of url, content_base64, or bucket with key. Bytes: base64 that was decoded where long bodies are read. */
export interface Source {
  readonly url?: string | undefined;
  readonly content_base64?: string | Uint8Array | undefined;
  readonly bucket?: string | undefined;
  readonly key?: string | undefined;
}

const REDIRECTS_MAX = 3;
const FETCH_MS = 10_000;
const WHICH = 'Name it by exactly one of url, content_base64, or bucket and key.';

/**
 * Throws VALIDATION_FAILED for a source that is not named in one way, is too long, is no base64, or whose URL is refused or fails;
 * NOT_FOUND for an object that is not there, CONCURRENCY_LIMITED and OVERLOADED when too many such bytes are held.
 */
export async function readSource(ctx: SourceContext, source: Source, bounds: SourceBounds): Promise<SourceBytes> {
  requireOneWay(source, bounds.param);
  const { url, content_base64: content, bucket = '', key = '' } = source;
  if (url !== undefined) return fetchSource(ctx, url, bounds);
  if (content !== undefined) return inlineSource(content, bounds);
  return readStored(ctx, { bucket, key }, bounds);
}

/** Before anything is done for a call. Throws VALIDATION_FAILED. */
export function requireOneWay({ url, content_base64: content, bucket, key }: Source, param: string): void {
  const ways = [url, content, bucket ?? key].filter((way) => way !== undefined);
  if (ways.length !== 1) throw invalidField(param, 'one_of', `${param}: ${WHICH}`);
  if ((bucket === undefined) !== (key === undefined))
    throw invalidField(`${param}.${bucket === undefined ? 'bucket' : 'key'}`, 'required', WHICH);
}

/** The bytes of `content_base64`; throws VALIDATION_FAILED. Long ones take some 30 ms: call it where long bodies are read. */
export function decodeSource(base64: string, param: string): Uint8Array<ArrayBuffer> {
  return decodeContent(base64, param).bytes;
}

function decodeContent(base64: string, param: string): InlineBytes {
  const read = readInlineBytes(base64);
  const field = `${param}.content_base64`;
  if (read === null) throw invalidField(field, 'base64', `${field} is neither base64 nor a data URL.`);
  return read;
}

function inlineSource(content: string | Uint8Array, { bytesMax, param }: SourceBounds): SourceBytes {
  const { bytes, contentType } =
    typeof content === 'string' ? decodeContent(content, param) : { bytes: content, contentType: null };
  if (bytes.byteLength > bytesMax) throw tooLarge(`${param}.content_base64`, bytesMax);
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), contentType };
}

async function fetchSource(ctx: SourceContext, url: string, { bytesMax, param }: SourceBounds): Promise<SourceBytes> {
  const field = `${param}.url`;
  // One more than may come, so that the end of the bound is told from a source that is exactly as long.
  const limits = { totalMs: FETCH_MS, firstByteMs: FETCH_MS, idleMs: FETCH_MS, answerBytesMax: bytesMax + 1 };
  const reply = await ctx.core.outbound.send({
    url,
    method: 'GET',
    redirectsMax: REDIRECTS_MAX,
    limits,
    signal: ctx.signal,
  });
  if (reply.kind === 'failed') {
    const rule = reply.code === 'refused' ? 'url_refused' : 'url_failed';
    throw invalidField(field, rule, `The URL could not be fetched: ${reply.message}`);
  }
  if (reply.status !== 200) {
    reply.body.destroy();
    throw invalidField(field, 'url_failed', `The URL was answered with status ${reply.status}.`);
  }
  const announced = Number(reply.headers['content-length'] ?? 0);
  if (announced > bytesMax) {
    reply.body.destroy();
    throw tooLarge(field, bytesMax);
  }
  const bytes = await receiveBody(ctx, reply.body, field, bytesMax);
  return { bytes, contentType: reply.headers['content-type']?.split(';')[0]?.trim().toLowerCase() || null };
}

async function receiveBody(ctx: SourceContext, body: Readable, field: string, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge(field, bytesMax);
      ctx.holdAnswer(piece.length);
      pieces.push(piece);
    }
  } catch (error) {
    body.destroy();
    if (error instanceof Problem) throw error;
    throw invalidField(field, 'url_failed', 'The answer to the URL broke off, or took longer than 10 s.');
  }
  return Buffer.concat(pieces);
}

function tooLarge(param: string, bytesMax: number): Problem {
  const most = bytesMax % 1_048_576 === 0 ? `${bytesMax / 1_048_576} MiB` : `${bytesMax} bytes`;
  return invalidField(param, 'too_large', `The source has more than ${most}.`);
}
