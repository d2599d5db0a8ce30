// Finds the source text of parts of a JSON document: opaque values are cut out as sent and never serialized again.
import { stringEnd } from './canonical-json.ts';

/** Deepest nesting of objects and arrays in the text. Strings are skipped; the text need not be valid. */
export function nestingDepth(text: string): number {
  return nesting(text).depth;
}

/** What a text costs to parse. */
export interface Nesting {
  /** Deepest nesting of objects and arrays. */
  readonly depth: number;
  /** Objects and arrays. */
  readonly containers: number;
  /** Names with their values, of all objects together. */
  readonly members: number;
}

/** Strings are skipped; the text need not be valid. */
export function nesting(text: string): Nesting {
  let depth = 0;
  let deepest = 0;
  let containers = 0;
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) at = stringEnd(text, at) - 1;
    // Digits, commas and spaces come before the colon.
    else if (code < 58) continue;
    else if (code === 58) members += 1;
    else if (code === 123 || code === 91) {
      depth += 1;
      containers += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 125 || code === 93) depth -= 1;
  }
  return { depth: deepest, containers, members };
}

/**
 * Members of all objects together, without those within the values of the names `left`; the text need not be valid. A name written
 * with escapes is none of `left`.
 */
export function membersWithout(text: string, left: ReadonlySet<string>): number {
  let members = 0;
  let name = '';
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      const end = stringEnd(text, at);
      name = text.slice(at + 1, end - 1);
      at = end - 1;
    } else if (code === 58) {
      members += 1;
      if (left.has(name)) at = valueEnd(text, skipSpace(text, at + 1)) - 1;
    }
  }
  return members;
}

interface Source {
  readonly start: number;
  readonly end: number;
}

/** Source texts of the members of the object that starts at or after `from` in a valid document. The last of a repeated name counts. */
export function memberSources(text: string, from = 0): Map<string, Source> {
  const members = new Map<string, Source>();
  let at = skipSpace(text, skipSpace(text, from) + 1);
  while (text.charCodeAt(at) !== 125) {
    const { name, start } = memberAt(text, at);
    const end = valueEnd(text, start);
    members.set(name, { start, end });
    at = afterValue(text, end);
  }
  return members;
}

/** Where the value of the member begins; nothing behind it is looked at. Null: the object has no such member. */
export function memberStart(text: string, wanted: string, from = 0): number | null {
  let at = skipSpace(text, skipSpace(text, from) + 1);
  while (text.charCodeAt(at) !== 125) {
    const { name, start } = memberAt(text, at);
    if (name === wanted) return start;
    at = afterValue(text, valueEnd(text, start));
  }
  return null;
}

/** The member whose name begins at `at`, and where its value begins. */
function memberAt(text: string, at: number): { readonly name: string; readonly start: number } {
  const nameEnd = stringEnd(text, at);
  const name = text.slice(at, nameEnd);
  const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
  return { name: name.includes('\\') ? (JSON.parse(name) as string) : name.slice(1, -1), start };
}

/** Where the next member or element begins, or the end of what holds them. */
function afterValue(text: string, end: number): number {
  const at = skipSpace(text, end);
  return text.charCodeAt(at) === 44 ? skipSpace(text, at + 1) : at;
}

/** Start positions of the elements of the array that starts at `from` in a valid document. */
export function elementStarts(text: string, from: number): number[] {
  const starts: number[] = [];
  let at = skipSpace(text, from + 1);
  while (text.charCodeAt(at) !== 93) {
    starts.push(at);
    at = afterValue(text, valueEnd(text, at));
  }
  return starts;
}

/** The texts of those elements. */
export function elementTexts(text: string, from: number): string[] {
  return elementStarts(text, from).map((start) => text.slice(start, valueEnd(text, start)));
}

/**
 * A valid document with a member or an element a line; its tokens stay as they are: digits, escapes, the order of names. One that would
 * have more than `charactersMax` is answered as it came: nesting makes a short text long.
 */
export function indentJson(text: string, charactersMax: number): string {
  const parts: string[] = [];
  let depth = 0;
  let characters = 0;
  const append = (part: string) => {
    parts.push(part);
    characters += part.length;
  };
  const line = () => append(`\n${'  '.repeat(depth)}`);
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    if (characters > charactersMax) return text;
    const sign = text[at] as string;
    const end = sign === '"' ? stringEnd(text, at) : at + 1;
    const next = skipSpace(text, end);
    const opens = sign === '{' || sign === '[';
    if (opens && (text[next] === '}' || text[next] === ']')) {
      append(`${sign}${text[next]}`);
      at = next + 1;
      continue;
    }
    if (opens) depth += 1;
    if (sign === '}' || sign === ']') {
      depth -= 1;
      line();
    }
    append(text.slice(at, end));
    if (opens || sign === ',') line();
    else if (sign === ':') append(' ');
    at = end;
  }
  return characters > charactersMax ? text : parts.join('');
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (text.charCodeAt(next) <= 32) next += 1;
  return next;
}

/** Index after the value that starts at `at`. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === 34) return stringEnd(text, at);
  if (first !== 123 && first !== 91) {
    let end = at;
    while (end < text.length) {
      const code = text.charCodeAt(end);
      if (code === 44 || code === 125 || code === 93 || code <= 32) break;
      end += 1;
    }
    return end;
  }
  let depth = 0;
  for (let end = at; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === 34) end = stringEnd(text, end) - 1;
    else if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) {
      depth -= 1;
      if (depth === 0) return end + 1;
    }
  }
  return text.length;
}
