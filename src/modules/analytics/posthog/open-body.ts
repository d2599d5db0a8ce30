// Opens bodies of PostHog's clients: gzip by its first bytes, whatever its headers say, JSON, or a form whose `data` is base64 of JSON. The key
// is in the body: posthog-node names it first, browsers within their first event, posthog-python behind all events. The body is searched for it
// while being unzipped. A body packed more tightly than events are is unzipped no further until its key is found right.
import { setImmediate } from 'node:timers/promises';
import { inflateBody } from '../../../core/inflate.ts';
import { problem } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { isForm, jsonOf } from './form.ts';

const KEY = /"(?:api_key|token)"\s{0,8}:\s{0,8}"(qm_live_[0-9A-Za-z]{46})"/;
/** No match is longer. */
const KEY_BYTES_MAX = 128;
/** Of a form, which is of one event; and of whatever is packed. */
const SEARCHED_BYTES = 64 * 1024;
/** Batches of like events shrink to a tenth or a thirtieth. */
const SEARCHED_PER_BYTE_SENT = 64;
/** Searched in one turn of the event loop. */
const PIECE_BYTES = 256 * 1024;

export interface SentBody {
  readonly blocks: AsyncIterable<Buffer>;
  /** As it was sent. */
  readonly bytes: number;
}

/**
 * The body, unzipped: JSON, or a form that `jsonOf` opens. `admit` gets the first key that the body names, once; null: it names none where it is
 * looked for. Throws what that does, and PAYLOAD_TOO_LARGE.
 */
export async function openBody(sent: SentBody, admit: (key: string | null) => Promise<unknown>): Promise<Buffer> {
  // A bomb names no key: that is told, and counted against its address, before it is too long.
  const searchedMax = Math.min(SEARCHED_BYTES + SEARCHED_PER_BYTE_SENT * sent.bytes, BODY_BYTES_MAX - PIECE_BYTES);
  const parts: Buffer[] = [];
  const search = new KeySearch();
  let bytes = 0;
  let isAdmitted = false;
  for await (const piece of inPieces(await unzipBlocks(sent.blocks))) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX)
      throw problem('PAYLOAD_TOO_LARGE', {
        message: `The body may have at most ${BODY_BYTES_MAX} bytes when decompressed.`,
      });
    parts.push(piece);
    if (isAdmitted) continue;
    const key = search.next(piece);
    if (key === null && bytes <= searchedMax) continue;
    await admit(key ?? keyOfForm(Buffer.concat(parts)));
    isAdmitted = true;
  }
  const body = Buffer.concat(parts);
  if (!isAdmitted) await admit(keyOfForm(body));
  return body;
}

function keyOfForm(body: Buffer): string | null {
  return isForm(body) ? keyIn(jsonOf(body.subarray(0, SEARCHED_BYTES))) : null;
}

class KeySearch {
  /** Of what came before: a key may begin in it. */
  #end = '';

  next(piece: Buffer): string | null {
    const text = this.#end + piece.toString('latin1');
    this.#end = text.slice(-KEY_BYTES_MAX);
    return keyIn(text);
  }
}

function keyIn(json: Buffer | string): string | null {
  return KEY.exec(json.toString('latin1'))?.[1] ?? null;
}

/** With a turn of the event loop between them. */
async function* inPieces(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    for (let at = 0; at < block.length; at += PIECE_BYTES) {
      if (at > 0) await setImmediate();
      yield block.subarray(at, at + PIECE_BYTES);
    }
  }
}

async function unzipBlocks(blocks: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const source = blocks[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await source.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  const whole = behind(head, source);
  return head[0] === 0x1f && head[1] === 0x8b ? inflateBody(whole, 'gzip', BODY_BYTES_MAX) : whole;
}

async function* behind(head: Buffer, source: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}
