// Says which members of a captured event need no scrubbing, from its JSON. Most texts of an event came before, in events of the same
// crash: names of members, functions and files, lines of code. A WebAssembly module (scanner.wat) walks the JSON as bytes and compares
// each text, 16 bytes at a time, with those it knows to hide nothing; only what is new is judged here. When in doubt a member hides
// something: scrub.ts has the last word on it.
import { cleanText } from '../../intake/clean-text.ts';
import { memberName } from '../named/member-names.ts';
import { NAME } from '../named/names.ts';
import { LABELS, mayNameNext } from '../scrub.ts';
import { isCardNumber } from '../shapes/cards.ts';
import { scrubNewText } from '../text.ts';
import { scannerBinary } from './scanner-binary.ts';

/** Kinds of spans and meanings of names, as said in scanner.wat. The first two are bits of text.ts's MODE as well. */
const KIND = { personal: 1, code: 2, number: 4, entry: 8, name: 16, before: 32, hides: 64 } as const;
const MEANING = { value: 4, label: 8, keyPart: 16, key: 32, hides: 64 } as const;

const SPANS_AT = 4_096;
const SPANS_MAX = 256;
const SPAN_WORDS = 5;
/** Looking at a longer text takes milliseconds: scrub.ts does that anyway when it hides something. */
const TEXT_BYTES_MAX = 16_384;
const JSON_AT = 4_276_224;
const JSON_BYTES_MAX = 1_048_576;
/** Behind the JSON, so that a text ends in any case. */
const QUOTES = 32;
const QUOTE = 0x22;

interface Scanner {
  readonly memory: { readonly buffer: ArrayBuffer };
  scan(at: number, end: number): number;
  learn(at: number, end: number, kind: number, meaning: number): void;
}

/** What is known is of this thread, and of all accounts: a text hides something whoever sends it. */
class EventScanner {
  readonly #scanner = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(scannerBinary, 'base64')))
    .exports as unknown as Scanner;
  readonly #bytes = Buffer.from(this.#scanner.memory.buffer);
  readonly #spans = new Uint32Array(this.#scanner.memory.buffer, SPANS_AT, SPANS_MAX * SPAN_WORDS);

  hidingMembers(source: string): ReadonlySet<string> | null {
    if (Buffer.byteLength(source) > JSON_BYTES_MAX) return null;
    const end = JSON_AT + this.#bytes.write(source, JSON_AT, 'utf8');
    this.#bytes.fill(QUOTE, end, end + QUOTES);
    const count = this.#scanner.scan(JSON_AT, end);
    if (count < 0) return null;
    const hiding = new Set<string>();
    const spans = this.#spans;
    for (let word = 0; word < Math.min(count, SPANS_MAX) * SPAN_WORDS; word += SPAN_WORDS) {
      const meaning = this.#judge(spans[word] as number, spans[word + 1] as number, spans[word + 2] as number);
      // Other than plain, it would have changed how the walk went on.
      if (meaning !== 0) hiding.add(this.#text(spans[word + 3] as number, spans[word + 4] as number));
    }
    return count > SPANS_MAX ? null : hiding;
  }

  /** The meaning of a name, of another text whether it hides something. Remembers what came before, unless it is a text that does. */
  #judge(at: number, end: number, kind: number): number {
    if ((kind & KIND.hides) !== 0 || end - at > TEXT_BYTES_MAX) return MEANING.hides;
    const text = this.#text(at, end);
    if ((kind & KIND.number) !== 0) return isCardNumber(Number(text)) ? MEANING.hides : 0;
    const isName = (kind & KIND.name) !== 0;
    if (!isName && hides(text, kind)) return MEANING.hides;
    const meaning = isName ? meaningOf(text, kind) : 0;
    if ((kind & KIND.before) !== 0) this.#scanner.learn(at, end, kind & ~KIND.before, meaning);
    return meaning;
  }

  #text(at: number, end: number): string {
    const text = this.#bytes.toString('utf8', at, end);
    return text.includes('\\') ? cleanText(JSON.parse(`"${text}"`) as string) : text;
  }
}

function hides(text: string, kind: number): boolean {
  const mode = kind & (KIND.personal | KIND.code);
  return scrubNewText(text, mode) !== text || ((kind & KIND.entry) !== 0 && mayNameNext(text));
}

function meaningOf(name: string, kind: number): number {
  const known = memberName(name, kind & KIND.personal);
  if (known.clean !== name || known.kind !== NAME.plain) return MEANING.hides;
  return (
    known.mode |
    (known.isValue ? MEANING.value : 0) |
    (LABELS.includes(name) ? MEANING.label : 0) |
    (known.isKeyPart ? MEANING.keyPart : 0) |
    (name === 'kty' ? MEANING.key : 0)
  );
}

let scanner: EventScanner | undefined;

/**
 * Names of the members of an event in JSON that may hold something to hide: `scrubEvent` would change nothing in the others. Null: every
 * member may, because more than 256 texts are new, or it is nested too deep or too long. `source` must have been parsed before.
 */
export function hidingMembers(source: string): ReadonlySet<string> | null {
  scanner ??= new EventScanner();
  return scanner.hidingMembers(source);
}
