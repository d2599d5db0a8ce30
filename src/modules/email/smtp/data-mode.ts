// Removes dot-stuffing from the bytes of a mail, and finds its end (RFC 5321, section 4.5.2).
//
// smtp-server 3.21.6 gives each stuffed line a write and a turn of the event loop of its own, and ignores backpressure. So 9 MiB of `..` took 16
// s of processor time. Here a piece of the network is one write, however its lines begin.

import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { TimeSlices } from '../../../lib/time-slices.ts';

type Done = Parameters<SMTPStream['_feedDataStream']>[1];

const [LINE_FEED, CARRIAGE_RETURN, DOT] = [0x0a, 0x0d, 0x2e];
/** Of the end, `\r\n.\r\n`, all but one may stand in the piece before. */
const KEPT_BYTES = 4;
/** Of one walk: before the function is compiled, 64 KiB hold the loop for 15 to 30 ms. */
const WALKED_BYTES = 8 * 1024;
/** Of all connections. */
const slices = new TimeSlices();

/** Every connection reads mail so from now on. */
export function readMailByPieces(): void {
  SMTPStream.prototype._feedDataStream = feed;
}

function feed(this: SMTPStream, piece: Buffer, done: Done): void {
  const kept = this._lastBytes;
  if (kept !== false && kept.length === KEPT_BYTES && isPlain(kept, piece)) {
    // Most pieces: nothing is copied.
    this._lastBytes = piece.subarray(-KEPT_BYTES);
    this._countDataBytes(piece.length);
    if (this._dataStream?.writable === true) this._dataStream.write(kept);
    writeOn(this._dataStream, piece.subarray(0, -KEPT_BYTES), done);
    return;
  }
  walk(this, piece.subarray(0, WALKED_BYTES), piece.subarray(WALKED_BYTES), done);
}

/** Reads `piece`, then `later`. */
function walk(stream: SMTPStream, piece: Buffer, later: Buffer, done: Done): void {
  const kept = stream._lastBytes;
  stream._lastBytes = false;
  const goOn: Done = later.length === 0 ? done : () => feed.call(stream, later, done);
  let bytes = kept === false ? piece : Buffer.concat([kept, piece]);
  if (stream._atDataStart && bytes.length >= 3 && isEnd(bytes, 0)) {
    stream._endDataMode(false, Buffer.concat([bytes.subarray(3), later]), done);
    return;
  }
  if (stream._atDataStart && bytes[0] === DOT && bytes[1] === DOT) {
    // The dot that stays is content, even if it comes alone in its piece.
    bytes = bytes.subarray(1);
    stream._atDataStart = false;
  }
  const read = unstuff(bytes);
  stream._countDataBytes(read.content.length);
  if (read.rest !== null) {
    stream._endDataMode(read.content, Buffer.concat([read.rest, later]), done);
    return;
  }
  stream._lastBytes = read.kept;
  if (read.content.length > 0) writeOn(stream._dataStream, read.content, goOn);
  else goOn();
}

function writeOn(stream: SMTPStream['_dataStream'], content: Buffer, done: Done): void {
  if (stream === null || !stream.writable || stream.write(content)) {
    inTurn(done);
    return;
  }
  // A stream that was destroyed does not drain: it closes.
  const goOn = () => {
    stream.off('drain', goOn).off('close', goOn);
    inTurn(done);
  };
  stream.on('drain', goOn).on('close', goOn);
}

/** The runtime reads up to 32 pieces of a connection in one turn, as long as they are taken. */
function inTurn(done: Done): void {
  if (slices.isOver) void slices.next().then(() => done());
  else done();
}

interface Unstuffed {
  /** What the mail says, up to what is kept, or to its end. */
  readonly content: Buffer;
  /** What is looked at again with the next piece. */
  readonly kept: Buffer;
  /** What is behind the mail; null: it goes on. */
  readonly rest: Buffer | null;
}

/** Whether no line begins with a dot. */
function isPlain(kept: Buffer, piece: Buffer): boolean {
  const between = Buffer.concat([kept, piece.subarray(0, 1)]);
  return piece.length >= KEPT_BYTES && !between.includes('\n.') && !piece.includes('\n.');
}

/** In one walk, and in its place. */
function unstuff(bytes: Buffer): Unstuffed {
  let seen = Math.max(0, bytes.length - KEPT_BYTES);
  let length = 0;
  let [before, last] = [0, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === DOT && last === LINE_FEED && at >= 2 && at < bytes.length - 2) {
      if (before === CARRIAGE_RETURN && isEnd(bytes, at))
        return { content: bytes.subarray(0, length), kept: bytes.subarray(0, 0), rest: bytes.subarray(at + 3) };
      if (bytes[at + 1] === DOT) {
        // What is looked at again begins behind it: the dot that stays does not begin a line then, and ends no mail.
        seen = Math.max(seen, at + 1);
        [before, last] = [last, byte];
        continue;
      }
    }
    [before, last] = [last, byte];
    bytes[length] = byte;
    length += 1;
  }
  const end = length - (bytes.length - seen);
  return { content: bytes.subarray(0, end), kept: bytes.subarray(end, length), rest: null };
}

function isEnd(bytes: Buffer, at: number): boolean {
  return bytes[at] === DOT && bytes[at + 1] === CARRIAGE_RETURN && bytes[at + 2] === LINE_FEED;
}
