// Card numbers (ISO/IEC 7812): known beginnings with their lengths, and the Luhn digit. A number written in groups must be grouped
// as on cards, in blocks of 3 to 6, the first of at least 4, so that UUIDs, dates and tables of numbers stay.
import { codeAt, replaceSpans } from '../characters.ts';

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;
/** Groups that begin a number have so many digits; a number in one piece has more. */
const FIRST_GROUP_MIN = 4;
const GROUP_MIN = 3;
const GROUP_MAX = 6;

// A megabyte of groups has a number that may begin at each of them: every digit is read once, and a number that spans several groups
// is judged by the sums before and behind them. As many groups as a number may have, and the one behind, are remembered, in a ring.
// Nothing here is asynchronous.
const RING = 8;
const LAST = RING - 1;
const starts = new Int32Array(RING);
const ends = new Int32Array(RING);
/** Of the digits up to the end of each group: how many, and Luhn sums with the first, third, … doubled, and with the others. */
const counts = new Int32Array(RING);
const oddSums = new Int32Array(RING);
const evenSums = new Int32Array(RING);

/** Needs at least 13 digits in the text. */
export function scrubCards(text: string): string {
  const spans: number[] = [];
  for (let at = 0; at < text.length; ) {
    if (!isDigit(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = runEnd(text, at);
    if (end - at <= GROUP_MAX) at = takeGroups(text, at, end, spans);
    else {
      if (standsAlone(text, at, end) && isCardRun(text, at, end)) spans.push(at, end);
      at = end;
    }
  }
  return replaceSpans(text, spans);
}

const SMALLEST = 1e12;

/** Whether its digits are a card number: beginning, length and check digit. */
export function isCardNumber(value: number): boolean {
  if (value < SMALLEST) return false;
  const text = String(value);
  return /^\d{13,19}$/.test(text) && isCardRun(text, 0, text.length);
}

function isCardRun(text: string, at: number, end: number): boolean {
  if (end - at < DIGITS_MIN || end - at > DIGITS_MAX) return false;
  readGroup(text, 0, at, end);
  return isValid(text, 0, 0);
}

/** Takes the longest numbers from groups with one separator between them, the first from `at` to `end`. Answers where they end. */
function takeGroups(text: string, at: number, end: number, spans: number[]): number {
  let read = 1;
  readGroup(text, 0, at, end);
  for (let first = 0; first < read || readNext(text, read); ) {
    read = Math.max(read, first + 1);
    let found = -1;
    if (mayBegin(text, first)) {
      for (let last = first + 1; last < read || readNext(text, read); last += 1) {
        read = Math.max(read, last + 1);
        const digits = digitsOf(first, last);
        if (sizeOf(last) < GROUP_MIN || digits > DIGITS_MAX) break;
        if (digits >= DIGITS_MIN && isValid(text, first, last) && !isLetter(codeAt(text, endOf(last)))) found = last;
      }
    }
    if (found >= 0) spans.push(startOf(first), endOf(found));
    first = Math.max(first, found) + 1;
  }
  return endOf(read - 1);
}

const startOf = (group: number) => starts[group & LAST] as number;
const endOf = (group: number) => ends[group & LAST] as number;
const sizeOf = (group: number) => endOf(group) - startOf(group);

/** No card begins with 0, 1, 7 or 9. */
function mayBegin(text: string, group: number): boolean {
  const start = startOf(group);
  const first = text.charCodeAt(start);
  const isFirst = (first >= 50 && first <= 54) || first === 56;
  return isFirst && sizeOf(group) >= FIRST_GROUP_MIN && !isLetter(codeAt(text, start - 1));
}

/** Reads the group behind the last of `read`; answers whether there is one. */
function readNext(text: string, read: number): boolean {
  const start = endOf(read - 1) + 1;
  if (!isSeparator(codeAt(text, start - 1)) || !isDigit(codeAt(text, start))) return false;
  const end = runEnd(text, start);
  if (end - start > GROUP_MAX) return false;
  readGroup(text, read, start, end);
  return true;
}

function readGroup(text: string, group: number, start: number, end: number): void {
  const before = (group - 1) & LAST;
  let count = group === 0 ? 0 : (counts[before] as number);
  let odd = group === 0 ? 0 : (oddSums[before] as number);
  let even = group === 0 ? 0 : (evenSums[before] as number);
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit;
    odd += count % 2 === 0 ? doubled : digit;
    even += count % 2 === 0 ? digit : doubled;
    count += 1;
  }
  const at = group & LAST;
  starts[at] = start;
  ends[at] = end;
  counts[at] = count;
  oddSums[at] = odd;
  evenSums[at] = even;
}

function digitsOf(first: number, last: number): number {
  return (counts[last & LAST] as number) - (counts[first & LAST] as number) + sizeOf(first);
}

/** Whether the digits from one group to another are a card number. The last digit counts as it is, and from there every other one. */
function isValid(text: string, first: number, last: number): boolean {
  const digits = digitsOf(first, last);
  const isOdd = (counts[last & LAST] as number) % 2 === 0;
  const sums = isOdd ? oddSums : evenSums;
  const before = first === 0 ? 0 : (sums[(first - 1) & LAST] as number);
  if (((sums[last & LAST] as number) - before) % 10 !== 0) return false;
  const four = Number(text.slice(startOf(first), startOf(first) + 4));
  return hasBrand(digits, Math.floor(four / 100), four);
}

/** Not a piece of a hash or an id: no letter behind it, and before it none or a word that is no hexadecimal number. */
function standsAlone(text: string, at: number, end: number): boolean {
  if (isLetter(codeAt(text, end))) return false;
  let start = at;
  let hexadecimal = true;
  while (start > 0 && at - start < 32 && isLetter(codeAt(text, start - 1))) {
    start -= 1;
    if ((codeAt(text, start) | 0x20) > 0x66) hexadecimal = false;
  }
  if (start === at) return !(text[at - 1] === '.' && isDigit(codeAt(text, at - 2)));
  return !hexadecimal && !isDigit(codeAt(text, start - 1));
}

function runEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(codeAt(text, end))) end += 1;
  return end;
}

function hasBrand(length: number, two: number, four: number): boolean {
  if (two >= 40 && two <= 49) return length === 13 || length === 16 || length === 18 || length === 19;
  if (two === 34 || two === 37) return length === 15;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return length === 16;
  if (four >= 2200 && four <= 2204) return length >= 16;
  if (two === 36 || two === 38 || two === 39 || (four >= 3000 && four <= 3059) || four === 3095)
    return length === 14 || length === 16;
  if (four >= 3528 && four <= 3589) return length >= 16;
  if (two === 60 || two === 62 || two === 65 || (four >= 6440 && four <= 6499)) return length >= 16;
  if (two === 81 || two === 82) return length === 16;
  return (two === 50 || (two >= 56 && two <= 69)) && (length === 16 || length === 18 || length === 19);
}

const isDigit = (code: number) => code >= 48 && code <= 57;
const isLetter = (code: number) => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
/** Space, `-`, `.`, `+` (a space in a form) and the no-break spaces and dashes of typesetting. */
const isSeparator = (code: number) =>
  code === 32 ||
  code === 45 ||
  code === 46 ||
  code === 43 ||
  code === 0xa0 ||
  code === 0x202f ||
  (code >= 0x2009 && code <= 0x2013);
