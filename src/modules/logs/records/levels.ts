// Log levels, and the numbers and names that other loggers use for them.

export const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type Level = (typeof levels)[number];

/** Places in `levels`. */
export const INFO = 2;
const SEVERITIES_A_LEVEL = 4;

/** Of OpenTelemetry's severity number (1-24); null: it says none. */
export function levelOfSeverity(severity: number): number | null {
  if (!(severity >= 1 && severity <= 24)) return null;
  return Math.floor((severity - 1) / SEVERITIES_A_LEVEL);
}

const spellings: Readonly<Record<Level, readonly string[]>> = {
  trace: ['silly', 'finest'],
  debug: ['verbose', 'fine', 'http'],
  info: ['information', 'informational', 'notice'],
  warn: ['warning'],
  error: ['err', 'severe'],
  fatal: ['critical', 'crit', 'alert', 'emerg', 'emergency', 'panic', 'dpanic'],
};
const words: ReadonlyMap<string, number> = new Map(
  levels.flatMap((level, i) => [level, ...spellings[level]].map((word) => [word, i] as const)),
);
const WORD_CHARACTERS_MAX = 16;

/** Of a word that a logger has for it, in any case; null: it is none. */
export function levelOfWord(word: string): number | null {
  return word.length > WORD_CHARACTERS_MAX ? null : (words.get(word.toLowerCase()) ?? null);
}

/** Of pino's and bunyan's numbers: 10 is trace, 60 is fatal. */
export function levelOfNumber(level: number): number | null {
  return level >= 10 && level < 70 ? Math.floor(level / 10) - 1 : null;
}
