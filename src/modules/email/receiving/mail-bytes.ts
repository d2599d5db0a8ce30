// The bytes of one mail, in memory that threads share, with room for the trace before them. So a mail is written once, as it comes in. Each copy
// of 10 MiB, for a thread or behind a trace, holds the event loop for some 40 ms.
import { TimeSlices } from '../../../lib/time-slices.ts';

/** Of what this service writes before a mail: see `traceOf`. */
const TRACE_BYTES_MAX = 4 * 1024;
const STEP_BYTES = 64 * 1024;
const slices = new TimeSlices();

export class MailBytes {
  readonly #memory: SharedArrayBuffer;
  #end = TRACE_BYTES_MAX;

  constructor(bytesMax: number) {
    this.#memory = new SharedArrayBuffer(TRACE_BYTES_MAX, { maxByteLength: TRACE_BYTES_MAX + bytesMax });
  }

  /** A copy of what is there as a whole; others have their turns while a long one is copied. */
  static async of(source: Buffer): Promise<MailBytes> {
    const mail = new MailBytes(source.length);
    for (let at = 0; at < source.length; at += STEP_BYTES) {
      if (at > 0 && slices.isOver) await slices.next();
      mail.add(source.subarray(at, at + STEP_BYTES));
    }
    return mail;
  }

  get length(): number {
    return this.#end - TRACE_BYTES_MAX;
  }

  /** Throws RangeError beyond its bound. */
  add(piece: Buffer): void {
    const end = this.#end + piece.length;
    const { byteLength, maxByteLength } = this.#memory;
    if (end > byteLength) this.#memory.grow(Math.max(end, Math.min(byteLength + STEP_BYTES, maxByteLength)));
    piece.copy(Buffer.from(this.#memory, this.#end));
    this.#end = end;
  }

  /** As it was handed over. */
  get received(): Buffer {
    return Buffer.from(this.#memory, TRACE_BYTES_MAX, this.length);
  }

  /** With header lines before it, in ASCII. Called once: it is the same memory. */
  withTrace(trace: string): Buffer {
    if (trace.length > TRACE_BYTES_MAX) throw new RangeError('the trace of a mail is too long');
    const start = TRACE_BYTES_MAX - trace.length;
    Buffer.from(this.#memory, start, trace.length).write(trace, 'latin1');
    return Buffer.from(this.#memory, start, this.#end - start);
  }
}
