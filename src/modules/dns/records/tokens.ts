// Tokenizer of zone files (RFC 1035, section 5.1), one line after another: quotes, escapes, comments, and brackets that join lines. Linear in
// the text, and every word and line is bounded.

/** `text` has a byte in each character. */
export interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
  /** Something of it was escaped: it is no name that is served here. */
  readonly isEscaped: boolean;
}

export interface Entry {
  /** Of its first word, from 1. */
  readonly line: number;
  /** It begins with blanks: the name is that of the entry before. */
  readonly isIndented: boolean;
  readonly tokens: readonly Token[];
}

/** What is wrong with a value, or a line; a sentence for whoever wrote it. */
export class BadValue extends Error {
  override readonly name = 'BadValue';
}

/** The same with its line. */
export class BadLine extends BadValue {
  constructor(line: number, message: string) {
    super(`Line ${line}: ${message}`);
  }
}

const TOKENS_MAX = 300;
const TOKEN_BYTES_MAX = 4_096;
/** Up to what ends a word, or needs a look. */
const PLAIN = /[^\s"\\;()]+/y;
const QUOTED = /[^"\\\n]+/y;

/** Bytes as characters, which `text` of tokens is made of. */
export function bytesText(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** @param text as `bytesText` gives it. Throws BadLine. */
export function* entriesOf(text: string): Generator<Entry> {
  const reader = new Reader(text);
  for (let entry = reader.next(); entry !== null; entry = reader.next()) {
    if (entry.tokens.length > 0) yield entry;
  }
}

/** The words of one value. Throws BadValue. */
export function tokensOf(value: string): readonly Token[] {
  return new Reader(bytesText(value).replaceAll('\n', ' ')).next()?.tokens ?? [];
}

class Reader {
  readonly #text: string;
  #at = 0;
  #line = 1;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next entry, maybe an empty one; null at the end. */
  next(): Entry | null {
    const text = this.#text;
    if (this.#at >= text.length) return null;
    const isIndented = text[this.#at] === ' ' || text[this.#at] === '\t';
    const tokens: Token[] = [];
    let line = this.#line;
    let depth = 0;
    while (this.#at < text.length) {
      const char = text[this.#at] as string;
      if (char === '\n') {
        this.#at += 1;
        this.#line += 1;
        if (depth === 0) return { line, isIndented, tokens };
      } else if (char === ';') {
        const end = text.indexOf('\n', this.#at);
        this.#at = end === -1 ? text.length : end;
      } else if (char === '(' || char === ')') {
        depth += char === '(' ? 1 : -1;
        if (depth < 0 || depth > 1) throw new BadLine(this.#line, 'brackets do not match.');
        this.#at += 1;
      } else if (/\s/.test(char)) {
        this.#at += 1;
      } else {
        if (tokens.length === 0) line = this.#line;
        if (tokens.length === TOKENS_MAX) throw new BadLine(line, `more than ${TOKENS_MAX} words.`);
        tokens.push(char === '"' ? this.#readQuoted() : this.#plain());
      }
    }
    if (depth !== 0) throw new BadLine(line, 'a bracket is not closed.');
    return { line, isIndented, tokens };
  }

  #plain(): Token {
    let text = '';
    let isEscaped = false;
    for (;;) {
      text += this.#run(PLAIN);
      if (this.#text[this.#at] !== '\\') break;
      isEscaped = true;
      text += this.#readEscaped();
      this.#checkLength(text);
    }
    this.#checkLength(text);
    return { text, isQuoted: false, isEscaped };
  }

  #readQuoted(): Token {
    this.#at += 1;
    let text = '';
    let isEscaped = false;
    for (;;) {
      text += this.#run(QUOTED);
      this.#checkLength(text);
      const char = this.#text[this.#at];
      if (char === '"') break;
      if (char !== '\\') throw new BadLine(this.#line, 'a quote is not closed.');
      isEscaped = true;
      text += this.#readEscaped();
    }
    this.#at += 1;
    return { text, isQuoted: true, isEscaped };
  }

  #run(of: RegExp): string {
    of.lastIndex = this.#at;
    const [found = ''] = of.exec(this.#text) ?? [];
    this.#at += found.length;
    return found;
  }

  /** `\DDD` is a byte, `\X` is X. */
  #readEscaped(): string {
    const digits = this.#text.slice(this.#at + 1, this.#at + 4);
    if (/^\d{3}$/.test(digits)) {
      const byte = Number(digits);
      if (byte > 255) throw new BadLine(this.#line, `\\${digits} is no byte.`);
      this.#at += 4;
      return String.fromCharCode(byte);
    }
    const char = this.#text[this.#at + 1];
    if (char === undefined || char === '\n') throw new BadLine(this.#line, 'a backslash ends the line.');
    this.#at += 2;
    return char;
  }

  #checkLength(text: string): void {
    if (text.length > TOKEN_BYTES_MAX) throw new BadLine(this.#line, `a word of more than ${TOKEN_BYTES_MAX} bytes.`);
  }
}
