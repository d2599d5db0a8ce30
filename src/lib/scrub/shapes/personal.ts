// E-mail and IP addresses, scrubbed only in personal data: variables, request, user and breadcrumbs.
import { isIPv6 } from 'node:net';
import { codeAt, replaceSpans } from '../characters.ts';

const LOCAL_CHARACTERS_MAX = 64;
const IPV6_CHARACTERS_MIN = 6;
const IPV6_CHARACTERS_MAX = 45;

/** Needs an `@` in the text. `icon@2x.png`, `react@18.2.0` and `git@host` are none. */
export function scrubEmails(text: string): string {
  const spans: number[] = [];
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at;
    const least = Math.max(from, at - LOCAL_CHARACTERS_MAX);
    while (start > least && isLocal(codeAt(text, start - 1))) start -= 1;
    from = at + 1;
    if (start === at) continue;
    const end = domainEnd(text, at + 1);
    if (end < 0 || RETINA.test(text.slice(at + 1, end)) || text.slice(start, at) === 'git') continue;
    from = end;
    spans.push(start, end);
  }
  return replaceSpans(text, spans);
}

const DOMAIN_CHARACTERS_MAX = 255;

/** End of the host name that starts here: labels (RFC 1035), the last of them at least two letters; -1 when there is none. */
function domainEnd(text: string, from: number): number {
  let found = -1;
  let letters = 0;
  let labels = 0;
  for (let at = from; at < from + DOMAIN_CHARACTERS_MAX; at += 1) {
    const code = codeAt(text, at);
    if (isLetter(code)) letters += 1;
    else if (code === 46 && letters !== 0) {
      labels += 1;
      letters = 0;
      continue;
    } else if (isDigit(code) || code === 45) letters = -DOMAIN_CHARACTERS_MAX;
    else break;
    if (labels > 0 && (letters >= 2 || isPunycode(text, at))) found = at + 1;
    else if (labels > 0 && letters < 0) found = -1;
  }
  return found;
}

/** A last label such as `xn--p1ai` has digits and dashes. */
const isPunycode = (text: string, at: number) =>
  /\.xn--[a-z0-9-]{1,59}$/i.test(text.slice(Math.max(0, at - 63), at + 1));

const RETINA = /^\d(?:\.\d)?x\./;

/** RFC 5322 atoms without those that stand around addresses in text, and letters of all scripts. */
function isLocal(code: number): boolean {
  if (code > 0x7f) return code < 0xd800 && code > 0xbf && !(code >= 0x2000 && code < 0x2c00);
  return LOCAL.has(code);
}
const LOCAL = new Set(
  [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.!#$%&*+-/^_{|}~'].map((one) => one.charCodeAt(0)),
);

const IPV4 = /(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w]|\.\d)/g;

/** IPv4 addresses; the version in `Chrome/120.0.0.0` stays. */
export function scrubIPv4(text: string): string {
  const spans: number[] = [];
  for (const match of text.matchAll(IPV4)) {
    const { index } = match;
    if (text[index - 1] === '/' && /\w/.test(text[index - 2] ?? '')) continue;
    spans.push(index, index + match[0].length);
  }
  return replaceSpans(text, spans);
}

export function scrubIPv6(text: string): string {
  const spans: number[] = [];
  let at = 0;
  while (at < text.length) {
    if (!isAddress(codeAt(text, at))) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (isAddress(codeAt(text, end))) end += 1;
    const length = end - at;
    if (length >= IPV6_CHARACTERS_MIN && length <= IPV6_CHARACTERS_MAX && !isWord(codeAt(text, at - 1))) {
      const last = text[end - 1] === ':' || text[end - 1] === '.' ? end - 1 : end;
      if (!isWord(codeAt(text, end)) && isIPv6(text.slice(at, last))) spans.push(at, last);
    }
    at = end;
  }
  return replaceSpans(text, spans);
}

const isLetter = (code: number) =>
  (code >= 65 && code <= 90) ||
  (code >= 97 && code <= 122) ||
  (code > 0xbf && code < 0x2000) ||
  (code >= 0x2c00 && code < 0xd800);
const isDigit = (code: number) => code >= 48 && code <= 57;
const isAddress = (code: number) =>
  isDigit(code) || code === 58 || code === 46 || (code >= 65 && code <= 70) || (code >= 97 && code <= 102);
const isWord = (code: number) =>
  isDigit(code) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
