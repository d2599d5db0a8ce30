// Finds the end of the value after a name in running text. When in doubt the value extends further: too much is hidden rather than too little.

import { codeAt, isBlank, isNameCharacter, isQuote, isSpace } from '../characters.ts';
import { NAME, type NameKind } from './names.ts';

/** A name of a secret, and how its value stands behind it. */
export interface Assigned {
  readonly kind: NameKind;
  /** Index behind the separator. */
  readonly from: number;
  /** quoted: only a value in quotes counts. element: up to the next tag. */
  readonly form: 'equals' | 'colon' | 'quoted' | 'element';
  /** Quote that the pair as a whole stands in, or empty. */
  readonly quote: string;
  readonly isCode: boolean;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

const PAIR_CHARACTERS_MAX = 64;
/** Words of prose, types and literals that no one has as a secret. */
const HARMLESS = new Set(
  `a an and any are as at async await be boolean buffer by can cannot class const does expected expired export false for from function has have
   if in int integer invalid is it let literal may missing must new nil no none not null number object of on optional or required
   return revoked should str string text that the to too true type undefined unknown unset used using var void was were will with
   yes your`.split(/\s+/),
);
const SCHEMES = /^(?:bearer|basic|token|digest|apikey|negotiate|hmac|aws4-hmac-sha256)$/i;
const EXPRESSION =
  /[A-Za-z_$][\w$]{0,63}(?:(?:\?\.|\.|->|::)[A-Za-z_$][A-Za-z_$]{0,63}){1,8}(?![\w=-])|[A-Za-z_$][\w$.]{0,63}\(/y;

/** The value to be replaced; null when there is none, or when it is plainly no secret. */
export function valueSpan(text: string, assigned: Assigned): Span | null {
  const start = valueStart(text, assigned.from);
  if (start >= text.length) return null;
  if (assigned.form === 'element') return elementSpan(text, assigned.from);
  const open = openingQuote(text, start);
  if (open > 0) return quotedSpan(text, start, open);
  if (assigned.form === 'quoted') return null;
  if (text.startsWith('//', start) && assigned.form === 'colon') return null;
  if (assigned.isCode && isExpression(text, start)) return null;
  return bareSpan(text, start, assigned);
}

function valueStart(text: string, from: number): number {
  let start = from;
  while (codeAt(text, start) === 61 || codeAt(text, start) === 126) start += 1;
  while (isSpace(codeAt(text, start))) start += 1;
  let line = start;
  for (let next = afterBlank(text, line); next > line; next = afterBlank(text, line)) line = next;
  // A value on the next line counts only in quotes, as in JSON that is laid out.
  return line > start && openingQuote(text, line) > 0 ? line : start;
}

/** The index behind one blank, or behind `\n`, `\r` or `\t` as JSON writes it, however deep it is nested; `at` when there is none. */
function afterBlank(text: string, at: number): number {
  if (isBlank(codeAt(text, at))) return at + 1;
  let end = at;
  while (codeAt(text, end) === 92) end += 1;
  const code = codeAt(text, end);
  return end > at && (code === 110 || code === 114 || code === 116) ? end + 1 : at;
}

/** Length of what opens a quoted value: backslashes of nested JSON, a letter as in b'…', the quote. 0: not quoted. */
function openingQuote(text: string, start: number): number {
  let at = start;
  if (isQuote(codeAt(text, at + 1)) && /[bBuUrRfF@$]/.test(text[at] as string)) at += 1;
  while (codeAt(text, at) === 92) at += 1;
  return isQuote(codeAt(text, at)) ? at + 1 - start : 0;
}

function quotedSpan(text: string, start: number, open: number): Span | null {
  const inside = start + open;
  const quote = text[inside - 1] as string;
  const depth = backslashesBefore(text, inside - 1);
  let end = text.indexOf(quote, inside);
  while (end >= 0 && isEscaped(backslashesBefore(text, end, inside), depth)) end = text.indexOf(quote, end + 1);
  if (end < 0) end = text.length;
  else end -= Math.min(depth, backslashesBefore(text, end, inside));
  const value = end - inside <= 12 ? text.slice(inside, end) : '';
  return end === inside || isHarmless(value) ? null : { start: inside, end };
}

/** A quote closes a text of its own depth: in nested JSON that is the one with as many backslashes as the opening one. */
const isEscaped = (backslashes: number, depth: number) => (depth === 0 ? backslashes % 2 === 1 : backslashes > depth);

function backslashesBefore(text: string, at: number, least = 0): number {
  let count = 0;
  while (at - count > least && codeAt(text, at - count - 1) === 92) count += 1;
  return count;
}

function elementSpan(text: string, from: number): Span | null {
  const end = text.indexOf('<', from);
  if (end === from) return null;
  const close = end < 0 ? text.length : end;
  return text.slice(from, Math.min(close, from + 256)).trim() === '' ? null : { start: from, end: close };
}

function bareSpan(text: string, start: number, assigned: Assigned): Span | null {
  let end = bareEnd(text, start);
  const word = end - start <= 20 ? text.slice(start, end) : '';
  const first = end === start;
  if (first && !isBracket(codeAt(text, start))) return null;
  if (isHarmless(word)) return null;
  if (assigned.kind === NAME.line && assigned.form === 'colon')
    return { start, end: lineEnd(text, start, assigned.quote) };
  if (isSpace(codeAt(text, end)) && word.length >= 4 && SCHEMES.test(word)) {
    while (isSpace(codeAt(text, end))) end += 1;
    end = /^(?:digest|hmac|aws4)/i.test(word) ? lineEnd(text, end, assigned.quote) : bareEnd(text, end);
  }
  return { start, end };
}

const HARMLESS_CHARACTERS_MAX = 9;

function isHarmless(word: string): boolean {
  let length = word.length;
  while (length > 0 && isEndMark(word.charCodeAt(length - 1))) length -= 1;
  if (length === 0) return word === '***';
  return length <= HARMLESS_CHARACTERS_MAX && HARMLESS.has(word.slice(0, length).toLowerCase());
}

/** `. , : ; ! ? ) *` */
const isEndMark = (code: number) =>
  code === 46 || code === 44 || code === 58 || code === 59 || code === 33 || code === 63 || code === 41 || code === 42;
const isBracket = (code: number) => code === 91 || code === 123;

function isExpression(text: string, start: number): boolean {
  EXPRESSION.lastIndex = start;
  return EXPRESSION.test(text);
}

/** To the end of the line, as text or as the two characters `\n`, or to the quote around the pair. */
function lineEnd(text: string, start: number, quote: string): number {
  let end = start;
  for (; end < text.length; end += 1) {
    const code = codeAt(text, end);
    if (code === 10 || code === 13 || (quote !== '' && text[end] === quote)) break;
    if (code === 92 && (text[end + 1] === 'n' || text[end + 1] === 'r')) break;
  }
  return end;
}

/**
 * End of a value without quotes: white space, or a mark behind which no more of it comes. `hunter2, then` and `a=hunter2&b=1` end
 * at the mark, `hun,ter&2` does not. A bracketed list or object is one value.
 */
function bareEnd(text: string, start: number): number {
  let end = isBracket(codeAt(text, start)) ? bracketEnd(text, start) : start;
  while (end < text.length) {
    const code = codeAt(text, end);
    if (isBlank(code)) break;
    if (isMark(code) && endsAt(text, end)) break;
    end += 1;
  }
  return end;
}

function bracketEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = codeAt(text, at);
    if (code === 91 || code === 123) depth += 1;
    else if (code === 93 || code === 125) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

const MARKS = new Uint8Array(128);
for (const one of ',;)]}&|"\'`<>\\') MARKS[one.charCodeAt(0)] = 1;
const isMark = (code: number) => code < 128 && MARKS[code] === 1;

function endsAt(text: string, at: number): boolean {
  const code = codeAt(text, at);
  const next = codeAt(text, at + 1);
  if (code === 92) return isQuote(next);
  return !isNameCharacter(next) || isPair(text, at + 1);
}

/** Whether `name=` or `name:` stands here. */
function isPair(text: string, from: number): boolean {
  const most = Math.min(text.length, from + PAIR_CHARACTERS_MAX);
  let at = from;
  while (at < most && (isNameCharacter(codeAt(text, at)) || codeAt(text, at) === 46)) at += 1;
  const code = codeAt(text, at);
  return at > from && (code === 61 || code === 58);
}
