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
  const pieces: Buffer[] = [];
  let bytes = 0;
  let refusal: SmtpReply | null = null;
  const release = () => {
    if (bytes > 0) held.release(owner, bytes);
    bytes = 0;
  };
  const refuse = (reply: SmtpReply) => {
    refusal ??= reply;
    pieces.length = 0;
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
        pieces.push(piece);
      }
    }
  } catch (error) {
    release();
    throw error;
  }
  if (refusal !== null) throw refusal;
  return { bytes: Buffer.concat(pieces), release };
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
