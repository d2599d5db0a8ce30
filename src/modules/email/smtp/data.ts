// The bytes of one mail as they arrive. They are bounded, alone and with those of all other mails; lines end in CRLF alone: a server that took
// a bare LF for a line end would read one mail where another reads two (SMTP smuggling).
import type { Readable } from 'node:stream';
import type { FairPlaces } from '../../../lib/fair-places.ts';
import { SmtpReply } from './replies.ts';

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];

/** Of smtp-server: set once the mail is longer than the size that was told. */
export interface DataStream extends Readable {
  readonly sizeExceeded: boolean;
}

export interface HeldMail {
  readonly bytes: Buffer;
  /** Once the mail is kept: its bytes count no longer. */
  release(): void;
}

/** Reads to the end in any case, so that the reply finds a client that listens. Throws SmtpReply. */
export async function takeData(stream: DataStream, owner: string, held: FairPlaces): Promise<HeldMail> {
  const blocks = new Blocks();
  let bytes = 0;
  let refusal: SmtpReply | null = null;
  const release = () => {
    if (bytes > 0) held.release(owner, bytes);
    bytes = 0;
  };
  const refuse = (reply: SmtpReply) => {
    refusal ??= reply;
    blocks.clear();
    release();
  };
  const lines = new LineEnds();
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      if (refusal !== null) continue;
      if (!lines.areWhole(piece)) refuse(new SmtpReply(554, 'Lines must end in CRLF: the mail has a CR or LF alone.'));
      else if (stream.sizeExceeded) refuse(new SmtpReply(552, 'The mail is longer than 10 MiB.'));
      else if (!held.take(owner, piece.length))
        refuse(new SmtpReply(452, 'Too much mail arrives at once. Try again later.'));
      else {
        bytes += piece.length;
        blocks.add(piece);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
  if (refusal !== null) throw refusal;
  return { bytes: blocks.whole(), release };
}

const BLOCK_BYTES = 64 * 1024;

/**
 * Bytes of a mail, in blocks. The parser gives each line that begins with a dot as a piece of its own: kept as they come, 10 MiB of such lines would be
 * millions of buffers.
 */
class Blocks {
  #full: Buffer[] = [];
  #last = Buffer.alloc(0);
  #used = 0;

  add(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#used === this.#last.length) this.#begin();
      const copied = piece.copy(this.#last, this.#used, at);
      this.#used += copied;
      at += copied;
    }
  }

  #begin(): void {
    if (this.#used > 0) this.#full.push(this.#last);
    this.#last = Buffer.allocUnsafe(BLOCK_BYTES);
    this.#used = 0;
  }

  clear(): void {
    this.#full = [];
    this.#last = Buffer.alloc(0);
    this.#used = 0;
  }

  whole(): Buffer {
    return Buffer.concat([...this.#full, this.#last.subarray(0, this.#used)]);
  }
}

class LineEnds {
  #last = 0;

  /** Whether every CR has an LF behind it, and every LF a CR before it, up to the last byte. */
  areWhole(piece: Buffer): boolean {
    for (let at = piece.indexOf(LINE_FEED); at !== -1; at = piece.indexOf(LINE_FEED, at + 1)) {
      if ((at === 0 ? this.#last : piece[at - 1]) !== CARRIAGE_RETURN) return false;
    }
    for (let at = piece.indexOf(CARRIAGE_RETURN); at !== -1; at = piece.indexOf(CARRIAGE_RETURN, at + 1)) {
      if (at + 1 < piece.length && piece[at + 1] !== LINE_FEED) return false;
    }
    if (this.#last === CARRIAGE_RETURN && piece[0] !== LINE_FEED) return false;
    this.#last = piece.at(-1) ?? this.#last;
    return true;
  }
}
