// Passwords in the authority of URLs (RFC 3986 §3.2.1) and of data source names, and the tokens that some hosts take as user names.
import { codeAt, replaceSpans } from '../characters.ts';

const TOKEN_CHARACTERS_MIN = 20;
const NAME_CHARACTERS_MAX = 128;
/** RFC 3986 §3.2.3; lists of hosts have a comma behind it. */
function isPort(url: string, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const code = url.charCodeAt(at);
    if (code === 44) return at - from <= 5;
    if (code < 48 || code > 57) return false;
  }
  return to - from <= 5;
}

/** Needs an `@` in the text. */
export function scrubUserInfo(text: string): string {
  const spans: number[] = [];
  for (let at = text.indexOf('://'); at >= 0; ) at = text.indexOf('://', takeUserInfo(text, at + 3, spans));
  const clean = replaceSpans(text, spans);
  return clean.includes('@') ? scrubBareUserInfo(clean) : clean;
}

/** Looks at the URL behind `://`; answers where it ends. One walk, since a megabyte may consist of them. */
function takeUserInfo(text: string, start: number, spans: number[]): number {
  let colon = -1;
  let path = -1;
  let last = -1;
  let lastInAuthority = -1;
  let end = start;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code <= 32 || code === 34 || code === 39 || code === 96 || code === 60 || code === 62) break;
    if (code === 58) {
      // The next `://` begins another URL.
      if (text.startsWith('://', end)) break;
      if (colon < 0) colon = end;
    } else if (code === 64) {
      last = end;
      if (path < 0) lastInAuthority = end;
    } else if (path < 0 && (code === 47 || code === 63 || code === 35)) path = end;
  }
  // `user:pa/ss@host`: what follows the colon is no port, so it is a password with a slash in it.
  const isSlashed = colon >= 0 && colon < path && text[start] !== '[' && !isPort(text, colon + 1, path);
  const sign = lastInAuthority >= 0 || !isSlashed ? lastInAuthority : last;
  if (sign >= 0) takeUpTo(text, start, colon, sign, spans);
  return end;
}

function takeUpTo(text: string, start: number, colon: number, sign: number, spans: number[]): void {
  const hasPassword = colon >= 0 && colon < sign;
  if (isTokenName(text, start, hasPassword ? colon : sign)) spans.push(start, sign);
  else if (hasPassword && sign > colon + 1) spans.push(colon + 1, sign);
}

const isTokenName = (text: string, from: number, to: number) =>
  to - from >= TOKEN_CHARACTERS_MIN && /\d/.test(text.slice(from, to));

/** `user:password@host:5432`, `user:password@tcp(…)`: without a scheme only where a port or a protocol follows. */
function scrubBareUserInfo(text: string): string {
  const spans: number[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const colon = bareColon(text, Math.max(from, at - NAME_CHARACTERS_MAX), at);
    if (colon >= 0 && isHost(text, at + 1)) spans.push(colon + 1, at);
    from = at + 1;
  }
  return replaceSpans(text, spans);
}

const BARE_HOST = /(?:tcp|unix)\(|[\w.-]{1,63}:\d{2,5}(?!\d)/y;

function isHost(text: string, at: number): boolean {
  BARE_HOST.lastIndex = at;
  return BARE_HOST.test(text);
}

function bareColon(text: string, from: number, at: number): number {
  let colon = -1;
  for (let i = at - 1; i >= from; i -= 1) {
    const code = codeAt(text, i);
    if (code <= 32 || code === 34 || code === 39 || code === 61 || code === 47 || code === 40) break;
    if (code === 58 && i > from && isWord(codeAt(text, i - 1))) colon = i;
  }
  return colon === at - 1 ? -1 : colon;
}

const isWord = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
