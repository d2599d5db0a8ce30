// Body verification for AWS signatures: the body's hash, or `aws-chunked` with signed chunks or a trailing checksum
// (docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html, sigv4-streaming-trailers.html). A body that does not match fails at its end at
// the latest. Nothing of it may be stored before that.
import { createHash, createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Problem, problem } from '../../problems/problem.ts';
import { invalidKey } from '../keys/api-key.ts';
import { type ChecksumName, checksumOf, isChecksumName } from './aws-checksums.ts';
import type { BodyProof } from './credential.ts';

/** With which the request itself was signed. */
export interface Signing {
  readonly key: KeyObject;
  readonly instant: string;
  readonly scope: string;
  readonly signature: string;
  /** Of x-amz-content-sha256. */
  readonly payload: string;
}

const SHA256 = /^[0-9a-f]{64}$/;
const CHUNKED = /^STREAMING-(AWS4-HMAC-SHA256-PAYLOAD|UNSIGNED-PAYLOAD-TRAILER)(-TRAILER)?$/;
const CHUNK = /^([0-9a-f]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/i;
const LINE_CHARACTERS_MAX = 512;
const TRAILERS_MAX = 4;
/** What the heads of chunks may take beside the body: those of AWS are one in a hundred. */
const FRAME_BYTES_MIN = 64 * 1024;
const FRAME_SHARE = 4;
const NOTHING = hash('sha256', '');
const NO_BYTES = Buffer.alloc(0);

/** Null: nothing is said of the body. Throws INVALID_REQUEST for what is said in a way that is not served. */
export function awsBodyProof(signing: Signing, headers: IncomingHttpHeaders): BodyProof | null {
  const { payload } = signing;
  if (payload === 'UNSIGNED-PAYLOAD') return null;
  if (SHA256.test(payload)) return { bytes: null, read: (sent) => hashedBody(sent, payload) };
  const [, kind, end] = CHUNKED.exec(payload) ?? [];
  const isSigned = kind === 'AWS4-HMAC-SHA256-PAYLOAD';
  if (kind === undefined || (!isSigned && end !== undefined)) {
    throw wrong('content_sha256', 'x-amz-content-sha256 says of the body what is not supported.');
  }
  const bytes = decodedLength(headers);
  const checksum = isSigned && end === undefined ? null : checksumNamed(headers);
  const signatures = isSigned ? new ChunkSignatures(signing) : null;
  return { bytes, read: (sent) => chunkedBody(new Lines(sent), { bytes, checksum, signatures }) };
}

async function* hashedBody(sent: AsyncIterable<Buffer>, due: string): AsyncGenerator<Buffer> {
  const body = createHash('sha256');
  for await (const block of sent) {
    body.update(block);
    yield block;
  }
  if (body.digest('hex') !== due) throw wrong('content_sha256', 'The body is not the one of x-amz-content-sha256.');
}

interface Chunked {
  readonly bytes: number;
  readonly checksum: ChecksumName | null;
  readonly signatures: ChunkSignatures | null;
}

async function* chunkedBody(lines: Lines, { bytes, checksum: name, signatures }: Chunked): AsyncGenerator<Buffer> {
  const checksum = name === null ? null : checksumOf(name);
  let left = bytes;
  try {
    for (let size = -1; size !== 0; ) {
      const head = CHUNK.exec(await lines.next());
      size = Number.parseInt(head?.[1] ?? '', 16);
      if (Number.isNaN(size)) throw wrong('chunk', 'A chunk of the body does not begin with its size.');
      if (size > left) throw wrong('decoded_length', 'The body is longer than x-amz-decoded-content-length says.');
      for await (const block of lines.bytes(size)) {
        signatures?.update(block);
        checksum?.update(block);
        yield block;
      }
      left -= size;
      signatures?.verify(head?.[2]);
      if (size > 0 && (await lines.next()) !== '') throw wrong('chunk', 'A chunk of the body is longer than it says.');
    }
    if (left > 0) throw wrong('decoded_length', 'The body is shorter than x-amz-decoded-content-length says.');
    const trailers = await readTrailers(lines);
    if (checksum === null) return;
    const field = `x-amz-checksum-${name}`;
    const sent = trailers.get(field);
    if (sent === undefined) throw wrong('trailer', `The body ends without ${field}, which x-amz-trailer names.`);
    signatures?.verifyTrailer(`${field}:${sent}\n`, trailers.get('x-amz-trailer-signature'));
    if (sent !== checksum.digest()) throw wrong('checksum', `The body is not the one of ${field}.`);
  } finally {
    await lines.end();
  }
}

async function readTrailers(lines: Lines): Promise<Map<string, string>> {
  const trailers = new Map<string, string>();
  for (let line = await lines.nextOrEnd(); line !== null; line = await lines.nextOrEnd()) {
    if (line === '') continue;
    const [name = '', value = ''] = line.split(/:(.*)/s, 2);
    trailers.set(name.trim().toLowerCase(), value.trim());
    if (trailers.size > TRAILERS_MAX) throw wrong('trailer', `A body ends with at most ${TRAILERS_MAX} trailers.`);
  }
  return trailers;
}

function decodedLength(headers: IncomingHttpHeaders): number {
  const text = String(headers['x-amz-decoded-content-length'] ?? '');
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw wrong('decoded_length', 'A body in chunks needs its length in x-amz-decoded-content-length.');
}

function checksumNamed(headers: IncomingHttpHeaders): ChecksumName {
  const name = String(headers['x-amz-trailer'] ?? '')
    .trim()
    .toLowerCase()
    .replace(/^x-amz-checksum-/, '');
  if (isChecksumName(name)) return name;
  throw wrong(
    'trailer',
    'x-amz-trailer must name one of x-amz-checksum-crc32, -crc32c, -crc64nvme, -sha1 and -sha256.',
  );
}

/** Each signature covers the one before it; the first one is that of the request. */
class ChunkSignatures {
  readonly #signing: Signing;
  #last: string;
  #chunk = createHash('sha256');

  constructor(signing: Signing) {
    this.#signing = signing;
    this.#last = signing.signature;
  }

  update(block: Buffer): void {
    this.#chunk.update(block);
  }

  verify(sent: string | undefined): void {
    this.#verify('AWS4-HMAC-SHA256-PAYLOAD', `${NOTHING}\n${this.#chunk.digest('hex')}`, sent);
    this.#chunk = createHash('sha256');
  }

  verifyTrailer(text: string, sent: string | undefined): void {
    this.#verify('AWS4-HMAC-SHA256-TRAILER', hash('sha256', text), sent);
  }

  #verify(kind: string, of: string, sent: string | undefined): void {
    const { key, instant, scope } = this.#signing;
    const due = createHmac('sha256', key).update(`${kind}\n${instant}\n${scope}\n${this.#last}\n${of}`).digest();
    if (sent === undefined || !SHA256.test(sent) || !timingSafeEqual(due, Buffer.from(sent, 'hex'))) {
      throw invalidKey('signature');
    }
    this.#last = sent;
  }
}

