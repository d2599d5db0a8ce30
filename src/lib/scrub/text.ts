// Scrubs one text. A single scan of its characters selects the passes it needs; most texts need none.
import { codeAt, MARKER } from './characters.ts';
import { scrubAssignments } from './named/assignments.ts';
import { mayNameSecret } from './named/names.ts';
import { scrubCards } from './shapes/cards.ts';
import { scrubPrivateKeys } from './shapes/pem.ts';
import { scrubEmails, scrubIPv4, scrubIPv6 } from './shapes/personal.ts';
import { scrubPrefixed, scrubRandom, scrubSchemes } from './shapes/tokens.ts';
import { scrubUserInfo } from './shapes/urls.ts';

/** How a text is read, as bits. PERSONAL: e-mail and IP addresses go too. CODE: a line of a program. PLAIN_NUMBER: digits alone are an id. */
export const MODE = { usual: 0, personal: 1, code: 2, number: 4 } as const;

const ENCODED_MAX = 3;
const SHORTEST = 5;
const PASSES_MAX = 4;
/** Longer texts are read once: a second reading is not worth its time there. */
const REPEATED_CHARACTERS_MAX = 65_536;

/** Linear in the length of the text; the same text comes back when nothing is found. */
export function scrubText(text: string, mode: number): string {
  if (text.length < SHORTEST || text === MARKER) return text;
  const features = featuresOf(text);
  if (features === 0) return text;
  let clean = untilStable(text, features, mode);
  if ((features & ESCAPED) === 0) return clean;
  let read = clean;
  for (let level = 0; level < ENCODED_MAX; level += 1) {
    const decoded = decodeEscapes(read);
    if (decoded === read) break;
    read = untilStable(decoded, featuresOf(decoded), mode);
    if (read !== decoded) clean = read;
  }
  return clean;
}

/** A marker may uncover what stood against it (`4111111111111111--token x`), so a text that changed is looked at again. */
function untilStable(text: string, features: number, mode: number): string {
  let clean = pass(text, features, mode);
  if (clean === text || text.length > REPEATED_CHARACTERS_MAX) return clean;
  for (let again = 0; again < PASSES_MAX; again += 1) {
    const before = clean;
    clean = pass(before, featuresOf(before), mode);
    if (clean === before) break;
  }
  return clean;
}

function pass(text: string, features: number, mode: number): string {
  let clean = text;
  if ((features & DASHES) !== 0 && clean.includes('PRIVATE KEY')) clean = scrubPrivateKeys(clean);
  else if (clean.includes('Private-Lines:')) clean = scrubPrivateKeys(clean);
  if ((features & AT) !== 0) clean = scrubUserInfo(clean);
  if ((features & SEPARATED) !== 0 && mayNameSecret(clean)) clean = scrubAssignments(clean, (mode & MODE.code) !== 0);
  if ((features & LONG_WORD) !== 0) clean = scrubPrefixed(clean);
  if (SCHEME.test(clean)) clean = scrubSchemes(clean);
  if ((features & LONG_BASE64) !== 0) clean = scrubRandom(clean);
  if ((features & DIGITS) !== 0 && !((mode & MODE.number) !== 0 && /^\d+$/.test(clean))) clean = scrubCards(clean);
  return (mode & MODE.personal) === 0 ? clean : passPersonal(clean, features);
}

function passPersonal(text: string, features: number): string {
  let clean = text;
  if ((features & AT) !== 0) clean = scrubEmails(clean);
  if ((features & DOTTED) !== 0) clean = scrubIPv4(clean);
  return (features & COLONS) === 0 ? clean : scrubIPv6(clean);
}

const SCHEME = /(?:earer|asic)[ \t]/i;

const AT = 1;
const SEPARATED = 2;
const ESCAPED = 4;
const DASHES = 8;
const DIGITS = 16;
const LONG_WORD = 32;
const LONG_BASE64 = 64;
const DOTTED = 128;
const COLONS = 256;

