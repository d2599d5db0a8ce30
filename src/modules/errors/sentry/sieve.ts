// Sieve of bodies, block by block, as they are inflated: unused parts are discarded, so that a body takes no more memory than its event. An
// envelope is a line of JSON, then items, each a line of JSON and a payload. A payload has the length that its header says, or ends with the
// line (develop.sentry.dev/sdk/data-model/envelopes).
import type { JsonObject } from '../intake/draft.ts';
import { brokenEnvelope, eventTooLong, NEWLINE, parseEvent, parseObject } from './envelope.ts';
import { EVENT_BYTES_MAX, HEADER_BYTES_MAX, ITEM_HEADERS_BYTES_MAX, ITEMS_MAX } from './numbers.ts';

/** What the sieve keeps of the body. Throws what the body and the sieve throw. `looked`: between the blocks, and at the end. */
export async function sift(
  body: AsyncIterable<Buffer>,
  sieve: Sieve,
  looked: () => Promise<unknown> = async () => undefined,
): Promise<Buffer> {
  for await (const block of body) {
    for (let at = 0; at < block.length; await looked()) at += sieve.push(block.subarray(at));
  }
  const kept = sieve.end();
  await looked();
  return kept;
}

export interface Sieve {
  /** Answers how many of the bytes it has read: it stops where something is to be looked at. Throws the Problem of a body that cannot be taken. */
  push(block: Buffer): number;
  /** What is kept of the body. Throws the Problem of a body that ends too early. */
  end(): Buffer;
}

/** The whole body, which is one event. */
export class WholeBody implements Sieve {
  readonly #blocks: Buffer[] = [];
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  push(block: Buffer): number {
    this.#bytes += block.length;
    if (this.#bytes > this.#bytesMax) throw eventTooLong();
    this.#blocks.push(block);
    return block.length;
  }

  end(): Buffer {
    const [first] = this.#blocks;
    return this.#blocks.length === 1 && first !== undefined ? first : Buffer.concat(this.#blocks);
  }
}

/** Of an envelope its header and its event: a line and, if there is one, all that follows. */
export class EnvelopeSieve implements Sieve {
  /** Where in the envelope the next byte is. */
  #at: 'header' | 'between' | 'item header' | 'payload' | 'behind' = 'header';
  /** The line, or the payload, that is being read. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #itemHeadersBytes = 0;
  #items = 0;
  #isEvent = false;
  /** Bytes of the payload that are still to come; null: it ends with the line. */
  #left: number | null = null;
  #header: Buffer | null = null;
  #event: Buffer | null = null;

  /** Its first line; null: it has not ended yet. */
  get header(): Buffer | null {
    return this.#header;
  }

  push(block: Buffer): number {
    if (this.#header === null) return this.#read(block, 0);
    let at = 0;
    while (at < block.length) at = this.#read(block, at);
    return at;
  }

  end(): Buffer {
    if (this.#at === 'header') this.#endHeader();
    if (this.#at === 'item header') this.#endItemHeader();
    if (this.#at === 'payload') {
      if (this.#left !== null && this.#left > 0) throw brokenEnvelope('The envelope ends within an item.');
      this.#endPayload();
    }
    const header = this.#header as Buffer;
    return Buffer.concat([header, Buffer.of(NEWLINE), ...(this.#event === null ? [] : [this.#event])]);
  }

  /** Reads a part of the block from `at` on; answers where it ended. */
  #read(block: Buffer, at: number): number {
    switch (this.#at) {
      case 'header':
        return this.#line(block, at, HEADER_BYTES_MAX, 'header of an envelope', () => this.#endHeader());
      case 'between':
        return this.#beginItem(block, at);
      case 'item header': {
        const room = ITEM_HEADERS_BYTES_MAX - this.#itemHeadersBytes;
        return this.#line(block, at, room, 'headers of the items', () => this.#endItemHeader());
      }
      case 'payload':
        return this.#left === null ? this.#payloadLine(block, at) : this.#payload(block, at, this.#left);
      case 'behind':
        if (block[at] !== NEWLINE) throw brokenEnvelope('An item is longer than its header says.');
        this.#at = 'between';
        return at + 1;
    }
  }

  /** Blank lines count like items: looking at millions of them would take its time. */
  #beginItem(block: Buffer, at: number): number {
    this.#items += 1;
    if (this.#items > ITEMS_MAX)
      throw brokenEnvelope(`An envelope may have at most ${ITEMS_MAX} items and blank lines.`);
    if (block[at] === NEWLINE) return at + 1;
    this.#at = 'item header';
    return at;
  }

  #line(block: Buffer, at: number, bytesMax: number, what: string, end: () => void): number {
    const found = block.indexOf(NEWLINE, at);
    this.#begin(block.subarray(at, found < 0 ? block.length : found));
    if (this.#begunBytes > bytesMax) throw brokenEnvelope(`The ${what} may have at most ${bytesMax} bytes.`);
    if (found >= 0) end();
    return found < 0 ? block.length : found + 1;
  }

  #payloadLine(block: Buffer, at: number): number {
    const found = block.indexOf(NEWLINE, at);
    this.#keep(block.subarray(at, found < 0 ? block.length : found));
    if (found < 0) return block.length;
    this.#endPayload();
    return found + 1;
  }

  #payload(block: Buffer, at: number, left: number): number {
    const end = Math.min(block.length, at + left);
    this.#keep(block.subarray(at, end));
    this.#left = left - (end - at);
    if (this.#left > 0) return end;
    this.#endPayload();
    this.#at = 'behind';
    return end;
  }

  #keep(bytes: Buffer): void {
    if (!this.#isEvent) return;
    this.#begin(bytes);
    if (this.#begunBytes > EVENT_BYTES_MAX) throw eventTooLong();
  }

  #begin(bytes: Buffer): void {
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
  }

  /** A copy of its own: the block it came in may be long. */
  #takeBytes(): Buffer {
    const bytes = Buffer.concat(this.#begun);
    this.#begun = [];
    this.#begunBytes = 0;
    return bytes;
  }

  #endHeader(): void {
    this.#header = this.#takeBytes();
    this.#at = 'between';
  }

  #endItemHeader(): void {
    const line = this.#takeBytes();
    this.#itemHeadersBytes += line.length;
    const { type, length }: JsonObject = parseObject(line, 'item header');
    this.#isEvent = type === 'event';
    if (this.#isEvent && this.#event !== null) throw brokenEnvelope('An envelope has at most one event.');
    this.#left = lengthOf(length);
    if (this.#isEvent && (this.#left ?? 0) > EVENT_BYTES_MAX) throw eventTooLong();
    this.#at = 'payload';
    if (this.#left !== 0) return;
    this.#endPayload();
    this.#at = 'behind';
  }

  #endPayload(): void {
    this.#at = 'between';
    if (!this.#isEvent) return;
    const event = this.#takeBytes();
    // With nothing behind its header an envelope has no event.
    if (event.length === 0) parseEvent(event);
    this.#event = event;
  }
}

function lengthOf(length: unknown): number | null {
  if (length === undefined || length === null) return null;
  if (typeof length === 'number' && Number.isSafeInteger(length) && length >= 0) return length;
  throw brokenEnvelope('The length of an item is not a number of bytes.');
}
