// The bytes of a body of PostHog's clients: gzip by its first bytes, whatever its headers say, JSON, or a form whose `data` is base64 of JSON.
// The key stands in the body: it is looked for in the first bytes, and nothing more is inflated before it has been found right.
import { inflated } from '../../../core/inflate.ts';
import { problem } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';

const KEY = /"(?:api_key|token)"\s{0,8}:\s{0,8}"(qm_live_[0-9A-Za-z]{46})"/;
/** Events before the key: those of a browser name it within the first. */
const SEARCHED_BYTES = 64 * 1024;
const FORM = /^(?:compression=[\w-]{1,20}&)?data=/;

/**
 * The JSON of the body. `admit` gets the key that the body names, once, before the rest is inflated; null: it names none. Throws what that does.
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
    if (isAdmitted || isForm(parts)) continue;
    const key = keyIn(Buffer.concat(parts).subarray(0, SEARCHED_BYTES));
    if (key === null && bytes < SEARCHED_BYTES) continue;
    await admit(key);
    isAdmitted = true;
  }
  const body = isForm(parts) ? formData(Buffer.concat(parts)) : Buffer.concat(parts);
  if (!isAdmitted) await admit(keyIn(body.subarray(0, SEARCHED_BYTES)));
  return body;
}

function keyIn(body: Buffer): string | null {
  return KEY.exec(body.toString('latin1'))?.[1] ?? null;
}

function isForm([first]: readonly Buffer[]): boolean {
  return first !== undefined && FORM.test(first.toString('latin1', 0, 64));
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

function formData(form: Buffer): Buffer {
  const data = new URLSearchParams(form.toString('latin1')).get('data') ?? '';
  if (data.startsWith('{') || data.startsWith('[')) return Buffer.from(data);
  // A plus that was not escaped came out as a space.
  return Buffer.from(data.replaceAll(' ', '+'), 'base64');
}