const WORD_CHARACTERS_MIN = 16;
const BASE64_CHARACTERS_MIN = 40;
const CARD_DIGITS_MIN = 13;

const IN_WORD = 512;
const IN_BASE64 = 1024;
const IS_DIGIT = 2048;
const FEATURES = 511;
// One look-up for each character: what it is a sign of, and the classes it counts for.
const signs = new Uint16Array(128);
for (let code = 0; code < 128; code += 1) {
  const one = String.fromCharCode(code);
  signs[code] =
    (/[\w-]/.test(one) ? IN_WORD : 0) |
    (/[A-Za-z0-9+/]/.test(one) ? IN_BASE64 : 0) |
    (/\d/.test(one) ? IS_DIGIT : 0) |
    (/[=:'"`>]/.test(one) ? SEPARATED : 0) |
    (/[%&]/.test(one) ? ESCAPED : 0) |
    (one === '@' ? AT : one === '-' ? DASHES : one === '.' ? DOTTED : one === ':' ? COLONS : 0);
}

function featuresOf(text: string): number {
  let found = 0;
  let digits = 0;
  let notWord = -1;
  let notBase64 = -1;
  let longestWord = 0;
  let longestBase64 = 0;
  const { length } = text;
  for (let i = 0; i < length; i += 1) {
    const code = text.charCodeAt(i);
    const sign = code < 128 ? (signs[code] as number) : 0;
    found |= sign;
    digits += (sign & IS_DIGIT) >> 11;
    if ((sign & IN_WORD) === 0) {
      if (i - notWord > longestWord) longestWord = i - notWord;
      notWord = i;
    }
    if ((sign & IN_BASE64) === 0) {
      if (i - notBase64 > longestBase64) longestBase64 = i - notBase64;
      notBase64 = i;
    }
  }
  found &= FEATURES;
  if (Math.max(longestWord, length - notWord) > WORD_CHARACTERS_MIN) found |= LONG_WORD;
  if (Math.max(longestBase64, length - notBase64) > BASE64_CHARACTERS_MIN) found |= LONG_BASE64;
  if (digits >= CARD_DIGITS_MIN) found |= DIGITS;
  // `--token …` and `Bearer …` have no separator but a space.
  if ((found & DASHES) !== 0 && text.includes('--')) found |= SEPARATED;
  return found === 0 && SCHEME.test(text) ? SEPARATED : found;
}

// What stands behind percent-encoding (RFC 3986 §2.1) and the entities of HTML, so that an encoded secret is found too.

const ENTITIES = /&(?:quot|amp|lt|gt|apos|#34|#39|#x27);/g;
const entities: Record<string, string> = {
  '&quot;': '"',
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&apos;': "'",
  '&#34;': '"',
  '&#39;': "'",
  '&#x27;': "'",
};

/** The text with printable ASCII decoded once; never fails, whatever stands behind a `%`. */
function decodeEscapes(text: string): string {
  const decoded = text.includes('%') ? decodePercent(text) : text;
  return decoded.includes('&') ? decoded.replace(ENTITIES, (entity) => entities[entity] ?? entity) : decoded;
}

function decodePercent(text: string): string {
  const units = new Uint16Array(text.length);
  let size = 0;
  for (let at = 0; at < text.length; at += 1) {
    let code = text.charCodeAt(at);
    if (code === 37) {
      const escaped = hexadecimal(codeAt(text, at + 1)) * 16 + hexadecimal(codeAt(text, at + 2));
      if (escaped >= 32 && escaped <= 126) {
        code = escaped;
        at += 2;
      }
    }
    units[size] = code;
    size += 1;
  }
  return size === text.length ? text : Buffer.from(units.buffer, 0, size * 2).toString('utf16le');
}

/** Too small for any sum to be a character. */
const NOT_HEXADECIMAL = -1_000;

function hexadecimal(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 0x20;
  return letter >= 97 && letter <= 102 ? letter - 87 : NOT_HEXADECIMAL;
}
