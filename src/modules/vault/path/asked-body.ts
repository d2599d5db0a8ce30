// The body of a request that a person may have to approve: it is read and kept, since what was approved is what is sent.
import type { IncomingHttpHeaders } from 'node:http';
import { problem } from '../../../problems/problem.ts';
import { BODY_BYTES_MAX } from '../limits.ts';

export interface Streamed {
  readonly headers: IncomingHttpHeaders;
  readonly stream: AsyncIterable<Buffer>;
}

export class AskedBody {
  readonly #request: Streamed;
  /** Null: nobody had to look at it. */
  bytes: Buffer | null = null;

  constructor(request: Streamed) {
    this.#request = request;
  }

  /** As vault.call has it. Throws PAYLOAD_TOO_LARGE. */
  async read(): Promise<Readonly<Record<string, unknown>>> {
    const { headers, stream } = this.#request;
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return {};
    this.bytes ??= await readAll(stream);
    const text = this.bytes.toString('utf8');
    const isText = Buffer.from(text).equals(this.bytes);
    return {
      content_type: headers['content-type'] ?? null,
      ...(isText ? { body: text } : { body_base64: this.bytes.toString('base64') }),
    };
  }
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) {
      const message = `A request that a person must approve has at most ${BODY_BYTES_MAX / 1_048_576} MiB.`;
      throw problem('PAYLOAD_TOO_LARGE', { message });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
