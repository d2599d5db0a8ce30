// A growing byte writer and a sequential byte reader. Numbers are varints (seven bits a byte, lowest first).

const FIRST_BYTES = 1_024;
/** From here on bits are taken by division: bit operations know 31. */
const BITS_MAX = 2 ** 31;

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(value: number): void {
    this.room(8);
    const bytes = this.#bytes;
    let at = this.#length;
    let rest = value;
    while (rest >= BITS_MAX) {
      bytes[at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      bytes[at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[at++] = rest;
    this.#length = at;
  }

  bytes(source: Uint8Array): void {
    this.room(source.length);
    this.#bytes.set(source, this.#length);
    this.#length += source.length;
  }

  /** As UTF-8, without its length. */
  text(source: string): void {
    this.room(source.length * 3);
    this.#length += this.#bytes.write(source, this.#length);
  }

  /** Room for so many bytes more: those behind the end are unwritten. */
  room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + bytes));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  /** What was written: a view, which the next write may overwrite. */
  writtenBytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  varint(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at++] as number;
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = bytes[this.#at++] as number;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  /** Numbers, each as its difference to the one before: a varint whose lowest bit is its sign (zigzag). Most are of few bytes, which bit operations read. */
  deltas(count: number): Float64Array {
    const bytes = this.#bytes;
    const values = new Float64Array(count);
    let at = this.#at;
    let value = 0;
    for (let i = 0; i < count; i += 1) {
      let byte = bytes[at++] as number;
      let zigzag = byte & 127;
      for (let shift = 7; byte >= 128 && shift < 28; shift += 7) {
        byte = bytes[at++] as number;
        zigzag |= (byte & 127) << shift;
      }
      if (byte < 128) value += (zigzag >>> 1) ^ -(zigzag & 1);
      else {
        for (let scale = 2 ** 28; byte >= 128; scale *= 128) {
          byte = bytes[at++] as number;
          zigzag += (byte & 127) * scale;
        }
        value += zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
      }
      values[i] = value;
    }
    this.#at = at;
    return values;
  }

  /** The next so many bytes: a view. */
  bytes(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }
}
