// User-defined headers on requests to users' URLs (contract of webhooks): validation, and masking when they are shown.
import { type Problem, problem } from '../../problems/problem.ts';

const COUNT_MAX = 20;
const NAME_CHARACTERS_MAX = 128;
const VALUE_BYTES_MAX = 4096;

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible ASCII with spaces inside: CR, LF, NUL and everything else that could end a header line is out. */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

// What the client, the signature or proxies on the way speak for: hop-by-hop fields (RFC 9110, section 7.6.1), framing, routing,
// and `user-agent`, which receivers may filter by. `__proto__` is a token too, but no object carries it safely.
const RESERVED = new Set(
  [
    'host connection keep-alive te trailer transfer-encoding upgrade expect http2-settings accept-encoding via forwarded',
    'cookie cookie2 set-cookie set-cookie2 user-agent __proto__',
  ].flatMap((names) => names.split(' ')),
);
const RESERVED_PREFIXES = ['content-', 'proxy-', 'webhook-', 'x-forwarded-'];

const MASK = '****';
const SHOWN_CHARACTERS = 2;
/** Shorter values are masked whole: two characters of them would say too much. */
const PARTLY_SHOWN_FROM = 16;

/**
 * Checks the custom headers of a target.
 * @returns the same names and values; names keep the case they were sent in.
 * @throws WEBHOOK_HEADER_REJECTED, detail `count|name|reserved|duplicate|type|length|value`, param `headers.NAME`.
 */
export function checkTargetHeaders(
  headers: Readonly<Record<string, unknown>>,
  param: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(headers);
  if (entries.length > COUNT_MAX) throw rejection(param, 'count', `At most ${COUNT_MAX} headers are allowed.`);
  const seen = new Set<string>();
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const at = `${param}.${printable(name)}`;
      checkName(name, at, seen);
      return [name, checkedValue(value, at)];
    }),
  );
}

/**
 * The headers as they are shown after they were set: `****` and the last two characters, of values shorter than 16 characters
 * `****` alone. No name is trusted to be harmless, so all values are masked alike.
 */
export function maskHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskValue(value)]));
}

function checkName(name: string, at: string, seen: Set<string>): void {
  if (!TOKEN.test(name) || name.length > NAME_CHARACTERS_MAX) {
    throw rejection(at, 'name', `A header name is a token of at most ${NAME_CHARACTERS_MAX} characters (RFC 9110).`);
  }
  const lower = name.toLowerCase();
  if (RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))) {
    throw rejection(at, 'reserved', 'This header is reserved.');
  }
  if (seen.has(lower))
    throw rejection(at, 'duplicate', 'This header stands there twice; case does not count in names.');
  seen.add(lower);
}

function checkedValue(value: unknown, at: string): string {
  if (typeof value !== 'string') throw rejection(at, 'type', 'A header value is a string.');
  if (value.length > VALUE_BYTES_MAX) {
    throw rejection(at, 'length', `A header value has at most ${VALUE_BYTES_MAX} bytes.`);
  }
  if (!VALUE.test(value)) {
    throw rejection(at, 'value', 'A header value is visible ASCII; spaces may stand inside, not at the ends.');
  }
  return value;
}

function maskValue(value: string): string {
  return value.length < PARTLY_SHOWN_FROM ? MASK : MASK + value.slice(-SHOWN_CHARACTERS);
}

function printable(name: string): string {
  return name.slice(0, NAME_CHARACTERS_MAX).replace(/[^!-~]/g, '?');
}

function rejection(param: string, rule: string, message: string): Problem {
  return problem('WEBHOOK_HEADER_REJECTED', { param, detail: rule, message });
}