/** Lines, and bytes between them. */
class Lines {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = NO_BYTES;
  #lineBytes = 0;
  #bytes = 0;

  constructor(sent: AsyncIterable<Buffer>) {
    this.#source = sent[Symbol.asyncIterator]();
  }

  async next(): Promise<string> {
    const line = await this.nextOrEnd();
    if (line === null) throw tooShort();
    return line;
  }

  /** Null: there is nothing more. */
  async nextOrEnd(): Promise<string | null> {
    let line = '';
    for (;;) {
      const end = this.#rest.indexOf(10);
      line += this.#rest.toString('latin1', 0, end === -1 ? undefined : end);
      if (line.length > LINE_CHARACTERS_MAX) throw wrong('chunk', 'A line between the chunks of the body is too long.');
      this.#rest = end === -1 ? NO_BYTES : this.#rest.subarray(end + 1);
      if (end !== -1) break;
      if (await this.#more()) continue;
      if (line === '') return null;
      break;
    }
    this.#lineBytes += line.length + 1;
    if (this.#lineBytes > FRAME_BYTES_MIN + this.#bytes / FRAME_SHARE) {
      throw wrong('chunk', 'The chunks of the body are too small.');
    }
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  async *bytes(count: number): AsyncGenerator<Buffer, void, undefined> {
    this.#bytes += count;
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) throw tooShort();
      const block = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(block.length);
      left -= block.length;
      if (block.length > 0) yield block;
    }
  }

  async end(): Promise<void> {
    await this.#source.return?.();
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}

function tooShort(): Problem {
  return wrong('incomplete_body', 'The body ends before its last chunk.');
}

function wrong(detail: string, message: string): Problem {
  return problem('INVALID_REQUEST', { detail, message });
}
