// Reader of multipart/form-data (RFC 7578) as it arrives: few short fields, then a file of any length that is not kept. What follows the file is for
// nobody. Nothing beyond the bounds is held, whatever is sent.
import { isUtf8 } from 'node:buffer';

export interface StreamedPart {
  readonly name: string;
  /** As it was sent; empty when it has none. */
  readonly filename: string;
  readonly contentType: string | null;
}

export interface FormBounds {
  /** Heads and fields before the file, delimiters too. */
  readonly bytesMax: number;
  readonly partsMax: number;
}

/** Says what is wrong with a form. `too_long`: it is beyond the bounds. */
export class FormError extends Error {
  override readonly name = 'FormError';
  readonly reason: 'malformed' | 'too_long';

  constructor(reason: FormError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

const BOUNDARY = /;\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;,"]{1,70}))/i;
const HEAD_BYTES_MAX = 4_096;
const HEAD_END = Buffer.from('\r\n\r\n');
const CRLF = Buffer.from('\r\n');
const NAME = /^content-disposition:\s*form-data\b[^\r\n]*?;\s*name="([^"\r\n]{1,200})"/im;
const FILE_NAME = /^content-disposition:[^\r\n]*?;\s*filename="([^"\r\n]{0,1024})"/im;
const TYPE = /^content-type:[ \t]*([^\r\n]{1,255}?)[ \t]*$/im;

/** Null: the header names none. */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  return quoted ?? plain ?? null;
}

export class FormStream {
  readonly #source: AsyncIterator<Buffer>;
  readonly #delimiter: Buffer;
  readonly #bounds: FormBounds;
  /** What has come and is not read yet; as if a line had ended before the form. */
  #rest: Buffer = CRLF;
  #parts = 0;
  /** Of fields and heads. */
  #bytes = 0;
  /** Of all that has come. */
  #arrived = 0;

  constructor(source: AsyncIterable<Buffer>, boundary: string, bounds: FormBounds) {
    this.#source = source[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
    this.#bounds = bounds;
  }

  /** Bytes of the form that stand before what is read next. */
  get passed(): number {
    return this.#arrived - this.#rest.length;
  }

  /** What a form has at least behind its file. */
  get endBytes(): number {
    return this.#delimiter.length + 2;
  }

  /** The first part. Throws FormError. */
  async first(): Promise<StreamedPart | null> {
    await this.#fill(this.#delimiter.length);
    if (!this.#rest.subarray(0, this.#delimiter.length).equals(this.#delimiter)) {
      throw new FormError('malformed', 'The form does not begin with its boundary.');
    }
    this.#rest = this.#rest.subarray(this.#delimiter.length);
    return this.#next();
  }

  /** The value of the part, in UTF-8, and the part behind it; null: there is none. Throws FormError. */
  async field(): Promise<{ readonly value: string; readonly next: StreamedPart | null }> {
    let at = this.#rest.indexOf(this.#delimiter);
    while (at === -1) {
      this.#requireShort(this.#rest.length);
      const from = Math.max(0, this.#rest.length - this.#delimiter.length + 1);
      await this.#more();
      at = this.#rest.indexOf(this.#delimiter, from);
    }
    const bytes = this.#rest.subarray(0, at);
    this.#count(at);
    if (!isUtf8(bytes)) throw new FormError('malformed', 'A field of the form is not UTF-8.');
    const value = bytes.toString('utf8');
    this.#rest = this.#rest.subarray(at + this.#delimiter.length);
    return { value, next: await this.#next() };
  }

  /** The bytes of the part, which is the last that is read. Throws FormError where the form ends before its end. */
  async *file(): AsyncGenerator<Buffer, void, undefined> {
    const kept = this.#delimiter.length - 1;
    for (;;) {
      const at = this.#rest.indexOf(this.#delimiter);
      const end = at === -1 ? Math.max(0, this.#rest.length - kept) : at;
      if (end > 0) {
        const block = this.#rest.subarray(0, end);
        this.#rest = this.#rest.subarray(end);
        yield block;
      }
      if (at !== -1) return;
      await this.#more();
    }
  }

  /** To its end, so that the connection goes on. Throws FormError for more than so many bytes. */
  async drain(bytesMax: number): Promise<void> {
    let bytes = this.#rest.length;
    for (;;) {
      if (bytes > bytesMax) throw new FormError('too_long', 'The form goes on behind its file.');
      const next = await this.#source.next();
      if (next.done === true) return;
      this.#arrived += next.value.length;
      bytes += next.value.length;
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #next(): Promise<StreamedPart | null> {
    await this.#fill(2);
    const mark = this.#rest.toString('latin1', 0, 2);
    if (mark === '--') return null;
    if (mark !== '\r\n') throw new FormError('malformed', 'A boundary of the form does not end its line.');
    this.#parts += 1;
    if (this.#parts > this.#bounds.partsMax) {
      throw new FormError('too_long', `The form has more than ${this.#bounds.partsMax} fields.`);
    }
    let end = this.#rest.indexOf(HEAD_END);
    while (end === -1) {
      if (this.#rest.length > HEAD_BYTES_MAX) throw new FormError('malformed', 'The head of a field is too long.');
      await this.#more();
      end = this.#rest.indexOf(HEAD_END);
    }
    if (end > HEAD_BYTES_MAX) throw new FormError('malformed', 'The head of a field is too long.');
    const head = this.#rest.toString('utf8', 2, end);
    this.#count(end + HEAD_END.length + this.#delimiter.length);
    this.#rest = this.#rest.subarray(end + HEAD_END.length);
    const name = NAME.exec(head)?.[1];
    if (name === undefined) throw new FormError('malformed', 'A field of the form has no name.');
    return { name, filename: FILE_NAME.exec(head)?.[1] ?? '', contentType: TYPE.exec(head)?.[1] ?? null };
  }

  #count(bytes: number): void {
    this.#requireShort(bytes);
    this.#bytes += bytes;
  }

  #requireShort(bytes: number): void {
    if (this.#bytes + bytes <= this.#bounds.bytesMax) return;
    throw new FormError('too_long', `The fields before the file may have ${this.#bounds.bytesMax} bytes together.`);
  }

  async #fill(bytes: number): Promise<void> {
    while (this.#rest.length < bytes) await this.#more();
  }

  async #more(): Promise<void> {
    const next = await this.#source.next();
    if (next.done === true) throw new FormError('malformed', 'The form ends before its end.');
    this.#arrived += next.value.length;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
  }
}
