// Undoes the content encodings that the service asks a target for, so that an answer can be searched for secrets.
import { pipeline, type Readable } from 'node:stream';
import { type BrotliDecompress, createBrotliDecompress, createGunzip, type Gunzip } from 'node:zlib';
import { TimeSlices } from '../../../lib/time-slices.ts';
import type { SecretSearch } from './search.ts';

/** As much is searched without a look at the time. */
const TURN_BYTES = 64 * 1024;
/** Of all bodies: a socket brings up to 2 MiB in one turn of the event loop. */
const slices = new TimeSlices();

type Decoder = Gunzip | BrotliDecompress;

const gunzip = () => createGunzip({ chunkSize: TURN_BYTES });
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map<string, () => Decoder>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', () => createBrotliDecompress({ chunkSize: TURN_BYTES })],
]);

export interface UndoneBody {
  /** What was encoded; the body itself where nothing was, or nothing is known. */
  readonly body: Readable;
  /** Whether it has an encoding that was not asked for, or several: it cannot be searched. */
  readonly isUnknown: boolean;
}

/**
 * Undoes gzip or br (RFC 9110, section 8.4.1). The length is not bounded here. The new body fails when the old one does and where it is cut
 * short; when either is destroyed, so is the other.
 */
export function undoEncoding(contentEncoding: string | readonly string[] | undefined, body: Readable): UndoneBody {
  const encodings = String(contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
  const [encoding] = encodings;
  if (encoding === undefined) return { body, isUnknown: false };
  const decoder = encodings.length === 1 ? DECODERS.get(encoding)?.() : undefined;
  if (decoder === undefined) return { body, isUnknown: true };
  admitEmpty(decoder);
  // The reader of the decoder meets its error there.
  return { body: pipeline(body, decoder, () => {}), isUnknown: false };
}

/** Answers to HEAD, 304 and some servers' empty files name an encoding and have no body. */
function admitEmpty(decoder: Decoder): void {
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (callback) => (decoder.bytesWritten === 0 ? callback() : flush(callback));
}

/** The body with each secret replaced, in pieces that are not empty. Ends the body when its reader stops early. */
export async function* withoutSecrets(body: Readable, search: SecretSearch): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    for (let at = 0; at < piece.length; at += TURN_BYTES) {
      // A short body waits for nobody.
      if (bytes >= TURN_BYTES && slices.isOver) await slices.next();
      bytes += Math.min(TURN_BYTES, piece.length - at);
      const searched = search.push(piece.subarray(at, at + TURN_BYTES));
      if (searched.length > 0) yield searched;
    }
  }
  const rest = search.end();
  if (rest.length > 0) yield rest;
}
