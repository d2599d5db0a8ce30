// JSON of megabytes on the event loop: encoded piece by piece, and taken over from a thread with its long strings beside the text, so that
// neither way holds up other calls.
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
 * A plain value on its way between threads: its JSON, in which marks stand for long strings; these, one behind the other; and where each ends. A
 * list, so that it is no object of a wire.
 */
export type PackedJson = readonly [text: string, strings: string, ends: Uint32Array];

/** Begins the mark of a string that stands beside; a string that begins so itself stands beside, too. Not escaped in JSON: that is read more slowly. */
const MARK = '\u007f';
/** Shorter strings stay in the text, which is read in one turn: of 50,000 values it has at most 1.6 MB then. */
const LIFTED_CHARACTERS = 32;

/** For a thread: takes as long as the value is large. A string that is there twice goes over once. */
export function packJson(value: unknown): PackedJson {
  const indexes = new Map<string, number>();
  const lift = (one: unknown): unknown => {
    if (typeof one === 'string') {
      if (one.length < LIFTED_CHARACTERS && !one.startsWith(MARK)) return one;
      const index = indexes.get(one) ?? indexes.size;
      indexes.set(one, index);
      return `${MARK}${index}`;
    }
    if (typeof one !== 'object' || one === null) return one;
    if (Array.isArray(one)) return one.map(lift);
    return Object.fromEntries(Object.entries(one).map(([name, each]) => [name, lift(each)]));
  };
  const text = JSON.stringify(lift(value));
  let end = 0;
  const ends = Uint32Array.from(indexes.keys(), ({ length }) => {
    end += length;
    return end;
  });
  return [text, [...indexes.keys()].join(''), ends];
}

/** In turns of their own: reading the text, and putting the strings back. */
export async function unpackJson([text, strings, ends]: PackedJson): Promise<unknown> {
  await turn();
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
        const value = strings.slice(ends[index - 1] ?? 0, ends[index]);
        // By definition, not assignment: a name may be __proto__.
        Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
      }
    }
  }
  return root.value;
}
