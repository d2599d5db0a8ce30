// What a connection may be used for: methods, and patterns of paths in which `*` stands for any characters, slashes included. Patterns
// are plain text, decoded as the path of a RequestTarget is; case counts.
import { invalidField } from '../../../problems/problem.ts';
import { findText } from './find-text.ts';

export interface AllowEntry {
  /** Upper case; `*` alone is any. GET includes HEAD. */
  readonly methods: readonly string[];
  readonly path: string;
}

/** Null: everything. */
export type Allow = readonly AllowEntry[] | null;

const PATTERN_CHARACTERS_MAX = 512;
const STARS_MAX = 10;

/** What may not be in a pattern: no path that is compared holds it, or a person expects something else of it. */
const REFUSED_IN_PATTERN: readonly (readonly [RegExp, string])[] = [
  [/[\p{Cc}\\]/u, 'The path must not hold control characters or a backslash.'],
  [/[?#]/, 'The path must not hold a query or a fragment: only paths are compared.'],
  [/%[0-9a-f]{2}/i, 'Write the path decoded: a percent-encoded character is compared as the character itself.'],
  [
    /(?:^|\/)\.\.?(?:\/|$)/,
    'The path must not hold . or .. as a segment: they are resolved before paths are compared.',
  ],
  [/\/\//, 'The path must not hold an empty segment: // is read as / before paths are compared.'],
];

/**
 * Checks what a person allows, and normalises it: repeated methods go, `**` is `*`.
 * @throws VALIDATION_FAILED that names the field, such as `allow[0].path`.
 */
export function checkAllow(allow: Allow, param: string): Allow {
  if (allow === null) return null;
  return allow.map(({ methods, path }, i) => ({
    methods: checkMethods(methods, `${param}[${i}].methods`),
    path: checkPattern(path, `${param}[${i}].path`),
  }));
}

function checkMethods(methods: readonly string[], param: string): readonly string[] {
  if (methods.length === 0) throw invalidField(param, 'required', 'Name at least one method, or * for any.');
  const wrong = methods.findIndex((method) => !/^(?:\*|[A-Z][A-Z0-9_-]{0,31})$/.test(method));
  if (wrong !== -1) {
    throw invalidField(
      `${param}[${wrong}]`,
      'format',
      'A method is written in upper case, such as GET; * stands for any.',
    );
  }
  return methods.includes('*') ? ['*'] : [...new Set(methods)];
}

function checkPattern(path: string, param: string): string {
  if (path.length > PATTERN_CHARACTERS_MAX) {
    throw invalidField(param, 'too_long', `The path has more than ${PATTERN_CHARACTERS_MAX} characters.`);
  }
  if (!path.startsWith('/')) throw invalidField(param, 'format', 'The path must begin with a slash.');
  if (!path.isWellFormed()) throw invalidField(param, 'characters', 'The path holds lone surrogates.');
  const refused = REFUSED_IN_PATTERN.find(([pattern]) => pattern.test(path));
  if (refused !== undefined) throw invalidField(param, 'format', refused[1]);
  const pattern = path.replace(/\*+/g, '*');
  if (pattern.split('*').length - 1 > STARS_MAX) {
    throw invalidField(param, 'too_complex', `The path has more than ${STARS_MAX} stars.`);
  }
  return pattern;
}

/** What stands against a call: `method` when an entry fits the path but not with this method, `path` when none does; null: nothing. */
export function refusalByAllow(allow: Allow, method: string, path: string): 'method' | 'path' | null {
  if (allow === null) return null;
  const fitting = allow.filter((entry) => isPathOf(entry.path, path));
  if (fitting.length === 0) return 'path';
  return fitting.some((entry) => isMethodOf(entry.methods, method)) ? null : 'method';
}

/**
 * Whether `after` surely allows nothing that `before` does not; false when in doubt. Each method of each entry must be covered by one entry
 * of `before`: two that cover it only together do not count.
 */
export function isAllowNarrower(before: Allow, after: Allow): boolean {
  if (before === null) return true;
  if (after === null) return false;
  return after.every(({ methods, path }) => {
    // The literals of a pattern hold no star, so a star of `after` falls under a star of `before`, whatever it stands for.
    const covering = before.filter((entry) => isPathOf(entry.path, path));
    return methods.every((method) => covering.some((entry) => isMethodOf(entry.methods, method)));
  });
}

/**
 * HEAD answers no more than GET does (RFC 9110, section 9.3.2), and clients send it by themselves: who allows GET expects it to pass, as
 * in `limit_except` of nginx. HEAD alone does not allow GET.
 */
function isMethodOf(methods: readonly string[], method: string): boolean {
  return methods.includes('*') || methods.includes(method) || (method === 'HEAD' && methods.includes('GET'));
}

/** Without backtracking: with `*` alone, the first place where a literal fits is as good as any later one. */
function isPathOf(pattern: string, path: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return path === first;
  if (path.length < first.length + last.length || !path.startsWith(first) || !path.endsWith(last)) return false;
  const middle = path.slice(first.length, path.length - last.length);
  let from = 0;
  for (const literal of rest) {
    const at = findText(middle, literal, from);
    if (at === -1) return false;
    from = at + literal.length;
  }
  return true;
}
