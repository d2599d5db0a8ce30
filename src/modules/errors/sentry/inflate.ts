// Bodies as SDKs compress them, decompressed within bounds: a bomb ends at the limit, and only a few are unfolded at a time.
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { problem } from '../../../problems/problem.ts';
import { ENVELOPE_BYTES_MAX, INFLATIONS_MAX } from './numbers.ts';

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzip: Decompress = promisify(zlib.gunzip);
const unbrotli: Decompress = promisify(zlib.brotliDecompress);
const unzlib: Decompress = promisify(zlib.inflate);
const unraw: Decompress = promisify(zlib.inflateRaw);

/** What `deflate` means is zlib's format (RFC 9110 §8.4.1.2); some send the bare one (RFC 1951), which no encoder begins so. */
const undeflate: Decompress = (body, options) =>
  ((body[0] ?? 0) & 0x0f) === 8 ? unzlib(body, options) : unraw(body, options);

const decompressors: Readonly<Record<string, Decompress>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: undeflate,
  br: unbrotli,
};

export class Inflater {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /**
   * The body without its content encoding. Throws UNSUPPORTED_MEDIA_TYPE for another encoding, PAYLOAD_TOO_LARGE beyond 4 MiB,
   * INVALID_REQUEST for a body that is not in its encoding.
   */
  async inflate(body: Buffer, encoding: string | undefined): Promise<Buffer> {
    const name = (encoding ?? '').trim().toLowerCase();
    if (name === '' || name === 'identity' || body.length === 0) return body;
    const decompress = Object.hasOwn(decompressors, name) ? decompressors[name] : undefined;
    if (decompress === undefined) {
      throw problem('UNSUPPORTED_MEDIA_TYPE', {
        message: `The content encoding ${JSON.stringify(name.slice(0, 100))} is not supported; send gzip, deflate or br.`,
      });
    }
    await this.#enter();
    try {
      return await decompress(body, { maxOutputLength: ENVELOPE_BYTES_MAX });
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE') {
        throw problem('PAYLOAD_TOO_LARGE', {
          message: `The body may have at most ${ENVELOPE_BYTES_MAX} bytes when decompressed.`,
        });
      }
      throw problem('INVALID_REQUEST', { message: `The body is not valid ${name}.`, cause: error });
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < INFLATIONS_MAX) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place passes to the one that waits longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
