// The bytes of a body of PostHog's clients: gzip by its first bytes, whatever its headers say, JSON, or a form whose `data` is base64 of JSON.
// The key stands in the body: it is looked for in the first bytes, and nothing more is inflated before it has been found right.
import { inflated } from '../../../core/inflate.ts';
import { problem } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';
import { jsonOf } from './form.ts';

const KEY = /"(?:api_key|token)"\s{0,8}:\s{0,8}"(qm_live_[0-9A-Za-z]{46})"/;
/** Events before the key: those of a browser name it within the first. */
const SEARCHED_BYTES = 64 * 1024;

/**
 * The body, unzipped: JSON, or a form that `jsonOf` opens. `admit` gets the key that the body names, once, before the rest is inflated; null: it
 * names none. Throws what that does.
 */
export async function openBody(
  blocks: AsyncIterable<Buffer>,
  admit: (key: string | null) => Promise<unknown>,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  let isAdmitted = false;
  for await (const block of await unzipped(blocks)) {
    bytes += block.length;
    if (bytes > BODY_BYTES_MAX)
      throw problem('PAYLOAD_TOO_LARGE', {
        message: `The body may have at most ${BODY_BYTES_MAX} bytes when decompressed.`,
      });
    parts.push(block);
    // A form may break off anywhere: it is opened once, when there is enough of it.
    if (isAdmitted || bytes < SEARCHED_BYTES) continue;
    await admit(keyIn(Buffer.concat(parts)));
    isAdmitted = true;
  }
  const body = Buffer.concat(parts);
  if (!isAdmitted) await admit(keyIn(body));
  return body;
}

function keyIn(body: Buffer): string | null {
  return KEY.exec(jsonOf(body.subarray(0, SEARCHED_BYTES)).toString('latin1'))?.[1] ?? null;
}

async function unzipped(blocks: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const source = blocks[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await source.next();
    if (next.done === true) break;
    head = head.length === 0 ? next.value : Buffer.concat([head, next.value]);
  }
  const whole = behind(head, source);
  return head[0] === 0x1f && head[1] === 0x8b ? inflated(whole, 'gzip', BODY_BYTES_MAX) : whole;
}

async function* behind(head: Buffer, source: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
  } finally {
    await source.return?.();
  }
}
