// Canonical form of a JSON text: members sorted by name, no white space, numbers normalised only where a double holds them exactly.
// Works on the source text, not on parsed values, so that 12345678901234567890 and ...891 stay different requests.

/** The canonical text of a valid JSON document; `without` names root members to leave out. */
export function canonicalJson(text: string, without: ReadonlySet<string> = new Set()): string {
  const cursor = { text, at: 0 };
  return value(cursor, without);
}

interface Cursor {
  readonly text: string;
  at: number;
}

const none: ReadonlySet<string> = new Set();

function value(cursor: Cursor, without: ReadonlySet<string>): string {
  skipSpace(cursor);
  const char = cursor.text[cursor.at];
  if (char === '{') return object(cursor, without);
  if (char === '[') return array(cursor);
  if (char === '"') return string(cursor);
  return scalar(cursor);
}

function object(cursor: Cursor, without: ReadonlySet<string>): string {
  const members = new Map<string, string>();
  cursor.at += 1;
  skipSpace(cursor);
  while (cursor.text[cursor.at] !== '}') {
    const name = string(cursor);
    skipSpace(cursor);
    cursor.at += 1; // the colon
    // A repeated name replaces the earlier one, as JSON.parse does.
    members.set(name, value(cursor, none));
    skipSpace(cursor);
    if (cursor.text[cursor.at] === ',') cursor.at += 1;
    skipSpace(cursor);
  }
  cursor.at += 1;
  const names = [...members.keys()]
    .filter((name) => without.size === 0 || !without.has(JSON.parse(name) as string))
    .sort();
  return `{${names.map((name) => `${name}:${members.get(name)}`).join(',')}}`;
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
  while (cursor.at < cursor.text.length && !',]} \t\n\r'.includes(cursor.text[cursor.at] as string)) cursor.at += 1;
  const source = cursor.text.slice(start, cursor.at);
  const digits = source.replace(/^-|[.eE+-].*$/g, '').length;
  return /^-?\d/.test(source) && source.length <= 15 && digits <= 15 ? String(Number(source)) : source;
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
