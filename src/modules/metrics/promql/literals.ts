// PromQL literals: numbers and strings in Go's syntax, and durations.

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  y: 31_536_000_000,
};
const DURATION = /^(?:\d+y)?(?:\d+w)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?$/;

/** Milliseconds of `1h30m`; null when it is none. */
export function durationMs(text: string): number | null {
  if (text === '' || !DURATION.test(text)) return null;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([a-z]+)/g))
    ms += Number(count) * (units[unit as string] as number);
  return Number.isSafeInteger(ms) ? ms : null;
}

/** Null when it is none: a duration is no number here. */
export function numberOf(text: string): number | null {
  const sign = text.startsWith('-') ? -1 : 1;
  // The grammar takes a sign for a part of the number, with what space lies between.
  const value = unsignedNumber(text.toLowerCase().replace(/^[+-]\s*/, ''));
  return value === null ? null : sign * value;
}

function unsignedNumber(lower: string): number | null {
  if (lower === 'inf') return Number.POSITIVE_INFINITY;
  if (lower === 'nan') return Number.NaN;
  if (/^0[0-7]+$/.test(lower)) return Number.parseInt(lower, 8);
  if (/^0x[\da-f]+$/.test(lower)) return Number(lower);
  return /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/.test(lower) ? Number(lower) : null;
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
const ESCAPE = /\\(?:x([\da-fA-F]{2})|([0-7]{3})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/gs;

/** What stands between the quotes; null when an escape is none. */
export function stringOf(literal: string): string | null {
  const inner = literal.slice(1, -1);
  if (literal.startsWith('`')) return inner;
  let isWrong = false;
  const text = inner.replaceAll(ESCAPE, (_, hex, octal, short, long, plain) => {
    if (plain !== undefined) {
      isWrong ||= !Object.hasOwn(escapes, plain);
      return escapes[plain] ?? '';
    }
    const code = Number.parseInt(hex ?? octal ?? short ?? long, octal === undefined ? 16 : 8);
    isWrong ||= code > 0x10ffff || (code > 0x7f && (hex ?? octal) !== undefined);
    return isWrong ? '' : String.fromCodePoint(code);
  });
  return isWrong ? null : text.toWellFormed();
}
