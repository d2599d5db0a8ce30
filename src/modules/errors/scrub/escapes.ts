// What stands behind percent-encoding (RFC 3986 §2.1) and the entities of HTML, so that an encoded secret is found too.
import { codeAt } from './text-characters.ts';

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
export function decodeEscapes(text: string): string {
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
