// JSON of megabytes on the event loop without blocking other calls. It is encoded piece by piece, or taken over from a thread with its strings
// beside the text.
import { setImmediate as turn } from 'node:timers/promises';
import { TimeSlices } from './time-slices.ts';

/** Shorter values are encoded at once, in less than a millisecond. */
const SHORT_CHARACTERS = 128 * 1024;
const PIECE_CHARACTERS = 64 * 1024;
const slices = new TimeSlices();

/**
 * Whether the JSON of a value has surely more characters, found without making it: strings count as they are, anything else as one.
 * What is not longer by that is made, and looked at.
 */
export function isLonger(value: unknown, charactersMax: number): boolean {
  let left = charactersMax;
  const pending = [value];
  while (pending.length > 0 && left >= 0) {
    const one = pending.pop();
    if (typeof one === 'string') left -= one.length;
    else if (typeof one === 'object' && one !== null) {
      const inner = Object.values(one);
      left -= inner.length;
      if (left >= 0) for (const each of inner) pending.push(each);
    }
  }
  return left < 0;
}

/** The JSON of a plain value, as JSON.stringify has it; others have their turns while a long one is encoded. */
export async function encodeJson(value: unknown): Promise<string | Buffer> {
  if (!isLonger(value, SHORT_CHARACTERS)) return JSON.stringify(value);
  const encoded: Buffer[] = [];
  let text = '';
  for (const piece of piecesOf(value)) {
    text += piece;
    if (text.length < PIECE_CHARACTERS) continue;
    encoded.push(Buffer.from(text));
    text = '';
    if (slices.isOver) await slices.next();
  }
  return Buffer.concat([...encoded, Buffer.from(text)]);
}

function* piecesOf(value: unknown): Generator<string> {
  if (typeof value === 'string' && value.length > PIECE_CHARACTERS) yield* stringPieces(value);
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) {
    yield '[';
    for (const [i, each] of value.entries()) {
      if (i > 0) yield ',';
      yield* piecesOf(each);
    }
    yield ']';
  } else {
    let before = '{';
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(each);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

function* stringPieces(value: string): Generator<string> {
  yield '"';
  for (let from = 0; from < value.length; ) {
    const end = Math.min(from + PIECE_CHARACTERS, value.length);
    // A character of two halves stays whole.
    const to = end < value.length && isHighSurrogate(value.charCodeAt(end - 1)) ? end - 1 : end;
    yield JSON.stringify(value.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;

/**
 * A plain value on its way between threads: its JSON, in which marks stand for strings; these, one behind the other, in memory that
 * threads share, for a copy of megabytes takes its turn; and the byte at which each ends. A list, so that it is no object of a wire.
 */
export type PackedJson = readonly [
  text: string,
  strings: SharedArrayBuffer,
  ends: Uint32Array,
  encoding: 'latin1' | 'utf16le',
];

/** Begins the mark of a string that stands beside; a string that begins so itself stands beside, too. Not escaped in JSON: that is read more slowly. */
const MARK = '\u007f';
/** Shorter strings stay in the text, which is read in one turn: of 50,000 values it has at most 1.6 MB then. */
const LIFTED_CHARACTERS = 32;
/** V8 looks up strings of so many characters in a table of all: 50,000 different ones took 15 ms to read, longer ones 2. So these stand beside too. */
const INTERNED_CHARACTERS = 10;
/** No character of Latin-1. */
const WIDE = /[^\0-\xff]/;

/** For a thread: takes as long as the value is large. A string that is there twice goes over once. */
export function packJson(value: unknown): PackedJson {
  const indexes = new Map<string, number>();
  const lift = (one: unknown): unknown => {
    if (typeof one === 'string') {
      const isShort = one.length > INTERNED_CHARACTERS && one.length < LIFTED_CHARACTERS;
      if (isShort && !one.startsWith(MARK)) return one;
      const index = indexes.get(one) ?? indexes.size;
      indexes.set(one, index);
      return `${MARK}${String(index).padStart(INTERNED_CHARACTERS, '0')}`;
    }
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) return one.map(lift);
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, lift(each)]));
  };
  const text = JSON.stringify(lift(value));
  const all = [...indexes.keys()].join('');
  // In UTF-16 halves of characters stay what they are.
  const [encoding, width] = WIDE.test(all) ? (['utf16le', 2] as const) : (['latin1', 1] as const);
  const strings = new SharedArrayBuffer(all.length * width);
  Buffer.from(strings).write(all, encoding);
  let end = 0;
  const ends = Uint32Array.from(indexes.keys(), ({ length }) => {
    end += length * width;
    return end;
  });
  return [text, strings, ends, encoding];
}

/** In turns of their own: reading the text, and putting the strings back. */
export async function unpackJson([text, shared, ends, encoding]: PackedJson): Promise<unknown> {
  await turn();
  const strings = Buffer.from(shared);
  const root = { value: JSON.parse(text) as unknown };
  const pending: object[] = [root];
  for (let holder = pending.pop(); holder !== undefined; holder = pending.pop()) {
    // Entries of a long list would be made in one turn.
    for (const name of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      if (slices.isOver) await slices.next();
      const each = (holder as Record<string, unknown>)[name];
      if (typeof each === 'object' && each !== null) pending.push(each);
      else if (typeof each === 'string' && each.startsWith(MARK)) {
        const index = Number(each.slice(MARK.length));
        const value = strings.toString(encoding, ends[index - 1] ?? 0, ends[index]);
        // By definition, not assignment: a name may be __proto__.
        Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
      }
    }
  }
  return root.value;
}
