// Reader of a list of embeddings, one vector after the other. Read whole it would be one JSON text of up to 64 MiB, which blocks the event loop.
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { objectsOf } from '../../../../lib/chat/body.ts';
import { type Fields, fieldsOf } from '../../../../vendors/call/answer.ts';
import { ANSWER_BYTES_MAX, parseVendorJson, readBytes } from '../asking.ts';
import type { EmbedRequest } from '../port.ts';

/** A number as text, with its comma. */
const BYTES_PER_NUMBER = 26;
/** Of an item beside its vector. */
const BYTES_PER_ITEM = 1024;
const BYTES_BESIDE = 64 * 1024;
/** So much is read in a turn of the event loop: some milliseconds. */
const TURN_BYTES = 512 * 1024;
/** Within a text its quotes would be escaped: it is the name of a member, or a text that is just this word. */
const NAME = Buffer.from('"embedding"');
const [COLON, QUOTE, BRACKET] = [...Buffer.from(':"[')] as [number, number, number];
const SPACES: ReadonlySet<number> = new Set(Buffer.from(' \t\r\n'));

interface Embeddings {
  /** Without its vectors. */
  readonly answer: Fields | null;
  /** In the order of the inputs; null when one is missing, or is no vector of finite numbers. */
  readonly vectors: readonly Float32Array[] | null;
}

export async function readEmbeddings(
  body: Readable,
  { inputs, dimensionsMax }: Pick<EmbedRequest, 'inputs' | 'dimensionsMax'>,
): Promise<Embeddings> {
  const count = inputs.length;
  const beside = BYTES_BESIDE + count * BYTES_PER_ITEM;
  const bytes = await readBytes(body, Math.min(beside + count * dimensionsMax * BYTES_PER_NUMBER, ANSWER_BYTES_MAX));
  if (bytes === null) return { answer: null, vectors: null };
  const found: (Float32Array | null)[] = [];
  const left: Buffer[] = [];
  let [done, turned, isSound] = [0, 0, true];
  for (const { from, to } of vectorsIn(bytes)) {
    isSound &&= from < to;
    left.push(bytes.subarray(done, from), Buffer.from(String(found.length)));
    found.push(vectorOf(bytes.subarray(from, to)));
    done = to;
    if (done - turned < TURN_BYTES) continue;
    turned = done;
    await turn();
  }
  const rest = Buffer.concat([...left, bytes.subarray(done)]);
  const answer = rest.length > beside ? null : fieldsOf(parseVendorJson(rest.toString('utf8')));
  const byIndex = new Map(
    objectsOf(answer?.data).map(({ index, embedding }, at) => [Number(index ?? at), found[Number(embedding)]]),
  );
  const vectors = Array.from({ length: count }, (_, index) => byIndex.get(index) ?? null);
  return { answer, vectors: isSound && vectors.every((vector) => vector !== null) ? vectors : null };
}

/** Where the values of members called embedding stand: texts and lists, which have neither quotes nor brackets within; anything else is empty. */
function* vectorsIn(bytes: Buffer): Generator<{ readonly from: number; readonly to: number }> {
  for (let at = bytes.indexOf(NAME); at !== -1; at = bytes.indexOf(NAME, at)) {
    at = skipSpaces(bytes, at + NAME.length);
    if (bytes[at] !== COLON) continue;
    const from = skipSpaces(bytes, at + 1);
    const isList = bytes[from] === BRACKET;
    const isVector = isList || bytes[from] === QUOTE;
    const end = isVector ? bytes.indexOf(isList ? ']' : '"', from + 1) + 1 : from;
    at = end === 0 ? bytes.length : end;
    yield { from, to: at };
  }
}

function skipSpaces(bytes: Buffer, from: number): number {
  let at = from;
  while (SPACES.has(bytes[at] as number)) at += 1;
  return at;
}

/** Null: it is no vector of finite numbers. */
function vectorOf(bytes: Buffer): Float32Array | null {
  const value = parseVendorJson(bytes.toString('latin1'));
  const vector = typeof value === 'string' ? ofBase64(value) : Array.isArray(value) ? ofNumbers(value) : null;
  return vector !== null && vector.length > 0 && vector.every(Number.isFinite) ? vector : null;
}

function ofNumbers(values: readonly unknown[]): Float32Array {
  return Float32Array.from(values, (value) => (typeof value === 'number' ? value : Number.NaN));
}

function ofBase64(text: string): Float32Array | null {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return null;
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}
