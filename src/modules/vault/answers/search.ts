// Replaces secrets in what a target answers, also where pieces cut them. Each byte of each occurrence goes: occurrences that overlap become
// one mark, so no tail of one is left. Linear in the bytes, whatever the text and the secrets are (figures in search.test.ts).
import { Automaton } from './automaton.ts';

const MARK = Buffer.from('[secret]');

/** Built once for each list of forms, and gone with it. */
const automata = new WeakMap<readonly Buffer[], Automaton>();

interface Span {
  start: number;
  end: number;
}

/** A search through one text. Offsets count from its first byte. */
export class SecretSearch {
  readonly #automaton: Automaton | null;
  #state = 0;
  /** The offset behind the last byte that was read. */
  #offset = 0;
  /** Everything before it was returned or replaced. */
  #doneOffset = 0;
  /** The last bytes that were read, where they are the beginning of a form. */
  #held: Buffer = Buffer.alloc(0);
  /** Occurrences from #doneOffset on: apart from each other, in order. */
  #spans: Span[] = [];
  #found = false;

  /** @param forms of the secrets; the same array for many searches is prepared once */
  constructor(forms: readonly Buffer[]) {
    this.#automaton = forms.length === 0 ? null : automatonOf(forms);
  }

  get found(): boolean {
    return this.#found;
  }

  /**
   * Searches the next piece. Returns all that can be told: only a suffix that is the beginning of a form is held back, and less than the
   * longest form. The result may be a part of the piece itself.
   */
  push(piece: Buffer): Buffer {
    if (this.#automaton === null) return piece;
    this.#read(this.#automaton, piece);
    const held = this.#automaton.bytesOf(this.#state);
    const returned = this.#take(piece, this.#offset + piece.length - held.length);
    this.#offset += piece.length;
    this.#held = held;
    return returned;
  }

  /** Returns what was held back. Nothing may be pushed afterwards. */
  end(): Buffer {
    return this.#take(Buffer.alloc(0), this.#offset);
  }

  #read(automaton: Automaton, piece: Buffer): void {
    let state = this.#state;
    for (let at = 0; at < piece.length; at++) {
      if (state === 0) at = automaton.leap(piece, at);
      state = automaton.next(state, piece[at] as number);
      const bytes = automaton.matchBytes(state);
      if (bytes > 0) this.#cover(this.#offset + at + 1 - bytes, this.#offset + at + 1);
    }
    this.#state = state;
  }

  #cover(start: number, end: number): void {
    this.#found = true;
    // Only a mark is done beyond the place where an occurrence can still begin: this one lengthens it.
    if (start < this.#doneOffset) {
      if (this.#spans.length > 0) this.#spans = [];
      this.#doneOffset = end;
      return;
    }
    for (let last = this.#spans.at(-1); last !== undefined && last.end > start; last = this.#spans.at(-1)) {
      if (last.start <= start) {
        last.end = end;
        return;
      }
      this.#spans.pop();
    }
    this.#spans.push({ start, end });
  }

  /** @param limit no occurrence that is found later begins before it */
  #take(piece: Buffer, limit: number): Buffer {
    if (this.#spans.length === 0 && this.#doneOffset >= this.#offset) return this.#takePlain(piece, limit);
    const later = this.#spans.findIndex(({ start }) => start > limit);
    const ready = this.#spans.splice(0, later === -1 ? this.#spans.length : later);
    const output = Buffer.allocUnsafe(Math.max(0, limit - this.#doneOffset) + ready.length * MARK.length);
    let length = 0;
    for (const { start, end } of ready) {
      length += this.#copyBytes(output, length, piece, start);
      length += MARK.copy(output, length);
      this.#doneOffset = end;
    }
    length += this.#copyBytes(output, length, piece, limit);
    return output.subarray(0, length);
  }

  #takePlain(piece: Buffer, limit: number): Buffer {
    if (limit <= this.#doneOffset) return Buffer.alloc(0);
    const part = piece.subarray(this.#doneOffset - this.#offset, limit - this.#offset);
    this.#doneOffset = limit;
    return part;
  }

  /** Copies the bytes from #doneOffset to `end`: first those that were held, then those of the piece. Returns how many. */
  #copyBytes(output: Buffer, at: number, piece: Buffer, end: number): number {
    const from = this.#doneOffset;
    if (end <= from) return 0;
    this.#doneOffset = end;
    const heldFrom = this.#offset - this.#held.length;
    const copied = from < this.#offset ? this.#held.copy(output, at, from - heldFrom, end - heldFrom) : 0;
    if (end <= this.#offset) return copied;
    return copied + piece.copy(output, at + copied, Math.max(0, from - this.#offset), end - this.#offset);
  }
}

/** Searches a text that is whole, such as the value of a header. */
export function searchText(forms: readonly Buffer[], text: string): { readonly text: string; readonly found: boolean } {
  const asText = searchAs('utf8', forms, text);
  // Header values reach us as one character for each byte.
  if (/^[\0-\x7f]*$/.test(asText.text) || /[^\0-\xff]/.test(asText.text)) return asText;
  const asBytes = searchAs('latin1', forms, asText.text);
  return { text: asBytes.text, found: asText.found || asBytes.found };
}

function searchAs(encoding: 'utf8' | 'latin1', forms: readonly Buffer[], text: string) {
  const search = new SecretSearch(forms);
  const bytes = Buffer.concat([search.push(Buffer.from(text, encoding)), search.end()]);
  return { text: search.found ? bytes.toString(encoding) : text, found: search.found };
}

function automatonOf(forms: readonly Buffer[]): Automaton {
  const known = automata.get(forms);
  if (known !== undefined) return known;
  const automaton = new Automaton(forms);
  automata.set(forms, automaton);
  return automaton;
}
