// The bytes of one mail as they arrive, bounded alone and together with those of all other mails. Lines end in CRLF alone. A server that took a
// bare LF for a line end would read one mail where another reads two (SMTP smuggling).
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FairPlaces } from '../../../lib/fair-places.ts';
import { RECEIVED_BYTES_MAX, RECEIVED_LINES_MAX } from '../inboxes/limits.ts';
import { MailBytes } from '../receiving/mail-bytes.ts';
import { SmtpReply } from './replies.ts';

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];
/** Between two pieces of a mail that is refused: nobody waits for it, and reading it takes time from all others. */
const REFUSED_PIECE_MS = 20;

/** Of smtp-server: set once the mail is longer than the size that was told. */
export interface DataStream extends Readable {
  readonly sizeExceeded: boolean;
}

export interface HeldMail {
  readonly mail: MailBytes;
  /** Once the mail is kept: its bytes count no longer. */
  release(): void;
}

/** The client left before its mail had an end. */
export class ClientDisconnected extends Error {}

/** Reads to the end in any case, so that the reply finds a client that listens. Throws SmtpReply, ClientDisconnected. */
export async function takeData(stream: DataStream, owner: string, held: FairPlaces): Promise<HeldMail> {
  let mail: MailBytes | null = new MailBytes(RECEIVED_BYTES_MAX);
  let bytes = 0;
  let refusal: SmtpReply | null = null;
  const release = () => {
    if (bytes > 0) held.release(owner, bytes);
    bytes = 0;
  };
  const lines = new LineEnds();
  const refusalOf = (piece: Buffer) => {
    if (!lines.areWhole(piece)) return new SmtpReply(554, 'Lines must end in CRLF: the mail has a CR or LF alone.');
    if (lines.count > RECEIVED_LINES_MAX)
      return new SmtpReply(552, `The mail has more than ${RECEIVED_LINES_MAX} lines.`);
    if (stream.sizeExceeded) return new SmtpReply(552, 'The mail is longer than 10 MiB.');
    return held.take(owner, piece.length)
      ? null
      : new SmtpReply(452, 'Too much mail arrives at once. Try again later.');
  };
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      if (refusal !== null) {
        await sleep(REFUSED_PIECE_MS);
        continue;
      }
      refusal = refusalOf(piece);
      if (refusal === null) {
        bytes += piece.length;
        mail?.add(piece);
      } else {
        mail = null;
        release();
      }
    }
  } catch (error) {
    release();
    throw stream.destroyed ? new ClientDisconnected('the client left in a mail', { cause: error }) : error;
  }
  if (refusal !== null || mail === null) throw refusal;
  return { mail, release };
}

class LineEnds {
  count = 0;
  #last = 0;

  /** Whether every CR has an LF behind it, and every LF a CR before it, up to the last byte. */
  areWhole(piece: Buffer): boolean {
    let before = this.#last;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if ((byte === LINE_FEED) !== (before === CARRIAGE_RETURN)) return false;
      if (byte === LINE_FEED) this.count += 1;
      before = byte;
    }
    this.#last = before;
    return true;
  }
}
