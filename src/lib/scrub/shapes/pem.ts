// Private keys as text: PEM (RFC 7468), OpenSSH, PGP and SSH2 blocks, and the private part of a PuTTY file. Certificates and public
// keys stay. A key without an end is taken to the end of the text.
import { MARKER, replaceSpans } from '../characters.ts';

const LABEL_CHARACTERS_MAX = 64;
const PUTTY = 'Private-Lines:';

export function scrubPrivateKeys(text: string): string {
  const spans: number[] = [];
  let at = text.indexOf('BEGIN ');
  while (at >= 0) {
    const begin = bodyOf(text, at);
    if (begin < 0) {
      at = text.indexOf('BEGIN ', at + 6);
      continue;
    }
    const end = endOf(text, begin);
    spans.push(begin, end);
    at = text.indexOf('BEGIN ', end);
  }
  return scrubPutty(replaceSpans(text, spans));
}

/** Whether a private key begins in the text and does not end in it: the next lines belong to it, unless it was taken out before. */
export function opensPrivateKey(text: string): boolean {
  if (!text.includes('PRIVATE KEY')) return false;
  const at = text.lastIndexOf('BEGIN ');
  const begin = at < 0 ? -1 : bodyOf(text, at);
  return begin >= 0 && !text.includes('END ', at) && !text.startsWith(MARKER, begin);
}

export function closesPrivateKey(text: string): boolean {
  return text.includes('END ') && text.includes('PRIVATE KEY');
}

/** Where the body of the key announced at `at` starts; -1 when it is no private key. */
function bodyOf(text: string, at: number): number {
  if (text[at - 1] !== '-' && !(text[at - 1] === ' ' && text[at - 2] === '-')) return -1;
  const head = text.slice(at, at + LABEL_CHARACTERS_MAX);
  const label = head.indexOf('PRIVATE KEY');
  if (label < 0) return -1;
  const close = head.indexOf('--', label);
  if (close < 0) return -1;
  let begin = at + close;
  while (text[begin] === '-') begin += 1;
  return begin;
}

function endOf(text: string, begin: number): number {
  const end = text.indexOf('END ', begin);
  if (end < 0) return text.length;
  let dashes = end;
  while (dashes > begin && (text[dashes - 1] === '-' || text[dashes - 1] === ' ')) dashes -= 1;
  return dashes;
}

function scrubPutty(text: string): string {
  const at = text.indexOf(PUTTY);
  return at < 0 ? text : replaceSpans(text, [at + PUTTY.length, text.length]);
}
