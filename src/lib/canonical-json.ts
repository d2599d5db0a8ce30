// Canonical form of a JSON text: members sorted by name, no white space, numbers normalised only where a double holds them exactly.
// Works on the source text, not on parsed values, so that 12345678901234567890 and ...891 stay different requests.

/** The canonical text of a valid JSON document; `without` names root members to leave out. */
export function canonicalJson(text: string, without: ReadonlySet<string> = new Set()): string {
  const cursor = { text, at: 0 };
  return value(cursor, without);
}

const COMMA = 44;
const ZERO = 48;
const NINE = 57;
const CLOSING_BRACKET = 93;
const CLOSING_BRACE = 125;

interface Cursor {
  readonly text: string;
  at: number;
}

const none: ReadonlySet<string> = new Set();

function value(cursor: Cursor, without: ReadonlySet<string>): string {
  skipSpace(cursor);
  switch (cursor.text[cursor.at]) {
    case '{':
      return object(cursor, without);
    case '[':
      return array(cursor);
    case '"':
      return string(cursor);
    default:
      return scalar(cursor);
  }
}

function object(cursor: Cursor, without: ReadonlySet<string>): string {
  const names: string[] = [];
  const values: string[] = [];
  let isSorted = true;
  cursor.at += 1;
  skipSpace(cursor);
  while (cursor.text.charCodeAt(cursor.at) !== CLOSING_BRACE) {
    const name = string(cursor);
    skipSpace(cursor);
    cursor.at += 1; // the colon
    const source = value(cursor, none);
    skipSpace(cursor);
    if (cursor.text.charCodeAt(cursor.at) === COMMA) cursor.at += 1;
    skipSpace(cursor);
    if (without.size > 0 && without.has(nameOf(name))) continue;
    if (names.length > 0 && (names[names.length - 1] as string) >= name) isSorted = false;
    names.push(name);
    values.push(source);
  }
  cursor.at += 1;
  return isSorted ? members(names, values) : sortedMembers(names, values);
}

/** What a canonical name stands for; most have no escapes. */
function nameOf(source: string): string {
  return source.includes('\\') ? (JSON.parse(source) as string) : source.slice(1, -1);
}

function members(names: readonly string[], values: readonly string[]): string {
  let text = '{';
  for (let i = 0; i < names.length; i += 1) text += `${i === 0 ? '' : ','}${names[i]}:${values[i]}`;
  return `${text}}`;
}

/** A repeated name counts once, with its last value, as for JSON.parse. */
function sortedMembers(names: readonly string[], values: readonly string[]): string {
  const order = names.map((_, i) => i).sort((a, b) => compare(names[a] as string, names[b] as string) || a - b);
  const kept = order.filter((at, i) => names[at] !== names[order[i + 1] as number]);
  return members(
    kept.map((at) => names[at] as string),
    kept.map((at) => values[at] as string),
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function array(cursor: Cursor): string {
  const items: string[] = [];
  cursor.at += 1;
  skipSpace(cursor);
  while (cursor.text[cursor.at] !== ']') {
    items.push(value(cursor, none));
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ',') cursor.at += 1;
    skipSpace(cursor);
  }
  cursor.at += 1;
  return `[${items.join(',')}]`;
}

function string(cursor: Cursor): string {
  const end = stringEnd(cursor.text, cursor.at);
  const source = cursor.text.slice(cursor.at, end);
  cursor.at = end;
  // Escapes have many spellings: one form for all.
  return source.includes('\\') ? JSON.stringify(JSON.parse(source)) : source;
}

function scalar(cursor: Cursor): string {
  const start = cursor.at;
  let isPlain = true;
  for (; cursor.at < cursor.text.length; cursor.at += 1) {
    const code = cursor.text.charCodeAt(cursor.at);
    if (code === COMMA || code === CLOSING_BRACE || code === CLOSING_BRACKET || code <= 32) break;
    if (code < ZERO || code > NINE) isPlain = false;
  }
  const source = cursor.text.slice(start, cursor.at);
  // Digits alone are canonical already, and so are true, false and null.
  if (isPlain || source.charCodeAt(0) > NINE) return source;
  // A double holds 15 digits exactly; what overflows or vanishes in it stays as it was sent.
  const number = Number(source);
  const isExact =
    source.length <= 15 && Number.isFinite(number) && (number !== 0 || /^-?[0.]+(?:[eE].*)?$/.test(source));
  return isExact ? String(number) : source;
}

function skipSpace(cursor: Cursor): void {
  while (cursor.text.charCodeAt(cursor.at) <= 32) cursor.at += 1;
}

/** Index after the closing quote of the string that opens at `at`. */
export function stringEnd(text: string, at: number): number {
  let end = at;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
}
