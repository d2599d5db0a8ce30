// Numbers of the captcha module.

export const CHALLENGE = 'captcha.challenge';
export const VERIFY = 'captcha.verify';

export const difficulties = ['easy', 'normal', 'hard'] as const;
export type Difficulty = (typeof difficulties)[number];

/** Rounds of PBKDF2 a try, and between how many tries the answer lies. In Node about 0.1, 0.7 and 3.5 s of one core. */
export const efforts: Readonly<Record<Difficulty, { cost: number; tries: readonly [number, number] }>> = {
  easy: { cost: 1_000, tries: [500, 1_000] },
  normal: { cost: 5_000, tries: [500, 1_000] },
  hard: { cost: 5_000, tries: [2_500, 5_000] },
};

export const TTL_SECONDS = { min: 60, max: 3_600, usual: 600 } as const;
/** Of a payload as it is sent; a widget's has some 900 characters. */
export const PAYLOAD_CHARACTERS_MAX = 4_096;
/** Of a form or JSON text that carries one. */
export const SITEVERIFY_BYTES_MAX = 16 * 1024;
export const HOSTNAME_CHARACTERS_MAX = 253;
/** What a verification writes: a row, an event and its ledger entry. */
export const VERIFICATION_BYTES = 1_536;
/** Days that are counted, and kept. */
export const STATS_DAYS = 30;
