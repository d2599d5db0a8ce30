// The body of a request to a raw route, as its module reads it. It is stripped of the chunks of the credential's protocol and compared with what
// was signed. The content encoding is undone where the route asks for that, and the route's limits apply.

import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { BodyProof } from '../../core/credentials/credential.ts';
import { type Encoding, inflateBody, windowBytes } from '../../core/inflate.ts';
import type { Place, Traffic } from '../../gateway/limits/traffic.ts';
import type { RawRoute } from '../../kit/raw-route.ts';
import { type Problem, problem } from '../../problems/problem.ts';
import type { OpenStreams } from './streams.ts';

const NO_BODY = Buffer.alloc(0);
/** How AWS clients say that a body comes in chunks, which is no encoding of the content. */
const CHUNKED = 'aws-chunked';

type BodyRoute = Pick<RawRoute, 'bodyBytesMax' | 'encodings' | 'inflatedBytesMax' | 'passesAwsChunked' | 'stream'>;

/** Before anything of the body is read: throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE. */
export function admitBody(route: BodyRoute, headers: IncomingHttpHeaders, proof: BodyProof | null): void {
  encodingOf(route, headers, proof);
  const announced = proof?.bytes ?? Number(headers['content-length'] ?? 0);
  if (route.stream === 'both' && announced > route.bodyBytesMax) throw tooLong(route.bodyBytesMax);
}

/** Null: none that is to be undone. */
function encodingOf(
  { encodings = [], passesAwsChunked }: BodyRoute,
  headers: IncomingHttpHeaders,
  proof: BodyProof | null,
): Encoding | null {
  const isUnframed = proof !== null && proof.bytes !== null;
  const unframed = isUnframed || passesAwsChunked === true ? [CHUNKED] : [];
  const sent = (headers['content-encoding'] ?? '').split(',').map((each) => each.trim().toLowerCase());
  const names = sent.filter((each) => !['', 'identity', ...unframed].includes(each));
  const name = names.join(', ');
  if (name === '' || (encodings === 'kept' && !names.includes(CHUNKED))) return null;
  const known = name === 'x-gzip' ? 'gzip' : name;
  if (encodings !== 'kept' && (encodings as readonly string[]).includes(known)) return known as Encoding;
  const served = encodings === 'kept' || encodings.length === 0 ? 'the body as it is' : encodings.join(', ');
  throw problem('UNSUPPORTED_MEDIA_TYPE', {
    message: `The content encoding ${JSON.stringify(name.slice(0, 100))} is not supported; send ${served}.`,
  });
}

export interface RawBodyOptions {
  readonly route: BodyRoute;
  readonly headers: IncomingHttpHeaders;
  readonly traffic: Traffic;
  readonly place: Place;
  readonly streams: OpenStreams;
  /** Of the credential that let the request in, once it has. */
  readonly proof: () => BodyProof | null;
}

export class RawBody {
  readonly #sent: unknown;
  readonly #options: RawBodyOptions;
  #stream: Readable | null = null;
  /** As the module gets it; null: as it was sent. */
  #proven: Buffer | null = null;

  /** `sent`: the bytes, a stream of them, or nothing. */
  constructor(sent: unknown, options: RawBodyOptions) {
    this.#sent = sent;
    this.#options = options;
  }

  /** Whether it is read as it comes. */
  get isStream(): boolean {
    return this.#sent instanceof Readable;
  }

  get bytes(): Buffer {
    return this.#proven ?? (Buffer.isBuffer(this.#sent) ? this.#sent : NO_BODY);
  }

  /** Compares a body that is there with what its credential signed. Throws the Problem of one that is another. */
  async prove(): Promise<void> {
    const proof = this.#options.proof();
    if (proof === null || this.#sent instanceof Readable) return;
    const blocks: Buffer[] = [];
    for await (const block of proof.read(one(this.bytes))) blocks.push(block);
    const [first] = blocks;
    this.#proven = blocks.length === 1 && first !== undefined ? first : Buffer.concat(blocks);
  }

  get stream(): Readable {
    this.#stream ??= this.#sent instanceof Readable ? this.#streamOf(this.#sent) : Readable.from([]);
    return this.#stream;
  }

  /** The body without its encoding. What it inflates to is counted until `use` has ended. */
  async inflate<Result>(use: (blocks: AsyncIterable<Buffer>) => Promise<Result>): Promise<Result> {
    const { route, traffic, place } = this.#options;
    const encoding = this.#encoding();
    const sent = one(this.bytes);
    if (encoding === null) return use(sent);
    let counted = 0;
    const count = (bytes: number) => {
      traffic.receive(place, bytes);
      counted += bytes;
    };
    try {
      count(windowBytes[encoding]);
      return await use(counting(inflateBody(sent, encoding, route.inflatedBytesMax ?? route.bodyBytesMax), count));
    } finally {
      traffic.forget(place, counted);
    }
  }

  #encoding(): Encoding | null {
    const { route, headers, proof } = this.#options;
    return encodingOf(route, headers, proof());
  }

  #streamOf(sent: Readable): Readable {
    const { route, traffic, place, streams, proof } = this.#options;
    const encoding = this.#encoding();
    // The connection stays, for an answer, when not all of it is read.
    const arriving = streams.read(sent.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
    const body = limitBytes(proof()?.read(arriving) ?? arriving, route.bodyBytesMax);
    if (encoding === null) return Readable.from(body, { objectMode: false });
    // It is held as long as the request: what is inflated is read no faster than it is used.
    traffic.receive(place, windowBytes[encoding]);
    return Readable.from(inflateBody(body, encoding, route.inflatedBytesMax ?? route.bodyBytesMax), {
      objectMode: false,
    });
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function* counting(blocks: AsyncIterable<Buffer>, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    count(block.length);
    yield block;
  }
}

async function* limitBytes(blocks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const block of blocks) {
    bytes += block.length;
    if (bytes > bytesMax) throw tooLong(bytesMax);
    yield block;
  }
}

function tooLong(bytesMax: number): Problem {
  return problem('PAYLOAD_TOO_LARGE', { message: `The body may have at most ${bytesMax} bytes.` });
}
