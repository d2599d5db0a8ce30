// Card numbers (ISO/IEC 7812): known beginnings with their lengths, and the Luhn digit. A number written in groups must be grouped
// as on cards, in blocks of 3 to 6, the first of at least 4, so that UUIDs, dates and tables of numbers stay.
import { replaceSpans } from './marker.ts';
import { codeAt } from './text-characters.ts';

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;
/** No card begins with 0, 1, 7 or 9. */
const FIRST_GROUP = /(?<!\d)[2-68]\d{3,}/g;
const GROUP_MIN = 3;
const GROUP_MAX = 6;

// One buffer for the digits of the number in hand; nothing here is asynchronous.
const digits = new Uint8Array(DIGITS_MAX + 1);

/** Needs at least 13 digits in the text. */
export function scrubCards(text: string): string {
  const spans: number[] = [];
  FIRST_GROUP.lastIndex = 0;
  for (let match = FIRST_GROUP.exec(text); match !== null; match = FIRST_GROUP.exec(text)) {
    const at = match.index;
    const end = FIRST_GROUP.lastIndex;
    const size = end - at;
    if (size >= DIGITS_MIN && size <= DIGITS_MAX) takeWhole(text, at, end, spans);
    const found = size <= GROUP_MAX ? groupedEnd(text, at, end) : -1;
    if (found < 0) continue;
    spans.push(at, found);
    FIRST_GROUP.lastIndex = found;
  }
  return replaceSpans(text, spans);
}

/** Whether these digits are a card number: beginning, length and check digit. */
export function isCard(number: string): boolean {
  if (number.length < DIGITS_MIN || number.length > DIGITS_MAX || !/^\d+$/.test(number)) return false;
  return isCardNumber(readDigits(number, 0, number.length, 0));
}

function takeWhole(text: string, at: number, end: number, spans: number[]): void {
  if (standsAlone(text, at, end) && isCardNumber(readDigits(text, at, end, 0))) spans.push(at, end);
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

/** End of the longest number in groups that starts with the group from `at` to `firstEnd`; -1 when there is none. */
function groupedEnd(text: string, at: number, firstEnd: number): number {
  if (isLetter(codeAt(text, at - 1))) return -1;
  let count = readDigits(text, at, firstEnd, 0);
  let end = firstEnd;
  let found = -1;
  while (isSeparator(codeAt(text, end)) && isDigit(codeAt(text, end + 1))) {
    const next = runEnd(text, end + 1);
    const size = next - end - 1;
    if (size < GROUP_MIN || size > GROUP_MAX || count + size > DIGITS_MAX) break;
    count = readDigits(text, end + 1, next, count);
    end = next;
    if (count >= DIGITS_MIN && !isLetter(codeAt(text, end)) && isCardNumber(count)) found = end;
  }
  return found;
}

function runEnd(text: string, at: number): number {
  let end = at;
  while (isDigit(codeAt(text, end))) end += 1;
  return end;
}

/** Appends the digits to the buffer; answers how many it holds now. */
function readDigits(text: string, from: number, to: number, held: number): number {
  for (let i = from; i < to; i += 1) digits[held + i - from] = codeAt(text, i) - 48;
  return held + to - from;
}

function isCardNumber(length: number): boolean {
  const two = digitAt(0) * 10 + digitAt(1);
  return hasBrand(length, two, two * 100 + digitAt(2) * 10 + digitAt(3)) && passesLuhn(length);
}

const digitAt = (i: number) => digits[i] as number;

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

function passesLuhn(length: number): boolean {
  let sum = 0;
  for (let i = 0; i < length; i += 1) {
    const digit = digitAt(length - 1 - i);
    sum += i % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit;
  }
  return sum % 10 === 0;
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
