// A client of HTTP/2 for tests: one session, many requests.
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import { Readable } from 'node:stream';

const PIECE = 64 * 1024;

export interface H2Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

export function h2(url: string, ca: string): ClientHttp2Session {
  return connect(url, { ca });
}

/** Rejects when the stream ends without an answer, or is reset. */
export function ask(session: ClientHttp2Session, head: OutgoingHttpHeaders, body?: Buffer | string): Promise<H2Reply> {
  const stream = session.request(head, { endStream: body === undefined });
  // Piece by piece: what waits in a session is bounded.
  if (body !== undefined) piecesOf(Buffer.from(body)).pipe(stream);
  return answerOf(stream);
}

function piecesOf(body: Buffer): Readable {
  const pieces = Array.from({ length: Math.ceil(body.length / PIECE) }, (_, i) =>
    body.subarray(i * PIECE, (i + 1) * PIECE),
  );
  return Readable.from(pieces, { objectMode: false });
}

export function answerOf(stream: ClientHttp2Stream): Promise<H2Reply> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let headers: Record<string, unknown> = {};
    stream.on('response', (told) => {
      headers = told;
    });
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.once('error', reject);
    stream.once('close', () => {
      if (stream.rstCode === 0) resolve({ status: Number(headers[':status']), headers, body: Buffer.concat(pieces) });
      else reject(new Error(`reset with ${stream.rstCode}`));
    });
  });
}
