// CORS rules of a bucket (Fetch Standard, section 3.2; AllowedOrigin and its siblings of Amazon S3): which pages of other origins may send what, and
// read the answers. A rule grants no right of its own: each call still needs its signature.
import { isDeepStrictEqual } from 'node:util';
import { patternWithWords } from '../../../lib/pattern-words.ts';

export const CORS_RULES_MAX = 10;
/** Of each list of a rule. */
export const CORS_VALUES_MAX = 20;
export const CORS_ORIGIN_CHARACTERS_MAX = 255;
export const CORS_HEADER_CHARACTERS_MAX = 128;
export const CORS_SECONDS_MAX = 31_536_000;
/** All rules of a bucket as JSON. */
export const CORS_BYTES_MAX = 16 * 1_024;
export const CORS_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD'] as const;
/** A preflight that asks for more is refused: no page sends so many. */
const ASKED_HEADERS_MAX = 100;

export type CorsMethod = (typeof CORS_METHODS)[number];

export interface CorsRule {
  /** `*` stands for any characters, once in each. */
  readonly origins: readonly string[];
  readonly methods: readonly CorsMethod[];
  /** That a page may send; `*` as in origins. */
  readonly headers: readonly string[];
  /** That a page may read. */
  readonly expose: readonly string[];
  readonly max_age_seconds: number | null;
}

/** As it is kept. `id`: of a client of S3, told to clients of S3 alone. */
export interface KeptCorsRule extends CorsRule {
  readonly id: string | null;
}

/** What a browser says of a page that asks, or would ask. */
export interface PageRequest {
  readonly origin: string;
  readonly method: string;
  /** In a preflight: the headers that the page would send. Null: this is the request itself. */
  readonly asked: readonly string[] | null;
}

/** No path, no white space, no list: what no browser sends would never match. */
export const ORIGIN_PATTERN = patternWithWords(
  '^(?!.*\\*.*\\*)(?:[a-z*][a-z0-9+.*-]*://)?[^\\s/,"<>\\\\\\x00-\\x20\\x7f-\\uffff]+$',
  'must be an origin such as https://app.example.com, without a path and with at most one *',
);
export const ALLOWED_HEADER_PATTERN = patternWithWords(
  "^(?!.*\\*.*\\*)[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
  'must be the name of a header, with at most one *',
);
export const EXPOSED_HEADER_PATTERN = patternWithWords("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", 'must be the name of a header');

/** The rules that a native call sets, with the ids of those that stay as they were. */
export function withIds(rules: readonly CorsRule[], before: readonly KeptCorsRule[] | null): KeptCorsRule[] {
  return rules.map((rule, i) => {
    const { id = null, ...known } = before?.[i] ?? {};
    return { ...rule, id: isDeepStrictEqual(known, rule) ? id : null };
  });
}

/** Header fields of the answer; null: by these rules the page may not. */
export function corsHeaders(rules: readonly CorsRule[], page: PageRequest): Record<string, string> | null {
  if (page.origin.length > CORS_ORIGIN_CHARACTERS_MAX) return null;
  const asked = page.asked?.map((name) => name.toLowerCase()) ?? [];
  if (asked.length > ASKED_HEADERS_MAX) return null;
  for (const rule of rules) {
    if (!(rule.methods as readonly string[]).includes(page.method)) continue;
    const pattern = rule.origins.find((each) => matches(each, page.origin));
    if (pattern === undefined) continue;
    const allowed = rule.headers.map((each) => each.toLowerCase());
    if (!asked.every((name) => allowed.some((each) => matches(each, name)))) continue;
    return answerHeaders(rule, pattern === '*' ? '*' : page.origin, asked);
  }
  return null;
}

function answerHeaders(rule: CorsRule, origin: string, asked: readonly string[]): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': rule.methods.join(', '),
    ...(asked.length === 0 ? {} : { 'access-control-allow-headers': asked.join(', ') }),
    ...(rule.expose.length === 0 ? {} : { 'access-control-expose-headers': rule.expose.join(', ') }),
    ...(rule.max_age_seconds === null ? {} : { 'access-control-max-age': String(rule.max_age_seconds) }),
    // Of `*` no browser takes it.
    ...(origin === '*' ? {} : { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
  };
}

/** `*`: any characters, none too. */
function matches(pattern: string, text: string): boolean {
  const at = pattern.indexOf('*');
  if (at === -1) return pattern === text;
  const end = pattern.slice(at + 1);
  return text.length >= pattern.length - 1 && text.startsWith(pattern.slice(0, at)) && text.endsWith(end);
}

/** The origins of all rules as patterns of LIKE. */
export function likePatterns(rules: readonly CorsRule[]): string[] {
  const origins = new Set(rules.flatMap(({ origins }) => origins));
  return [...origins].map((each) => each.replaceAll(/[\\%_]/g, String.raw`\$&`).replace('*', '%'));
}
