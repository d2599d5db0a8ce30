// Limits and constants of the sms module.
import type { Tier } from '../../core/callers/tiers.ts';
import { MINUTE_MS } from '../../lib/time.ts';

/** The name of its background work. */
export const SMS_WORK = 'sms.messages';
export const SEGMENTS_MAX = 10;
/** Ten segments of 153 septets; anything longer has more segments. */
export const TEXT_CHARACTERS_MAX = 1_530;
export const KEEP_DAYS = 30;

/** Longer than the attempts of one step take: after that its process is taken for dead. */
export const LEASE_MS = 2 * MINUTE_MS;
/** What a carrier may take to answer a message. */
export const SUBMIT_MS = 10_000;
/** Messages that one process hands over in the background at once. */
export const STEPS_AT_ONCE = 64;
/** What a message takes in a lane. */
export const MESSAGE_BYTES = 6_144;

/** Messages a minute, codes included. */
export const perMinute: Readonly<Record<Tier, number>> = { standard: 60, pro: 600, enterprise: 6_000 };

/** A code ends after so many wrong tries. */
export const TRIES = 5;
/** Codes to one number or address in any hour, whoever asks for them. */
export const CODES_PER_HOUR = 5;
/** Codes of an account to numbers of one calling code in any hour. */
export const codesPerPrefix: Readonly<Record<Tier, number>> = { standard: 60, pro: 600, enterprise: 6_000 };

export const CODE_LENGTH = { min: 4, max: 10, usual: 6 } as const;
export const CODE_SECONDS = { min: 60, max: 3_600, usual: 600 } as const;

/** What a carrier calls back: one form, whose signature is looked at before anything else. */
export const CALLBACK_BYTES_MAX = 64 * 1024;
